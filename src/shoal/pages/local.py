"""Clusters learnt from reports in words: their page and what a terminal shows, all from reports.

The groups learnt from reports, as pages and terminals tell of them, beside those of no data.

Maps of what was learnt from reports, and beside them of what is learnt without data.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.inputs.reports import Heard
from shoal.cli.output import entry
from shoal.pages.cluster import bounds_of, listed, promised, without
from shoal.pages.kmeans import PARTS, pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from shoal.cluster.local.evidence import Evidence
    from shoal.figures import CellMap
    from shoal.privacy import Result

__all__ = [
    "Asked",
    "Groups",
    "document",
    "maps",
    "result",
    "summary",
]

_POINTS = 20_000  # drawn of the density, to compare by
_LARGEST_RATIO = 2.0

EVIDENCE = (
    "proofs beside the code: shoal/cluster/local/estimator.proof.md and that of the mechanism"
)
NOTHING_SPENT = "nothing was spent here: the promise is the reports' own"
NONE_TOLD = (
    "No groups can be told: centres learnt from one half of the reports fit the other half no "
    "better than what the same learner finds where there are no groups. Collect more reports, look "
    "for fewer groups, or take a larger epsilon."
)
NOT_TRIED = (
    "Whether noise alone would look like these groups was not tried: the reports are counted on "
    "Spark, and cannot be halved here."
)
CLIENTS = (
    "A client may label its own record with these centres, as often as it likes, and keep the "
    "label: that tells nobody anything. A label that is sent, or acted on for all to see, is a "
    "second release and costs its own epsilon."
)
PLAIN = (
    "These are centres of the reports, noise and all: the law of the noise was not used. They are "
    "drawn apart by it."
)
_IN_LINE = 8  # columns that fit a line of a terminal

_PAIRS = 2  # of columns, each drawn twice


class Groups:
    """Centres and about how many belong to each; and what the same learner finds without data.

    All of it is computed from reports, so it is as public as they are. Group i is label i - 1 of
    ``predict``.

    Parameters
    ----------
    model, control
        What was learnt, and the same where everybody reports the middle of the box.
    heard, evidence
        The reports it was learnt from, and whether they tell of groups; None if that was not tried.
    """

    def __init__(
        self, model: Any, control: Any, heard: Heard, evidence: "Evidence | None" = None
    ) -> None:
        self.model, self.control, self.heard = model, control, heard
        self.evidence = evidence
        self.names: tuple[str, ...] = heard.box.names
        self.box = heard.box
        self.centers: NDArray[np.float64] = model.cluster_centers_
        self.k = len(self.centers)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many reports belong to each group: its share of the density; all add up."""
        import numpy as np

        from shoal.cluster.totals import whole_shares

        density = self.model.density_
        labels = self.model.predict(density.atoms)
        shares = np.bincount(labels, weights=density.weights, minlength=self.k)
        return whole_shares(shares * (self.heard.total / shares.sum()), self.heard.total)

    @cached_property
    def agreement(self) -> float:
        """How far labels by the control's centres agree with those by the centres found (AMI)."""
        from shoal.evaluate import ami

        return float(ami(self.model.predict(self._drawn), self.control.predict(self._drawn)))

    @cached_property
    def ratio(self) -> float:
        """The inertia that the control's centres leave on the density, over that of those found."""
        from shoal.evaluate import normalised_inertia

        units = self.model.units_
        centers = self.control.cluster_centers_ / units
        return float(normalised_inertia(self._drawn / units, centers, self.centers / units))

    @property
    def used(self) -> int:
        """How many reports it was learnt from."""
        return int(self.model.n_used_)

    @property
    def without(self) -> int:
        """How many reported the middle of the box in the control."""
        return int(self.control.n_reports_)

    @property
    def unit(self) -> str:
        """What is counted: people where each was reported once, else reports."""
        return "reports" if self.heard.protects == "a row" else "people"

    @property
    def may_be_noise(self) -> bool | None:
        """Whether noise alone would look like these groups; None if that was not tried."""
        return None if self.evidence is None else not self.evidence.told

    @property
    def needed(self) -> int | None:
        """How many people the rule of thumb asks for, where there is one, to be twice plain's."""
        from shoal.cluster import LocalClusterer
        from shoal.mechanisms import LocalGrid

        mechanism = self.model.mechanism
        if not isinstance(mechanism, LocalGrid) or self.box.d > 4:
            return None
        return LocalClusterer.needs(
            _LARGEST_RATIO, n_clusters=self.k, d=self.box.d, epsilon=mechanism.epsilon
        )

    @cached_property
    def _drawn(self) -> "NDArray[np.float64]":
        """Points of the density, drawn by weight; always the same ones."""
        import numpy as np

        density = self.model.density_
        chances = density.weights / density.weights.sum()
        at = np.random.default_rng(0).choice(len(density.atoms), _POINTS, p=chances)
        return np.asarray(density.atoms[at])


@dataclass(frozen=True)
class Asked:
    """What was asked of ``shoal cluster --local``."""

    table: str
    method: str
    n_clusters: range
    choose: str = "elbow"
    seed: int | None = None
    title: str | None = None
    publisher: str | None = None


def result(groups: Groups, asked: Asked) -> "Result":
    """What was learnt as a page wants it."""
    from shoal.pages.local_code import code
    from shoal.privacy import Public, Released, Result

    fitted = groups.model.to_result()
    released = {
        "summary": f"{_found(groups)} Only reports were read, and each carries noise of its own.",
        "facts": _facts(groups),
        "figures": maps(groups),
        "tables": [_table(groups), _table_without_data(groups)],
        "errors": _errors(groups, asked),
    }
    settings = _settings(groups, asked) | {"code": code(groups, asked.table, asked.seed)}
    return Result(
        fitted.kind,
        groups.heard.guarantee,
        {name: Public(value) for name, value in settings.items()},
        {
            **without(fitted.released, "density_"),  # a file of its own
            **{name: Released(value) for name, value in released.items()},
        },
    )


def document(groups: Groups, files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` prints."""
    named = [dict(zip(groups.names, center, strict=True)) for center in groups.centers.tolist()]
    nothing = groups.control.cluster_centers_.tolist()
    return {
        "report": str(files[0]),
        "files": [str(file) for file in files],
        "guarantee": groups.heard.guarantee.to_dict(),
        "simulation": groups.heard.guarantee.simulation,
        "spent": None,
        "method": groups.model.method_,
        "n_clusters": groups.k,
        "reports": groups.heard.total,
        "reports_used": groups.used,
        "groups": [
            {"center": center, "reports_about": size}
            for center, size in zip(named, groups.sizes, strict=True)
        ],
        "without_data": {
            "reports": groups.without,
            "centers": [dict(zip(groups.names, center, strict=True)) for center in nothing],
            "agreement": groups.agreement,
            "inertia_ratio": groups.ratio,
        },
        "may_be_noise": groups.may_be_noise,
        "evidence": None if groups.evidence is None else asdict(groups.evidence),
    }


def summary(groups: Groups, asked: Asked, files: Sequence[Path]) -> list["RenderableType"]:
    """What a terminal shows: promised, found, what is found without data, and what next."""
    folder = files[0].parent
    return [
        *promised(groups.heard.guarantee, by_holder=True),
        entry("Spent", f"{NOTHING_SPENT[0].upper()}{NOTHING_SPENT[1:]}."),
        entry("Found", _found(groups)),
        *[entry("", words) for words in _verdict(groups)],
        *([_printed(groups)] if len(groups.names) <= _IN_LINE else []),
        entry("No data", _nothing(groups)),
        entry("Page", str(files[0]), wrap=False),
        entry("Clients", CLIENTS),
        entry("Next", f'shoal.load_model("{folder}").predict(record) labels one, on its client.'),
    ]


def _settings(groups: Groups, asked: Asked) -> dict[str, Any]:
    """Settings a page has a place for, and those it lists."""
    heard, model = groups.heard, groups.model
    source = "from a seed" if heard.guarantee.simulation else "from a cryptographic source"
    named = {"publisher": asked.publisher} if asked.publisher else {}
    return named | {
        "title": asked.title or f"{_headed(groups)} by {listed(groups.names)}",
        "method": "Learnt from reports",
        "holder": "whoever made the reports; what learnt this read reports alone",
        "bounds": f"public, fixed beforehand: {bounds_of(groups.box)}",
        "noise": f"in every report, {source}; none was added here",
        "releases": NOTHING_SPENT,
        "evidence": EVIDENCE,
        "context": {"by_holder": True, "dimensions": groups.box.d},
        "mechanism": model.mechanism,
        "algorithm": model.method_,
        "protects": heard.protects,
        "n_clusters": groups.k,
    }


def _headed(groups: Groups) -> str:
    return "No groups can be told" if groups.may_be_noise else _count(groups)


def _found(groups: Groups) -> str:
    heard = groups.heard
    used = f"{groups.used:,} of " if groups.used < heard.total else ""
    return f"{_headed(groups)}, learnt from {used}{heard.total:,} reports."


def _count(groups: Groups) -> str:
    return "1 group" if groups.k == 1 else f"{groups.k} groups"


def _facts(groups: Groups) -> list[dict[str, str]]:
    made_by = type(groups.model.mechanism).__name__
    return [
        {"name": "Reports", "value": f"{groups.heard.total:,}", "detail": f"of {made_by}, counted"},
        {"name": "Groups", "value": str(groups.k), "detail": "centres, numbered on the map"},
        {"name": "Agreement without data", "value": f"{max(groups.agreement, 0):.2f}"}
        | {"detail": "of labels (AMI): near 1, labels would come out alike by chance"},
    ]


def _verdict(groups: Groups) -> list[str]:
    """What must be known before anything else, if there is such a thing."""
    if groups.may_be_noise is None:
        return [NOT_TRIED]
    return [NONE_TOLD] if groups.may_be_noise else []


def _tried(groups: Groups) -> list[str]:
    """What the verdict rests on."""
    if groups.evidence is None or not groups.evidence.margins:
        return []
    each = groups.evidence.margins.items()
    listed_ = ", ".join(f"{margin:.1f} ({name})" for name, margin in each)
    return [
        "Centres learnt from one half of the reports were tried on the other half, beside centres "
        f"learnt from people without groups: they fit better by {listed_} deviations of those; "
        f"{groups.evidence.needed:.1f} of each are asked for."
    ]


def _nothing(groups: Groups) -> str:
    """The control in a sentence."""
    return (
        "Had everybody reported the middle of the box, the same learner would have found centres "
        f"that leave {groups.ratio:.3g} times the inertia on this density, and whose labels agree "
        f"with these by {groups.agreement:.2f} (AMI).{_fewer(groups)}"
    )


def _fewer(groups: Groups) -> str:
    """What is said if not everybody could be played through."""
    if groups.without >= groups.used:
        return ""
    return (
        f" That was tried with {groups.without:,} reports, as many as one machine holds; with all "
        f"{groups.used:,} there would be less noise."
    )


def _errors(groups: Groups, asked: Asked) -> list[str]:
    heard, model = groups.heard, groups.model
    said = [*_verdict(groups), *_tried(groups), _nothing(groups)]
    if groups.agreement > 0.7:
        said.append(
            "Labels by centres that never saw data agree so well with these that a score of labels "
            "says little here; look at inertia."
        )
    if model.method_ == "plain":
        said.append(PLAIN)
    if groups.used < heard.total:
        said.append(
            f"{groups.used:,} reports, drawn at random, were learnt from; all {heard.total:,} "
            "would be too many for the memory of one machine."
        )
    if len(asked.n_clusters) > 1:
        low, high = asked.n_clusters[0], asked.n_clusters[-1]
        said.append(
            f"That there are {groups.k} groups was chosen among {low} to {high} on the density "
            f"learnt from the reports ({asked.choose}), which spends nothing."
        )
    return [*said, *_people_needed(groups), CLIENTS, _per_report(groups)]


def _people_needed(groups: Groups) -> list[str]:
    if groups.needed is None:
        return []
    return [
        f"By a rule of thumb {groups.needed:,} reports find {_count(groups)} in {groups.box.d} "
        "columns at this epsilon with an inertia at most twice that of plain k-means, if they are "
        "round, apart and of similar size."
    ]


def _per_report(groups: Groups) -> str:
    if groups.heard.protects == "a row":
        return "One report is taken as one person. Whoever sent several has that many times ε."
    return "Each person was reported once."


def _table(groups: Groups) -> dict[str, Any]:
    rows = [
        [f"Group {i}", *_shown(groups, center), f"{size:,}"]
        for i, (center, size) in enumerate(zip(groups.centers, groups.sizes, strict=True), 1)
    ]
    columns = ["Group", *groups.names[:12], f"{groups.unit.capitalize()}, about"]
    note = "Sizes are shares of the density times the number of reports."
    if len(groups.names) > 12:
        note += f" The other {len(groups.names) - 12} columns are in centers.csv."
    told = {"title": "Centres of the groups", "columns": columns, "rows": rows}
    return told | {"marked": True, "note": note}


def _table_without_data(groups: Groups) -> dict[str, Any]:
    centers = groups.control.cluster_centers_
    rows = [[f"Centre {i}", *_shown(groups, center)] for i, center in enumerate(centers, 1)]
    many = "the same number of" if groups.without >= groups.used else f"{groups.without:,}"
    note = (
        f"The same learner, {many} reports, and everybody in the middle of the box: "
        "what noise alone looks like. It reads nobody's report."
    )
    columns = ["Centre", *groups.names[:12]]
    told = {"title": "Found without data", "columns": columns, "rows": rows}
    return told | {"marked": False, "note": note}


def _shown(groups: Groups, center: Any) -> list[str]:
    """The numbers of a centre, to a thousandth of each column's range."""
    from shoal.figures.text import number, places

    sides = groups.box.high - groups.box.low
    each = zip(center[:12], sides, strict=False)
    return [number(float(value), places(float(side)) + 2) for value, side in each]


def _printed(groups: Groups) -> "RenderableType":
    """The centres as a table for terminals."""
    from rich.table import Table

    from shoal.figures.text import clean

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "Group", *map(clean, groups.names), f"{groups.unit.capitalize()}, about"):
        at_left = name in ("", "Group")
        table.add_column(name, justify="left" if at_left else "right", overflow="fold")
    for i, size in enumerate(groups.sizes):
        table.add_row(" " * 8, str(i + 1), *_shown(groups, groups.centers[i]), f"{size:,}")
    return table


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
