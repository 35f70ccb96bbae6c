"""The report on WaveCluster with differential privacy: its eight pictures, its order of methods."""

from shoal.experiments.document import Document
from shoal.experiments.wavecluster._cells import cells, run
from shoal.experiments.wavecluster._conclusions import conclude, judge, setting

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    "wavecluster",
    edition=4,
    cells=cells,
    run=run,
    judge=judge,
    conclude=conclude,
    setting=setting,
)
