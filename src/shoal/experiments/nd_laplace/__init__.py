"""The thesis on nD-Laplace for privacy-preserving clustering: research questions 1 to 3."""

from shoal.experiments.document import Document
from shoal.experiments.nd_laplace._cell_list import cells
from shoal.experiments.nd_laplace._conclusions import conclude, judge, setting
from shoal.experiments.nd_laplace._run import run

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    "nd-laplace",
    edition=3,
    cells=cells,
    run=run,
    judge=judge,
    conclude=conclude,
    setting=setting,
)
