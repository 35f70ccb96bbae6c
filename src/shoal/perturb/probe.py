"""Try a remap on a public point, so that it cannot fail once the budget is spent."""

from typing import Any

import numpy as np

from shoal.errors import InvalidSetting
from shoal.mechanisms.remaps import learns
from shoal.mechanisms.reports import Remap, Reports, as_reports
from shoal.perturb.shape import Numbers, Shape

__all__ = ["check_remap"]


def check_remap(remap: Remap | None, mechanism: Any, shape: Shape, width: int) -> None:
    """Raise what the remap would raise on a report, or if it returns something else."""
    if remap is None:
        return
    if not isinstance(shape, Numbers):
        raise InvalidSetting(
            "A remap came with reports of categories or cells.", "Remaps move numbers only."
        )
    if learns(remap) and shape.box is None:
        raise InvalidSetting(
            "The remap learns where records lie, and the mechanism has no bounds to look within.",
            "Give the mechanism bounds, e.g. NDLaplace(1.0, bounds=Box(...)); or give the remap a "
            "public prior.",
        )
    point = np.zeros((1, width))
    if shape.box is not None:
        point += (shape.box.low + shape.box.high) / 2
    as_reports(remap(Reports(point, mechanism)))
