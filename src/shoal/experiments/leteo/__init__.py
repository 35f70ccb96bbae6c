"""The LETEO report: top-down specialization and private k-means for learning analytics."""

from shoal.experiments.document import Document
from shoal.experiments.leteo.conclusions import conclude
from shoal.experiments.leteo.on_spark import cells as spark_cells
from shoal.experiments.leteo.parts import cells
from shoal.experiments.leteo.run import run

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    "leteo", edition=2, cells=cells, run=run, conclude=conclude, spark_cells=spark_cells
)
