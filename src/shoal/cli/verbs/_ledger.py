"""``shoal ledger``: what was promised about a table, and how much more may be."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output, console
from shoal.figures.text import replace_controls
from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.cli._output import Part
    from shoal.privacy import Budget, Guarantee, Ledger


HEADS = ("When", "Who", "What", "Promise")
NARROW = 64  # columns; below, a table would break words apart


ledger_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Show what was promised about a table, or set its limit.",
)


class Kind(StrEnum):
    """Kinds of promise a limit can be set for."""

    pure = "pure"
    replace_one = "replace-one"
    local = "local"
    metric = "metric"


PathArgument = Annotated[
    Path,
    typer.Argument(
        envvar="SHOAL_LEDGER", metavar="LEDGER", help="The ledger's file.", show_default=False
    ),
]


@ledger_app.command()
def show(path: PathArgument, json: Json = False, quiet: Quiet = False) -> None:
    """List every promise made about a table, the totals, and what is left.

    **Examples**

        shoal ledger show shoal-demo/ledger.sqlite
        shoal ledger show college.ledger --json
    """
    with _as_reader(path):
        ledger = existing_ledger(path)
        entries = ledger.entries().to_pylist()
        account = _account(ledger)
    for line in entries:
        line["at"] = line["at"].isoformat()
    document = {"ledger": str(path), "entries": entries, **account}
    Output(json, quiet).result(document, *_entry_parts(entries), *_account_lines(account))


@ledger_app.command()
def limit(
    path: PathArgument,
    epsilon: Annotated[
        str | None,
        typer.Option(help="The new limit; without it the limit is shown.", show_default=False),
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(help="Kind of promise that the limit is for; other kinds keep their limits."),
    ] = Kind.pure,
    delta: Annotated[
        str | None,
        typer.Option(
            help="Delta, for promises that may fail with that chance (pure, replace-one).",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[int, typer.Option(help="Most rows per person (pure, replace-one).")] = 1,
    unit: Annotated[str, typer.Option(help="Unit of distance (metric), e.g. km.")] = "1",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show, set or change the most that may be promised about a table.

    A ledger refuses any release that would pass its limit, and any kind of promise that the limit
    does not name. What was spent stays spent. With `--epsilon`, a missing ledger is created,
    so that the limit binds the first release too.

    **Examples**

        shoal ledger limit college.ledger
        shoal ledger limit college.ledger --epsilon 3
        shoal ledger limit college.ledger --epsilon 3 --delta 1e-8
        shoal ledger limit phones.ledger --epsilon 2 --kind local
    """
    made = False
    if epsilon is not None:
        new = _promise(kind, epsilon, delta, rows, unit)
        made = not path.exists()
        ledger = _new(path) if made else existing_ledger(path)
        ledger.set_limit([each for each in ledger.limits if each.kind != new.kind] + [new])
    with _as_reader(path):
        account = _account(existing_ledger(path))
    document = {"ledger": str(path), "made": made, **account}
    Output(json, quiet).result(document, *_made_lines(path, made), *_account_lines(account))


def _new(path: Path) -> "Ledger":
    from shoal.privacy import Ledger

    return Ledger(path)


def _made_lines(path: Path, made: bool) -> list["Part"]:
    """Said aloud: a name spelt wrongly would be a new ledger too."""
    return [Line("Made", f"a new ledger, {path}")] if made else []


def existing_ledger(path: Path) -> "Ledger":
    """Open a ledger that is there: an empty one would say that nothing was promised."""
    from shoal.errors import NotALedger
    from shoal.privacy import Ledger

    if not path.is_file():
        raise NotALedger(
            f"There is no ledger at {path}.",
            "Name the ledger of a release, e.g. shoal-demo/ledger.sqlite; create a new one "
            "with: shoal ledger limit LEDGER --epsilon 3.",
        )
    return Ledger(path)


def _promise(kind: Kind, epsilon: str, delta: str | None, rows: int, unit: str) -> "Budget":
    from shoal.errors import InvalidSetting
    from shoal.privacy import ApproxDP, LocalDP, MetricDP, PureDP

    amount: Any = epsilon
    if delta is not None and kind not in (Kind.pure, Kind.replace_one):
        raise InvalidSetting(
            f"--delta does not go with --kind {kind}.",
            "Use it with --kind pure or replace-one.",
            setting="--delta",
        )
    if kind is Kind.local:
        return LocalDP(amount)
    if kind is Kind.metric:
        return MetricDP(amount, unit=unit)
    neighbours = "replace-one" if kind is Kind.replace_one else "add-remove"
    if delta is None:
        return PureDP(amount, neighbours=neighbours, rows=rows)
    return ApproxDP(amount, delta, neighbours=neighbours, rows=rows)  # type: ignore[arg-type]


@contextmanager
def _as_reader(path: Path) -> Iterator[None]:
    """What a ledger refuses, worded for those who only look: they spend nothing anyway."""
    from shoal.errors import LedgerError, LedgerNotWritable

    try:
        yield
    except LedgerNotWritable:
        raise LedgerNotWritable(
            f"'{path.name}' cannot be opened here, not even to read it.",
            "Check that you may read it and its folder. If its disk is read-only, copy it, with "
            "the files beside it whose names begin the same, and open the copy.",
        ) from None
    except LedgerError as error:
        raise error.changed(hint=str(error.facts.get("reader_hint", error.hint))) from None


def _account(ledger: "Ledger") -> dict[str, list[dict[str, Any]]]:
    """Totals, real and simulated; limits, and for each what is left of it, exactly."""
    from shoal.privacy import Budget

    totals = ledger.totals()
    spent: dict[Any, Budget] = {}
    for each in totals:
        if isinstance(each, Budget):  # a limit binds what was promised and simulated together
            spent[each.kind] = each + spent[each.kind] if each.kind in spent else each
    return {
        "totals": [_total_values(each) for each in totals if not each.simulation],
        "simulated": [_total_values(each) for each in totals if each.simulation],
        "limits": [each.to_dict() | {"text": str(each)} for each in ledger.limits],
        "left": [_remaining_values(each, spent.get(each.kind)) for each in ledger.limits],
        "unfinished": [{"at": at.isoformat(), "by": by} for at, by in ledger.unfinished()],
    }


def _total_values(total: "Guarantee") -> dict[str, Any]:
    """A total as JSON has it, and in words without the mark: its place says what it is."""
    return total.to_dict() | {"text": str(replace(total, simulation=False))}


def _remaining_values(limit: "Budget", spent: "Budget | None") -> dict[str, str]:
    from shoal.privacy import ApproxDP
    from shoal.privacy.exact import exact_text
    from shoal.privacy.wording.amounts import remaining

    left = limit.epsilon - (spent.epsilon if spent else 0)
    values = {
        "of": str(limit),
        "epsilon": exact_text(max(left, Fraction(0))),
        "text": remaining(left),
    }
    if isinstance(limit, ApproxDP):
        chance = limit.delta - getattr(spent, "delta", 0)
        values |= {"delta": exact_text(max(chance, Fraction(0))), "delta_text": remaining(chance)}
    return values


def _entry_parts(entries: list[dict[str, Any]]) -> list["Part"]:
    """A table, or on a narrow screen a paragraph an entry: a promise is never cut."""
    from rich.table import Table
    from rich.text import Text

    if not entries:
        return ["Nothing has been promised yet.", ""]
    rows = [
        [
            line["at"][:16].replace("T", " "),
            *(replace_controls(line[n]) for n in ("by", "what", "guarantee")),
        ]
        for line in entries
    ]
    if console().width < NARROW:
        parts: list[Part] = []
        for row in rows:
            parts += [*map(Line, HEADS, row), ""]
        return parts
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in HEADS:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return [table, ""]


def _account_lines(account: dict[str, list[dict[str, Any]]]) -> list["Part"]:
    lines = [("In all", each["text"]) for each in account["totals"]]
    lines += [
        ("Simulated", f"{each['text']}: from a seed, which protects nobody; counts towards a limit")
        for each in account["simulated"]
    ]
    lines += [("Limit", each["text"]) for each in account["limits"]]
    for each in account["left"]:
        chance = f" and delta {each['delta_text']}" if "delta" in each else ""
        lines.append(("Left", f"epsilon {each['text']}{chance} of {each['of']}"))
    for each in account["unfinished"]:
        when = each["at"][:16].replace("T", " ")
        again = "the same command continues without spending more, unless its draft was removed"
        lines.append(("Stopped", f"{each['by']}, begun {when}: {again}"))
    if not account["limits"]:
        lines.append(("Limit", "none; set one with: shoal ledger limit LEDGER --epsilon 3"))
    return [Line(label, text) for label, text in lines]
