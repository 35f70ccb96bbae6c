"""What every way to cluster says alike: its label, its promise, and the code that does the same."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.inputs.clustering import Options
from shoal.cli.output import entry

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.domain import Box
    from shoal.privacy import Guarantee

__all__ = [
    "bounds_of",
    "code",
    "ending",
    "label",
    "listed",
    "none_told",
    "outcome",
    "promised",
    "unit_of",
    "without",
]


def label(asked: Options, guarantee: "Guarantee", **own: str) -> dict[str, str]:
    """Settings a page has a place for: those all share, and a method's own."""
    source = "from a seed" if guarantee.simulation else "cryptographic source"
    shared = {
        "holder": "the holder of the table, and nobody else",
        "bounds": f"public, fixed beforehand: {bounds_of(asked.box)}",
        "noise": f"on whole numbers, {source}",
    }
    method_named = {"publisher": asked.publisher} if asked.publisher else {}
    return own | shared | method_named


def promised(guarantee: "Guarantee", **context: Any) -> list["Text"]:
    """The promise as a terminal shows it; a simulation says that it keeps none."""
    from shoal.report.promise import SIMULATION, promise

    words = promise(guarantee, **context)
    said = [entry("Promised", words.lead)]
    if guarantee.simulation:
        said = [
            entry("Note", SIMULATION),
            entry("Promised", f"Nothing. With real noise: {words.lead}"),
        ]
    return [*said, entry("Exactly", f"{words.name}, for {words.protects}.")]


def ending(asked: Options, files: Sequence[Path]) -> list["Text"]:
    """Where it is, what counts it, and what next."""
    kept = "nowhere; --ledger FILE adds up what is promised about a table"
    folder = files[0].parent
    return [
        entry("Page", str(files[0]), wrap=False),
        entry("Ledger", kept if asked.ledger is None else str(asked.ledger), wrap=False),
        entry("Next", f'shoal.load_model("{folder}").predict(rows) labels rows, for their holder.'),
    ]


def outcome(asked: Options, files: Sequence[Path], guarantee: "Guarantee") -> dict[str, Any]:
    """What ``--json`` prints of any method: where it is, and what was promised."""
    return {
        "report": str(files[0]),
        "files": [str(file) for file in files],
        "ledger": asked.ledger and str(asked.ledger),
        "guarantee": guarantee.to_dict(),
        "simulation": guarantee.simulation,
    }


def code(asked: Options, estimator: str, first: str, **own: Any) -> str:
    """Python that does the same with a table of one's own; settings that are None are left out."""
    options = own | {
        "n_public": asked.n_public,
        "nonfinite": "drop" if asked.drop else None,
        "random_state": asked.seed,
    }
    more = "".join(
        f"\n    {name}={value!r}," for name, value in options.items() if value is not None
    )
    domain = "box" if asked.entity is None else "schema"
    return (
        f"import shoal\n\nbox = {_box(asked.box)}\n{_schema(asked)}model = shoal.{estimator}(\n"
        f"    {first}{_promise(asked)}, domain={domain},{more}\n"
        ")\n"
        'model.fit("table.csv").save("model")'
    )


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence; how many more there are, if many."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more columns"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def unit_of(model: Any) -> str:
    """What is counted: people where each is known and has one row, else rows."""
    from shoal.estimator import people_of

    entity, limit = people_of(model.domain)
    one_each = entity is not None and limit == 1
    return "people" if one_each else "rows"


def none_told(model: Any) -> str:
    """The verdict on a release of which no group can be told from nobody."""
    from shoal.cluster.totals import NO_GROUP_TOLD, NOBODY_TOLD

    return NO_GROUP_TOLD if model.rows_told_ else NOBODY_TOLD


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """All values but some."""
    return {key: value for key, value in values.items() if key not in names}


def bounds_of(box: "Box") -> str:
    """The public bounds of the first columns."""
    from shoal.figures.text import number

    sides = zip(box.names, box.low, box.high, strict=True)
    each = [f"{name} {number(low)} to {number(high)}" for name, low, high in sides]
    return ", ".join(each[:4]) + (f" and {len(each) - 4} more" if len(each) > 4 else "")


def _promise(asked: Options) -> str:
    """The parameter that says what is promised."""
    if asked.delta is None and asked.neighbours == "add-remove":
        return f"epsilon={asked.epsilon!r}"
    amounts = [repr(asked.epsilon)] + ([] if asked.delta is None else [repr(asked.delta)])
    other = [] if asked.neighbours == "add-remove" else [f"neighbours={asked.neighbours!r}"]
    kind = "PureDP" if asked.delta is None else "ApproxDP"
    return f"privacy=shoal.{kind}({', '.join(amounts + other)})"


def _schema(asked: Options) -> str:
    """The line that says whose the rows are, where that is known."""
    if asked.entity is None:
        return ""
    limit = asked.max_rows_per_person
    return (
        f"schema = shoal.Schema.of_box(box, entity={asked.entity!r}, "
        f"max_rows_per_person={limit!r})\n"
    )


def _box(box: "Box") -> str:
    names, low, high = list(box.names), box.low.tolist(), box.high.tolist()
    if box.distance_unit != "km":
        return f"shoal.Box.of({names!r},\n                   {low!r}, {high!r})"
    ends = zip(names, low, high, strict=True)
    sides = ", ".join(f"{name!r}: ({first!r}, {last!r})" for name, first, last in ends)
    return f"shoal.Box.geo(**{{{sides}}})"
