"""Run one cell of the thesis' experiments."""

import warnings
from collections.abc import Callable

from shoal.experiments._audits import audits
from shoal.experiments._cells import Cell, Row
from shoal.experiments.nd_laplace._membership_cells import privacy
from shoal.experiments.nd_laplace._utility_cells import PARTS

_ALL: dict[str, Callable[..., list[Row]]] = {
    **PARTS,
    "privacy": privacy,
    "dimensions": privacy,
    "shape games": privacy,
    "audits": audits,
}


def run(cell: Cell) -> list[Row]:
    """Run one cell."""
    with warnings.catch_warnings():
        # Clusterers on noise do not converge or find nothing: that is what is measured.
        warnings.simplefilter("ignore")
        return _ALL[cell.part](**cell.settings)
