"""The LETEO report: top-down specialization and private k-means for learning analytics."""

from shoal.experiments.document import Document
from shoal.experiments.leteo.conclusions import conclude
from shoal.experiments.leteo.parts import cells, run

__all__ = ["DOCUMENT"]

DOCUMENT = Document("leteo", edition=1, cells=cells, run=run, conclude=conclude)
