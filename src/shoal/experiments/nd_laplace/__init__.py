"""The thesis on nD-Laplace for privacy-preserving clustering: research questions 1 to 3."""

from shoal.experiments.document import Document
from shoal.experiments.nd_laplace.conclusions import conclude
from shoal.experiments.nd_laplace.parts import run
from shoal.experiments.nd_laplace.plan import cells

__all__ = ["DOCUMENT"]

DOCUMENT = Document("nd-laplace", edition=1, cells=cells, run=run, conclude=conclude)
