"""Private k-means in words: what its page says and what it prints, all from released numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_groups import Groups
from shoal.apps.cluster_methods import Asked
from shoal.apps.cluster_telling import (
    code,
    ending,
    label,
    listed,
    none_told,
    outcome,
    promised,
    without,
)
from shoal.apps.output import entry

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.privacy import Result

__all__ = ["document", "result", "same_code", "summary"]

EVIDENCE = "proofs beside the code: private_kmeans.proof.md and those it names"
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


def result(model: Any, asked: Asked) -> "Result":
    """The release as a page wants it: words and settings public, the rest released."""
    from shoal.apps.cluster_maps import maps
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


def document(model: Any, asked: Asked, files: Sequence[Path]) -> dict[str, Any]:
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


def summary(model: Any, asked: Asked, files: Sequence[Path]) -> list["RenderableType"]:
    """What a terminal shows: promised, found, where it is, and what next."""
    groups = Groups(model)
    return [
        *promised(groups.guarantee),
        entry("Found", _found(groups)),
        *[entry("", words) for words in _cautions(groups)],
        *([_printed(groups)] if any(groups.told) and len(groups.names) <= _IN_LINE else []),
        *ending(asked, files),
    ]


def same_code(asked: Asked, groups: Groups) -> str:
    """Python that does the same with a table of one's own."""
    method = None if asked.method == "kmeans" else asked.method
    return code(asked, "PrivateKMeans", f"{groups.k}, ", method=method, delta=asked.delta)


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


def _errors(groups: Groups, asked: Asked) -> list[str]:
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
