"""Run one cell of the LETEO experiments, here or on Spark."""

import warnings
from collections.abc import Callable

from shoal.experiments._cells import Cell, Row
from shoal.experiments.leteo import _on_spark as on_spark
from shoal.experiments.leteo._cells import PARTS

_ALL: dict[str, Callable[..., list[Row]]] = {
    **PARTS,
    "spark times": on_spark.times,
    "spark scaling": on_spark.scaling,
}


def run(cell: Cell) -> list[Row]:
    """Run one cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # groups lost in noise are a result here
        return _ALL[cell.part](**cell.settings)
