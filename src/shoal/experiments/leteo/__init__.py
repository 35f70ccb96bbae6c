"""The LETEO report: top-down specialization and private k-means for learning analytics."""

from shoal.experiments.document import Document
from shoal.experiments.leteo._cells import cells
from shoal.experiments.leteo._conclusions import conclude, judge, setting
from shoal.experiments.leteo._on_spark import cells as spark_cells
from shoal.experiments.leteo._run import run

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    "leteo",
    edition=3,
    cells=cells,
    run=run,
    judge=judge,
    conclude=conclude,
    spark_cells=spark_cells,
    setting=setting,
)
