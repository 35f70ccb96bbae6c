"""``shoal ledger``: what was promised about a table, and how much more may be."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.apps.output import Json, Output, Quiet, entry
from shoal.figures.text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.privacy import Budget, Ledger

__all__ = ["ledger_app"]

ledger_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Show what was promised about a table, or how much may be.",
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
    ledger = _existing(path)
    entries = ledger.entries().to_pylist()
    for line in entries:
        line["at"] = line["at"].isoformat()
    account = _account(ledger)
    document = {"ledger": str(path), "entries": entries, **account}
    Output(json, quiet).result(document, _table(entries), "", *_account_lines(account))


@ledger_app.command()
def limit(
    path: PathArgument,
    epsilon: Annotated[
        str | None,
        typer.Option(help="The new limit; left out, the limit is shown.", show_default=False),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="The kind of promise the limit is for; others keep theirs.")
    ] = Kind.pure,
    rows: Annotated[int, typer.Option(help="Rows a person has at most (pure, replace-one).")] = 1,
    unit: Annotated[str, typer.Option(help="Unit of distance (metric), e.g. km.")] = "1",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show or change the most that may be promised about a table.

    A ledger refuses any release that would pass its limit, and any kind of promise that the limit
    does not name. What was spent stays spent.

    **Examples**

        shoal ledger limit college.ledger
        shoal ledger limit college.ledger --epsilon 3
        shoal ledger limit phones.ledger --epsilon 2 --kind local
    """
    ledger = _existing(path)
    if epsilon is not None:
        new = _promise(kind, epsilon, rows, unit)
        ledger.set_limit([each for each in ledger.limits if each.kind != new.kind] + [new])
    account = _account(ledger)
    Output(json, quiet).result({"ledger": str(path), **account}, *_account_lines(account))


def _existing(path: Path) -> "Ledger":
    from shoal.errors import NotALedger
    from shoal.privacy import Ledger

    if not path.is_file():
        raise NotALedger(
            f"There is no ledger at {path}.",
            "Name the file a release was written to, e.g. shoal-demo/ledger.sqlite.",
        )
    return Ledger(path)


def _promise(kind: Kind, epsilon: str, rows: int, unit: str) -> "Budget":
    from shoal.privacy import LocalDP, MetricDP, PureDP

    if kind is Kind.local:
        return LocalDP(epsilon)  # type: ignore[arg-type]
    if kind is Kind.metric:
        return MetricDP(epsilon, unit=unit)  # type: ignore[arg-type]
    neighbours = "replace-one" if kind is Kind.replace_one else "add-remove"
    return PureDP(epsilon, neighbours=neighbours, rows=rows)  # type: ignore[arg-type]


def _account(ledger: "Ledger") -> dict[str, list[dict[str, Any]]]:
    """Totals, limits, and for each limit what is left; exact amounts as text."""
    from shoal.privacy import Budget
    from shoal.report.wording import decimal

    totals = ledger.totals()
    spent = {each.kind: each.epsilon for each in totals if isinstance(each, Budget)}
    left = [
        {
            "of": str(each),
            "epsilon": decimal(rest)
            if (rest := each.epsilon - spent.get(each.kind, 0)) > 0
            else "0",
        }
        for each in ledger.limits
    ]
    return {
        "totals": [each.to_dict() | {"text": str(each)} for each in totals],
        "limits": [each.to_dict() | {"text": str(each)} for each in ledger.limits],
        "left": left,
    }


def _table(entries: list[dict[str, Any]]) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    if not entries:
        return "Nothing was promised yet."
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("When", "Who", "What", "Promise"):
        table.add_column(name, overflow="fold", min_width=18 if name == "Promise" else None)
    for line in entries:
        when = line["at"][:16].replace("T", " ")
        words = [clean(line[name]) for name in ("by", "what", "guarantee")]
        table.add_row(when, *map(Text, words))
    return table


def _account_lines(account: dict[str, list[dict[str, Any]]]) -> list["RenderableType"]:
    said = [("In all", each["text"]) for each in account["totals"]]
    said += [("Limit", each["text"]) for each in account["limits"]]
    said += [("Left", f"epsilon {each['epsilon']} of {each['of']}") for each in account["left"]]
    if not account["limits"]:
        said.append(("Limit", "none; set one with: shoal ledger limit LEDGER --epsilon 3"))
    return [entry(label, words) for label, words in said]
