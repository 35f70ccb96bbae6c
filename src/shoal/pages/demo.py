"""Build the page of the demo: noisy counts of made-up students, and how large their noise is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.pages.page import Fact, Line, Page, Table, promise_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.domain import Grid
    from shoal.figures import Area, Figure
    from shoal.mechanisms import Geometric
    from shoal.privacy import Guarantee, Ledger

__all__ = ["Release", "page"]

AREAS = 4
_SIDE = 3  # cells of an area's side

AXES = ("Sessions a week", "Minutes a session")
NOTHING_CLEAR = "No area stands clear of the noise at this epsilon."

CODE = """\
from shoal.data import students, students_schema
from shoal.domain import Grid
from shoal.engine import rows_of
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

columns = ["sessions_per_week", "minutes_per_session"]
grid = Grid(students_schema().box.select(columns), 30)
rng = Randomness({seed})
rows = rows_of(students(10_000, seed=rng.seed()).select(columns), grid.box)

page = Ledger().open(PureDP({epsilon}), by="me")
noisy_counts = page.release(
    Geometric(page.budget), rows.count(grid), rng.noise, of="cell counts"
)"""


@dataclass(frozen=True)
class Release:
    """What left the gate, its promise, and what follows from both.

    Parameters
    ----------
    grid
        The cells.
    noise
        The mechanism.
    noisy_counts
        The released count of each cell.
    guarantee
        The promise.
    ledger
        Where the promise is recorded.
    seed
        The seed; None for real noise.
    """

    grid: "Grid"
    noise: "Geometric"
    noisy_counts: "NDArray[np.int64]"
    guarantee: "Guarantee"
    ledger: "Ledger"
    seed: int | None = None

    @property
    def people(self) -> int:
        """The estimated number of people, at least 0."""
        return max(int(self.noisy_counts.sum()), 0)

    @property
    def tells_people(self) -> bool:
        """Whether the sum is more than noise."""
        return self.people > self.off_in_total()

    @property
    def areas(self) -> list["Area"]:
        """The densest blocks of cells, only those that surely hold somebody."""
        from shoal.figures import dense_areas

        box, beyond = self.grid.box, self.off_in_any_area()
        return dense_areas(self.noisy_counts, box.low, box.high, how_many=AREAS, above=beyond)

    def off_in_a_cell(self) -> int:
        """The least m with P[|noise| > m] = 2 a^(m+1) / (1 + a) <= 5 in 100, a = e^-step."""
        step = float(self.noise.step)
        tail = math.log(0.05 * (1 + math.exp(-step)) / 2)
        return max(math.ceil(tail / -step - 1), 0)

    def off_in_total(self) -> int:
        """Two standard deviations: the noise of that many cells is all but normal."""
        return math.ceil(2 * math.sqrt(self.grid.size * self.noise.variance))

    def off_in_any_area(self) -> int:
        """An m that no block passes in 95 of 100 releases, so neither do those that noise chose.

        With S the noise of a block, P[|S| > m] <= 2 e^(-t(m+1)) E[e^(tS)] for every t from 0 to
        the step (Chernoff); blocks share 5 in 100 evenly; the best of a thousand t is taken.
        """
        blocks = math.prod(side - _SIDE + 1 for side in self.grid.shape)
        allowed = math.log(2 * blocks / 0.05)
        step = float(self.noise.step)
        shares = (k / 1000 * step for k in range(1, 1000))
        return math.ceil(min((allowed + _SIDE**2 * _growth(t, step)) / t for t in shares)) - 1


def _growth(t: float, step: float) -> float:
    """Return log E[e^(tX)] for the noise X of a cell: (1 - a)^2 / ((1 - a e^t) (1 - a e^-t))."""
    sides = (math.log(-math.expm1(side - step)) for side in (t, -t))
    return 2 * math.log(-math.expm1(-step)) - sum(sides)


def page(release: Release) -> Page:
    """Build the page of the demo.

    Parameters
    ----------
    release
        What the demo released.
    """
    from shoal.privacy import Released, Result

    people = {"people_about": Released(release.people)}
    return Page(
        result=Result("cell counts", release.guarantee, released=people),
        settings=_settings(release),
        summary=_summary_sentence(release),
        facts=_facts(release),
        figures=[_map(release)],
        tables=[_table(release)],
        limits=_limits(release),
        lines=[*promise_lines(release.guarantee), Line("Found", _counted(release))],
        values=_values(release),
    )


def _settings(release: Release) -> dict[str, Any]:
    source = "from a seed" if release.guarantee.simulation else "cryptographic source"
    return {
        "title": "How often and how long students study online",
        "publisher": "shoal demo, on made-up students",
        "method": "Noisy counts on a public grid",
        "purpose": "Purpose: a first look",
        "source": "synthetic",
        "holder": "nobody: the students are made up",
        "bounds": "public, fixed beforehand: 0 to 30 sessions, 0 to 120 minutes",
        "noise": f"two-sided geometric, whole numbers, {source}",
        "evidence": "proof beside the code: geometric.proof.md",
        "cells": " x ".join(map(str, release.grid.shape)),
        "code": _code(release),
    } | ({} if release.seed is None else {"seed": release.seed})


def _values(release: Release) -> dict[str, Any]:
    """Return what ``--json`` prints; ``within_95_in_100`` of areas holds for all at once."""
    columns = ("sessions_per_week", "minutes_per_session")
    within = release.off_in_any_area()
    areas = [
        {"people_about": area.noisy_count, "within_95_in_100": within}
        | {name: [area.low[i], area.high[i]] for i, name in enumerate(columns)}
        for area in release.areas
    ]
    return {
        "guarantee": release.guarantee.to_dict(),
        "simulation": release.guarantee.simulation,
        "people_about": release.people,
        "within_95_in_100": release.off_in_total(),
        "dense_areas": areas,
    }


def _code(release: Release) -> str:
    from shoal.privacy.exact import exact_text

    epsilon = exact_text(release.noise.guarantee.epsilon)
    exact = len(epsilon) < 15 and "/" not in epsilon  # else as text, which PureDP reads exactly
    return CODE.format(
        epsilon=epsilon if exact else repr(epsilon),
        seed="" if release.seed is None else release.seed,
    )


def _summary_sentence(release: Release) -> str:
    about = f"About {quantity(release.people, 'made-up student')}"
    many = about if release.tells_people else "Made-up students"
    counted = "was" if release.tells_people and release.people == 1 else "were"
    return (
        f"{many} {counted} counted on a grid fixed beforehand. Each count carries noise, so "
        "one student more or less changes little of what you see."
    )


def _counted(release: Release) -> str:
    off = release.off_in_total()
    many = f"About {quantity(release.people, 'student')}, give or take {off:,}."
    if not release.tells_people:
        many = f"How many there are cannot be told at this epsilon: noise may reach {off:,}."
    where = NOTHING_CLEAR
    for area in release.areas[:1]:
        where = f"Most crowded: {_span(area, 0)} sessions a week of {_span(area, 1)} minutes."
    return f"{many} {where}"


def _facts(release: Release) -> list[Fact]:
    across, upwards = release.grid.shape
    many = f"{release.people:,}" if release.tells_people else "cannot be told"
    off = f"off by at most {release.off_in_total():,} in 95 of 100 releases"
    return [
        Fact("Students, about", many, off),
        Fact("Cells", f"{across} x {upwards}", "one session by four minutes, fixed beforehand"),
        Fact(
            "Noise in one cell", f"± {release.off_in_a_cell():,}", "at most this in 95 of 100 cells"
        ),
    ]


def _map(release: Release) -> "Figure":
    from shoal.figures import cell_map

    areas = release.areas
    numbered = ", densest areas numbered" if areas else ""
    return cell_map(
        release.noisy_counts,
        names=AXES,
        low=release.grid.box.low,
        high=release.grid.box.high,
        title=f"Where students are: noisy counts of cells{numbered}",
        finding=_description(areas),
        centers=[area.middle for area in areas] or None,
    )


def _description(areas: Sequence["Area"]) -> str:
    if not areas:
        return NOTHING_CLEAR
    each = [f"{_span(area, 0)} sessions a week of {_span(area, 1)} minutes" for area in areas]
    return f"Densest by noisy counts: {'; '.join(each)}."


def _table(release: Release) -> Table:
    rows = [
        [f"Area {i}", _span(area, 0), _span(area, 1), f"{area.noisy_count:,}"]
        for i, area in enumerate(release.areas, start=1)
    ]
    off = release.off_in_any_area()
    clear = (
        "Blocks of 3 x 3 cells, chosen by their noisy counts. In 95 of 100 releases all of these "
        f"are within {off:,} of the true counts. Choosing spends no budget."
        if rows
        else f"{NOTHING_CLEAR} The noise of some block of 3 x 3 cells may reach {off:,}."
    )
    columns = ["Area", *AXES, "Students, about"]
    return Table("Densest areas", columns, rows, marked=True, note=clear)


def _limits(release: Release) -> list[str]:
    cell, total = release.off_in_a_cell(), release.off_in_total()
    return [
        f"One cell is off by at most {cell:,} in 95 of 100 cells.",
        f"The total is off by at most {total:,} in 95 of 100 releases.",
        "Areas are chosen by their noisy counts, which favours those that noise made larger. So "
        f"their limit holds for every block of nine cells at once: {release.off_in_any_area():,} "
        "in 95 of 100 releases. Areas that do not stand clear of it are left out.",
        "Empty cells carry noise too: a lone pale cell may hold nobody.",
    ]


def _span(area: "Area", axis: int) -> str:
    return f"{area.low[axis]:g} to {area.high[axis]:g}"
