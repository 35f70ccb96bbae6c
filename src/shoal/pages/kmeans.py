"""Private k-means in words: what its page says and what it prints, all from released numbers.

The groups a model released, as pages and terminals tell of them.

Maps of released cells with the centres found on them, two columns at a time.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.inputs.clustering import Options
from shoal.cli.output import entry
from shoal.pages.cluster import (
    code,
    ending,
    label,
    listed,
    none_told,
    outcome,
    promised,
    unit_of,
    without,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from shoal.domain import Box
    from shoal.figures import CellMap
    from shoal.privacy import Guarantee, Result

__all__ = [
    "PARTS",
    "Groups",
    "document",
    "maps",
    "pairs",
    "result",
    "same_code",
    "summary",
]

WEAK_STRENGTH = 4  # measured: below this strength no method does well

EVIDENCE = "proofs beside the code: shoal/cluster/kmeans/estimator.proof.md and those it names"
WEAK = (
    "So few rows a group at this epsilon leave much to noise: centres may lie far from their rows. "
    "Take fewer groups, fewer columns or a larger epsilon."
)
NOT_TOLD = "(not told): noise alone may count as many where nobody is."
OWN_NOISE = (
    "the noise of the last step alone, root mean square. What earlier steps drew can move a centre "
    "several times as far."
)
_IN_LINE = 8  # columns that fit a line of a terminal

MAPS = 4  # pairs of columns to draw at most
PARTS = 48  # of a map along each axis at most
_NAMED = 4  # groups told of in a map's description


class Groups:
    """Centres, how far noise may have moved each, and about how many belong to it.

    Everything here is read off a fitted model's released numbers. Group i is label i - 1 of
    ``predict``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box = model.box
        self.names: tuple[str, ...] = self.box.names
        self.centers: NDArray[np.float64] = model.cluster_centers_
        self.k = len(self.centers)
        self.n_rows = int(model.n_rows_)
        self.unit = unit_of(model)

    @cached_property
    def relative(self) -> list[float]:
        """The noise to expect in a centre, along a column, as a share of that column's range."""
        return [float(error) / math.sqrt(self.box.d) / 2 for error in self.model.expected_error_]

    @cached_property
    def reach(self) -> "NDArray[np.float64]":
        """The same in each column's own units."""
        import numpy as np

        return np.outer(self.relative, self.box.high - self.box.low)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many belong to each group; together ``n_rows``."""
        from shoal.cluster.totals import whole_shares

        return whole_shares(self.model.cluster_weights_, self.n_rows)

    @property
    def told(self) -> list[bool]:
        """Whether each group can be told from nobody."""
        return [bool(each) for each in self.model.groups_told_]

    @property
    def rows_within(self) -> int:
        """What the number of rows is off by at most in 95 of 100 releases; 0 if it is public."""
        return int(self.model.n_rows_within_)

    def counted(self, group: int) -> str:
        """About how many belong to a group, marked if that may be nobody."""
        return f"{self.sizes[group]:,}{'' if self.told[group] else ' (not told)'}"

    @property
    def weak(self) -> bool:
        """Whether noise decides more than the rows do."""
        from shoal.cluster.kmeans.plan import strength

        epsilon = float(self.model._promise().per_row().epsilon)
        return strength(self.n_rows, epsilon, self.box.d, self.k) < WEAK_STRENGTH

    def in_words(self, group: int) -> list[str]:
        """Each number of a centre with its noise, to the digits the noise leaves."""
        sides = self.box.high - self.box.low
        each = zip(self.centers[group], self.reach[group], sides, strict=True)
        return [_with_noise(float(value), float(noise), float(side)) for value, noise, side in each]


def _with_noise(value: float, noise: float, side: float) -> str:
    """``12.30 ± 0.42``: two digits of the noise, and the value to the same place."""
    from shoal.figures.text import number, places

    if not side * 1e-6 < noise < math.inf:  # a centre on a single cell, which no noise moves
        return number(value, places(side) + 4)
    decimals = 1 - math.floor(math.log10(noise))
    shown = [f"{round(each, decimals):,.{max(decimals, 0)}f}" for each in (value, noise)]
    return " ± ".join(shown)


def result(model: Any, asked: Options) -> "Result":
    """The release as a page wants it: words and settings public, the rest released."""
    from shoal.privacy import Public, Released, Result

    groups, fitted = Groups(model), model.to_result()
    settings = label(
        asked,
        groups.guarantee,
        title=asked.title or f"{_headed(groups)} by {listed(asked.box.names)}",
        method="Private k-means",
        algorithm=model.method,
        evidence=EVIDENCE,
        code=same_code(asked, groups),
    )
    released = {
        "summary": f"{_found(groups)} Each centre carries noise, so one {_one(groups)} more or "
        "less changes little of what you see.",
        "facts": _facts(groups),
        "figures": maps(groups),
        "tables": [_table(groups)],
        "errors": _errors(groups, asked),
    }
    return Result(
        fitted.kind,
        fitted.guarantee,
        {**fitted.settings, **{name: Public(value) for name, value in settings.items()}},
        # The cells are files of their own; their settings are the model's.
        {
            **without(fitted.released, "synopsis_"),
            **{name: Released(value) for name, value in released.items()},
        },
    )


def document(model: Any, asked: Options, files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` prints."""
    groups = Groups(model)
    centers = [
        {"center": dict(zip(groups.names, center.tolist(), strict=True))}
        | {"expected_error": dict(zip(groups.names, reach.tolist(), strict=True))}
        | {"rows_about": size, "told": told, "noise_reach": noise}
        for center, reach, size, told, noise in zip(
            groups.centers,
            groups.reach,
            groups.sizes,
            groups.told,
            groups.model.size_reach_.tolist(),
            strict=True,
        )
    ]
    return outcome(asked, files, groups.guarantee) | {
        "n_clusters": groups.k,
        "groups_told": sum(groups.told),
        "counted": groups.unit,
        "rows_about": groups.n_rows,
        "rows_within_95_in_100": groups.rows_within,
        "rows_told": groups.model.rows_told_,
        "groups": centers,
    }


def summary(model: Any, asked: Options, files: Sequence[Path]) -> list["RenderableType"]:
    """What a terminal shows: promised, found, where it is, and what next."""
    groups = Groups(model)
    return [
        *promised(groups.guarantee),
        entry("Found", _found(groups)),
        *[entry("", words) for words in _cautions(groups)],
        *([_printed(groups)] if any(groups.told) and len(groups.names) <= _IN_LINE else []),
        *ending(asked, files),
    ]


def same_code(asked: Options, groups: Groups) -> str:
    """Python that does the same with a table of one's own."""
    method = None if asked.method == "kmeans" else asked.method
    return code(asked, "PrivateKMeans", f"{groups.k}, ", method=method)


def _found(groups: Groups) -> str:
    unit = _one(groups) if groups.n_rows == 1 else groups.unit
    people = f"About {groups.n_rows:,} {unit}"
    if not groups.rows_within:
        people = f"{groups.n_rows:,} {unit}"
    within = f", give or take {groups.rows_within:,}" if groups.rows_within else ""
    if not any(groups.told):
        verdict = none_told(groups.model)
        return f"{verdict} Counted: {people[0].lower()}{people[1:]}{within}."
    return f"{people}{within}{',' if within else ''} in {_count(groups)}."


def _cautions(groups: Groups) -> list[str]:
    """What to know before anything else is read, where anything can be told."""
    missed = groups.told.count(False)
    if missed == groups.k:
        return []
    told = [
        f"{missed} of the {groups.k} groups cannot be told from nobody: noise alone counts as many "
        "in one of 1,000 releases."
    ]
    return [*(told if missed else []), *([WEAK] if groups.weak else [])]


def _headed(groups: Groups) -> str:
    return _count(groups) if any(groups.told) else "No groups can be told"


def _one(groups: Groups) -> str:
    return "person" if groups.unit == "people" else "row"


def _count(groups: Groups) -> str:
    return "1 group" if groups.k == 1 else f"{groups.k} groups"


def _facts(groups: Groups) -> list[dict[str, str]]:
    exact = "known without the rows"
    off = f"off by at most {groups.rows_within:,} in 95 of 100 releases"
    worst = 100 * max(groups.relative, default=0.0)
    return [
        {"name": f"{groups.unit.capitalize()}, about", "value": f"{groups.n_rows:,}"}
        | {"detail": off if groups.rows_within else exact},
        {"name": "Groups", "value": str(groups.k), "detail": "centres, numbered on the map"},
        {"name": "Noise in a centre", "value": f"± {worst:.2g} %"}
        | {"detail": "of a column's range: the last step's, in the group least certain"},
    ]


def _table(groups: Groups) -> dict[str, Any]:
    shown = groups.names[:12]
    rows = [
        [f"Group {i + 1}", *groups.in_words(i)[: len(shown)], groups.counted(i)]
        for i in range(groups.k)
    ]
    note = f"± is {OWN_NOISE}"
    if not all(groups.told):
        note += f" {NOT_TOLD}"
    if len(shown) < len(groups.names):
        note += f" The other {len(groups.names) - len(shown)} columns are in centers.csv."
    columns = ["Group", *shown, f"{groups.unit.capitalize()}, about"]
    told = {"title": "Centres of the groups", "columns": columns, "rows": rows}
    return told | {"marked": True, "note": note}


def _errors(groups: Groups, asked: Options) -> list[str]:
    worst = max(range(groups.k), key=lambda i: groups.relative[i])
    where = zip(groups.names[:4], groups.in_words(worst), strict=False)
    said = [
        f"Least certain is group {worst + 1}: {', '.join(f'{n} {v}' for n, v in where)}.",
        "Other people in the table would have moved the centres too.",
        "A pale cell that stands alone may hold nobody: empty cells carry noise as well.",
    ]
    if asked.n_clusters is not None and len(asked.n_clusters) > 1:
        low, high = asked.n_clusters[0], asked.n_clusters[-1]
        said.append(
            f"That there are {groups.k} groups was chosen among {low} to {high} on released "
            f"numbers ({groups.model.choose}), which spends no budget."
        )
    if asked.entity is None:
        said.append("One row is taken as one person. Someone with several has that many times ε.")
    first = _cautions(groups) if any(groups.told) else [none_told(groups.model)]
    return [*first, *said]


def _printed(groups: Groups) -> "RenderableType":
    """The centres as a table for terminals."""
    from rich.table import Table

    from shoal.figures.text import clean

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "Group", *map(clean, groups.names), f"{groups.unit.capitalize()}, about"):
        at_left = name in ("", "Group")
        table.add_column(name, justify="left" if at_left else "right", overflow="fold")
    for i in range(groups.k):
        table.add_row(" " * 8, str(i + 1), *groups.in_words(i), groups.counted(i))
    return table


def maps(groups: Groups) -> list["CellMap"]:
    """A map of each pair of columns, those first along which the centres differ most."""
    return [_map(groups, pair) for pair in pairs(groups.box, groups.centers)]


def pairs(box: "Box", centers: "NDArray[np.float64]") -> list[tuple[int, int]]:
    """Pairs of columns worth a map, those first along which the centres differ most."""
    if box.distance_unit == "km":
        return [(1, 0)]  # longitude across
    spread = (centers / (box.high - box.low)).std(axis=0)
    each = combinations(range(box.d), 2)
    return sorted(each, key=lambda pair: -spread[pair[0]] * spread[pair[1]])[:MAPS]


def _map(groups: Groups, pair: Sequence[int]) -> "CellMap":
    from shoal.figures import cell_map

    at = list(pair)
    names = [groups.names[i] for i in at]
    return cell_map(
        _counts(groups, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        title=f"{_title(groups)} by {names[0]} and {names[1]}: centres numbered, noisy counts of "
        "the released cells spread over an even grid",
        finding=_finding(groups, at),
        centers=groups.centers[:, at],
        reach=groups.reach[:, at],
        of=groups.unit,
    )


def _title(groups: Groups) -> str:
    return "Groups" if any(groups.told) else "No groups can be told"


def _counts(groups: Groups, at: list[int]) -> "NDArray[np.int64]":
    """The released cells on a grid of two columns; an empty grid if none were released."""
    import numpy as np

    from shoal.figures import raster_of_cells, raster_of_points

    box, synopsis = groups.box, getattr(groups.model, "synopsis_", None)
    within = np.stack([box.low[at], box.high[at]])
    parts = min(PARTS, max(8, math.isqrt(groups.n_rows // 8)))
    if synopsis is None:
        return np.zeros((1, 1), dtype=np.int64)
    cells, view = synopsis.cells_, synopsis.view_
    if view is None:
        corners = cells.low[:, at], cells.high[:, at]
        return raster_of_cells(*corners, cells.weight, within=within, parts=parts)
    points = view.embed(cells.centers)[:, at]
    return raster_of_points(points, cells.weight, within=within, parts=parts)


def _finding(groups: Groups, at: list[int]) -> str:
    from shoal.figures.text import shorten

    names = [shorten(groups.names[i], 80) for i in at]
    each = []
    for i in sorted(range(groups.k), key=lambda i: -groups.sizes[i])[:_NAMED]:
        words = groups.in_words(i)
        place = ", ".join(f"{n} {words[j]}" for n, j in zip(names, at, strict=True))
        each.append(f"{place} (group {i + 1})")
    which = "Centres" if groups.k <= _NAMED else f"The {_NAMED} largest groups' centres"
    return f"{which}: {'; '.join(each)}. Rings show how far noise may have moved a centre."
