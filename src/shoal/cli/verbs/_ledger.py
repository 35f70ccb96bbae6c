"""``shoal ledger``: what was promised about a table, and how much more may be."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output, console
from shoal.figures.text import replace_controls
from shoal.pages.page import Line
from shoal.privacy.ledger_summary import LimitKind

if TYPE_CHECKING:
    from shoal.cli._output import Part


HEADS = ("When", "Who", "What", "Promise")
NARROW = 64  # columns; below, a table would break words apart
_FLAGS = Flags({"rows": "--max-rows-per-person"})


ledger_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Show what was promised about a table, or set its limit.",
)


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
    from shoal.privacy.ledger_summary import account_of, existing_ledger, reading
    from shoal.privacy.wording.amounts import account_values

    with reading(path):
        ledger = existing_ledger(path)
        entries = ledger.entries().to_pylist()
        account = account_values(account_of(ledger))
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
        LimitKind,
        typer.Option(help="Kind of promise that the limit is for; other kinds keep their limits."),
    ] = LimitKind.pure,
    delta: Annotated[
        str | None,
        typer.Option(
            help="Delta, for promises that may fail with that chance (pure, replace-one).",
            show_default=False,
        ),
    ] = None,
    max_rows_per_person: Annotated[
        int, typer.Option(help="Most rows per person (pure, replace-one).")
    ] = 1,
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
    from shoal.privacy import Ledger
    from shoal.privacy.ledger_summary import account_of, existing_ledger, limit_of, reading
    from shoal.privacy.wording.amounts import account_values

    made = False
    if epsilon is not None:
        with _FLAGS.shown():
            new = limit_of(kind, epsilon, delta, max_rows_per_person, unit)
        made = not path.exists()
        ledger = Ledger(path) if made else existing_ledger(path)
        ledger.set_limit([each for each in ledger.limits if each.kind != new.kind] + [new])
    with reading(path):
        account = account_values(account_of(existing_ledger(path)))
    document = {"ledger": str(path), "made": made, **account}
    Output(json, quiet).result(document, *_made_lines(path, made), *_account_lines(account))


def _made_lines(path: Path, made: bool) -> list["Part"]:
    """Said aloud: a name spelt wrongly would be a new ledger too."""
    return [Line("Made", f"a new ledger, {path}")] if made else []


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
        again = (
            "the same command continues and pays for nothing twice, unless its draft was removed"
        )
        lines.append(("Stopped", f"{each['by']}, begun {when}: {again}"))
    if not account["limits"]:
        lines.append(("Limit", "none; set one with: shoal ledger limit LEDGER --epsilon 3"))
    return [Line(label, text) for label, text in lines]
