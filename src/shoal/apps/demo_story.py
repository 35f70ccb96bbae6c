"""The demo in words: what its page says and what it prints, all from released numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.apps.output import entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.text import Text

    from shoal.domain import Grid
    from shoal.figures import Area, Figure
    from shoal.mechanisms import Geometric
    from shoal.privacy import Guarantee, Ledger, Result

__all__ = ["Release", "document", "result", "summary"]

AXES = ("Sessions a week", "Minutes a session")
AREAS = 4

CODE = """\
from shoal.data import students, students_schema
from shoal.domain import Grid
from shoal.engine import rows_of
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

columns = ["sessions_per_week", "minutes_per_session"]
grid = Grid(students_schema().box.select(columns), 30)
rows = rows_of(students(10_000).select(columns), grid.box)

page = Ledger().open(PureDP({epsilon}), by="me")
noisy_counts = page.release(
    Geometric(page.budget), rows.count(grid), Randomness({seed}).noise, of="cell counts"
)"""


@dataclass(frozen=True)
class Release:
    """What left the gate, what it was promised, and what follows from both for free."""

    grid: "Grid"
    noise: "Geometric"
    noisy_counts: "NDArray[np.int64]"
    guarantee: "Guarantee"
    ledger: "Ledger"

    @property
    def people(self) -> int:
        """About how many there are."""
        return int(self.noisy_counts.sum())

    @property
    def areas(self) -> list["Area"]:
        """The densest blocks of cells."""
        from shoal.figures import dense_areas

        box = self.grid.box
        return dense_areas(self.noisy_counts, box.low, box.high, how_many=AREAS)

    def off_in_a_cell(self) -> int:
        """The least m with P[|noise| > m] = 2 a^(m+1) / (1 + a) <= 5 in 100, a = e^-step."""
        step = float(self.noise.step)
        tail = math.log(0.05 * (1 + math.exp(-step)) / 2)
        return max(math.ceil(tail / -step - 1), 0)

    def off_in_a_sum(self, cells: int) -> int:
        """Two standard deviations: from nine cells on, 95 of 100 sums are closer than that."""
        return math.ceil(2 * math.sqrt(cells * self.noise.variance))


def result(release: Release) -> "Result":
    """The release as a page wants it: words and settings public, the rest released."""
    from shoal.privacy import Public, Released, Result

    settings = {
        "title": "How often and how long students study online",
        "publisher": "shoal demo, on made-up students",
        "method": "Noisy counts on a public grid",
        "purpose": "Purpose: a first look",
        "source": "synthetic",
        "holder": "nobody: the students are made up",
        "bounds": "public, fixed beforehand: 0 to 30 sessions, 0 to 120 minutes",
        "noise": f"two-sided geometric, whole numbers, {_noise_source(release)}",
        "evidence": "proof beside the code: geometric.proof.md",
        "cells": " x ".join(map(str, release.grid.shape)),
        "code": _code(release),
    }
    released = {
        "summary": _summary_sentence(release),
        "facts": _facts(release),
        "figures": [_map(release)],
        "tables": [_table(release)],
        "errors": _errors(release),
        "people_about": release.people,
    }
    return Result(
        "cell counts",
        release.guarantee,
        {name: Public(value) for name, value in settings.items()},
        {name: Released(value) for name, value in released.items()},
    )


def document(release: Release, files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` prints."""
    places = ("sessions_per_week", "minutes_per_session")
    areas = [
        {"people_about": area.noisy_count, "off_by_at_most": release.off_in_a_sum(area.cells)}
        | {name: [area.low[i], area.high[i]] for i, name in enumerate(places)}
        for area in release.areas
    ]
    return {
        "report": str(files[0]),
        "files": [str(file) for file in files],
        "guarantee": release.guarantee.to_dict(),
        "simulation": release.guarantee.simulation,
        "people_about": release.people,
        "off_by_at_most": release.off_in_a_sum(release.grid.size),
        "dense_areas": areas,
    }


def summary(release: Release, files: Sequence[Path], ledger: Path) -> list["Text"]:
    """What a terminal shows: promised, found, where, and what next."""
    from shoal.report.wording import SIMULATION, promise

    lead = promise(release.guarantee).lead
    if release.guarantee.simulation:
        said = [entry("Note", SIMULATION), entry("Promised", f"Nothing. With real noise: {lead}")]
    else:
        said = [entry("Promised", lead)]
    return [
        *said,
        entry("Found", _found(release)),
        entry("Page", str(files[0]), wrap=False),
        entry("Next", "Open the page in a browser; it needs no connection. Or try"),
        entry("", f"shoal ledger show {ledger}", wrap=False),
        entry("", "shoal demo --epsilon 0.1 -o rough", wrap=False),
    ]


def _noise_source(release: Release) -> str:
    return "from a seed" if release.guarantee.simulation else "cryptographic source"


def _code(release: Release) -> str:
    from shoal.privacy.guarantees import plain

    epsilon = plain(release.noise.guarantee.epsilon)
    exact = len(epsilon) < 15 and "/" not in epsilon  # else as text, which PureDP reads exactly
    return CODE.format(
        epsilon=epsilon if exact else repr(epsilon),
        seed="7" if release.guarantee.simulation else "",
    )


def _summary_sentence(release: Release) -> str:
    return (
        f"About {release.people:,} made-up students were counted on a grid fixed beforehand. Each "
        "count carries noise, so one student more or less changes little of what you see."
    )


def _found(release: Release) -> str:
    area = release.areas[:1]
    where = "".join(
        f" Most crowded: {_span(a, 0)} sessions a week of {_span(a, 1)} minutes." for a in area
    )
    off = release.off_in_a_sum(release.grid.size)
    return f"About {release.people:,} students, give or take {off:,}.{where}"


def _facts(release: Release) -> list[dict[str, str]]:
    across, upwards = release.grid.shape
    off = release.off_in_a_sum(release.grid.size)
    return [
        {"name": "Students, about", "value": f"{release.people:,}"}
        | {"detail": f"off by at most {off:,} in 95 of 100 releases"},
        {"name": "Cells", "value": f"{across} x {upwards}"}
        | {"detail": "one session by four minutes, fixed beforehand"},
        {"name": "Noise in one cell", "value": f"± {release.off_in_a_cell():,}"}
        | {"detail": "at most this in 95 of 100 cells"},
    ]


def _map(release: Release) -> "Figure":
    from shoal.figures import cell_map

    return cell_map(
        release.noisy_counts,
        names=AXES,
        low=release.grid.box.low,
        high=release.grid.box.high,
        title="Where students are: noisy counts of cells, densest areas numbered",
        centers=[area.middle for area in release.areas] or None,
    )


def _table(release: Release) -> dict[str, Any]:
    rows = [
        [f"Area {i}", _span(area, 0), _span(area, 1), f"{area.noisy_count:,}"]
        for i, area in enumerate(release.areas, start=1)
    ]
    off = release.off_in_a_sum(9)
    return {
        "title": "Densest areas",
        "columns": ["Area", *AXES, "Students, about"],
        "rows": rows,
        "marked": True,
        "note": "Each area is a block of 3 x 3 cells. Its count is off by at most "
        f"{off:,} in 95 of 100 releases. Read from the noisy counts, so it spends no budget.",
    }


def _errors(release: Release) -> list[str]:
    cell, total = release.off_in_a_cell(), release.off_in_a_sum(release.grid.size)
    return [
        f"One cell is off by at most {cell:,} in 95 of 100 cells.",
        f"An area of nine cells is off by at most {release.off_in_a_sum(9):,}, and the total by at "
        f"most {total:,}, in 95 of 100 releases.",
        "Empty cells carry noise too: a lone pale cell may hold nobody.",
    ]


def _span(area: "Area", axis: int) -> str:
    return f"{area.low[axis]:g} to {area.high[axis]:g}"
