"""A picture of a synopsis, whatever the number of its columns."""

from collections.abc import Sequence

import numpy as np

from shoal.domain import Box
from shoal.errors import UnknownColumn
from shoal.figures import Figure, bars, cell_map, mosaic, raster_of_cells
from shoal.synopsis.cells import Cells

__all__ = ["picture_of"]

_MOST_TILES = 10_000


def picture_of(cells: Cells, box: Box, columns: Sequence[str] | None, n_rows: int) -> Figure:
    """Bars over one column, tiles over two, and the shadow of cells in more."""
    at = _places(box, columns)
    names, title = [box.names[i] for i in at], f"{len(cells)} cells for about {n_rows} rows"
    low, high, within = cells.low[:, at], cells.high[:, at], np.array([box.low[at], box.high[at]])
    if box.d == 1:
        return bars(low, high, cells.weight, name=names[0], within=within, title=title)
    if box.d == 2 and len(cells) <= _MOST_TILES:
        return mosaic(low, high, cells.weight, names=names, within=within, title=title)
    counts = raster_of_cells(low, high, cells.weight, within=within)
    return cell_map(counts, names=names, low=within[0], high=within[1], title=title)


def _places(box: Box, columns: Sequence[str] | None) -> list[int]:
    if columns is None:
        return list(range(min(box.d, 2)))
    wanted, some = list(columns), min(box.d, 2)
    if len(wanted) != some or len(set(wanted) & set(box.names)) != some:
        raise UnknownColumn(
            "The columns to draw are not some of the synopsis's, each once.",
            f"Name {some} of {', '.join(box.names)}, e.g. columns={list(box.names[:some])!r}.",
        )
    return [box.names.index(name) for name in wanted]
