"""Maps of what was learnt from reports, and beside them of what is learnt without data."""

from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_local_groups import Groups
from shoal.apps.cluster_maps import PARTS, pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.figures import CellMap

__all__ = ["maps"]

_PAIRS = 2  # of columns, each drawn twice


def maps(groups: Groups) -> list["CellMap"]:
    """For each pair of columns what was found, then what the same learner finds without data."""
    drawn = []
    for pair in pairs(groups.box, groups.centers)[:_PAIRS]:
        across, upwards = (groups.names[i] for i in pair)
        words = f"by {across} and {upwards}"
        found = f"Groups {words}: learnt from reports, centres numbered"
        nothing = f"Without data {words}: everybody reports the middle of the box"
        drawn.append(_map(groups, groups.model, list(pair), found))
        drawn.append(_map(groups, groups.control, list(pair), nothing))
    return drawn


def _map(groups: Groups, model: Any, at: list[int], title: str) -> "CellMap":
    from shoal.figures import cell_map

    box = groups.box
    return cell_map(
        _counts(groups, model, at),
        names=[groups.names[i] for i in at],
        low=box.low[at],
        high=box.high[at],
        title=title,
        centers=box.clip(model.cluster_centers_)[:, at],
        of=groups.unit,
    )


def _counts(groups: Groups, model: Any, at: list[int]) -> "NDArray[np.int64]":
    """The density on a grid of two columns."""
    import numpy as np

    from shoal.figures import raster_of_points

    box, density = groups.box, model.density_
    within = np.stack([box.low[at], box.high[at]])
    people = density.weights * groups.heard.total
    parts = _parts(model, at)
    return raster_of_points(density.atoms[:, at], people, within=within, parts=parts)


def _parts(model: Any, at: list[int]) -> int:
    """A grid on which each cell, or each so many nodes of a lattice, has a place: no stripes."""
    import numpy as np

    from shoal.mechanisms import LocalGrid

    if isinstance(model.mechanism, LocalGrid):
        sides = [model.mechanism.grid.shape[i] for i in at]
    else:
        sides = [len(np.unique(model.density_.atoms[:, i].round(9))) for i in at]
    side = max(min(sides), 2)
    return -(-side // -(-side // PARTS))
