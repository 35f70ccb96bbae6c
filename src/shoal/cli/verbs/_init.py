"""``shoal init``: a domain file to begin with, drafted without using a value of a row."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._options import Epsilon, Json, LedgerFile, Numbers, OverwriteFile, Quiet, Seed
from shoal.cli._output import Output, write_text
from shoal.errors import InvalidSetting, quantity, sentence
from shoal.jobs import Progress, budget_of, note_spending, table_file, tell_spending
from shoal.pages.page import Line, labelled_lines, name_list

if TYPE_CHECKING:
    from shoal.domain import Box
    from shoal.jobs import SchemaDraft
    from shoal.jobs.drafts import CodebookEntry, ColumnKind

_REVIEW = "Check every line marked REVIEW: names and kinds of columns suggest it."


def init(
    table: Annotated[
        str,
        typer.Argument(
            metavar="[TABLE]",
            help="A CSV or Parquet file, a folder of Parquet files, or `-` for CSV from standard "
            "input; left out with --events.",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="The domain file to write, `-` for standard output; default: the table's name "
            "with .yaml.",
            show_default=False,
        ),
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="CODEBOOK",
            envvar="SHOAL_FROM",
            help="A table that describes the columns: name, low, high, values.",
            show_default=False,
        ),
    ] = None,
    estimate_bounds: Annotated[
        bool,
        typer.Option(
            "--estimate-bounds",  # without a setting: it spends a budget
            help="Spend --epsilon on noisy bounds of the columns of numbers that have none. For "
            "those without a codebook.",
        ),
    ] = False,
    events: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Draft a features file instead: a table with any number of rows a person, each at "
            "a time. May be repeated.",
            show_default=False,
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Its table of people.", show_default=False),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="A table that says nothing about the people, such as courses. May be repeated.",
            show_default=False,
        ),
    ] = None,
    epsilon: Epsilon = None,
    ledger: LedgerFile = None,
    numbers: Numbers = None,
    overwrite: OverwriteFile = False,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draft the domain file of a table; every line is marked for review.

    Columns get bounds that their names suggest to anybody (an age, a percentage, a latitude), or
    those of a codebook, which also says what codes mean; a pair of answers such as 0 and 1 is
    known by itself. No bound and no list is read from the rows, since they would give people
    away; what is not known is left open, as a comment to complete. The draft works as it is, for
    the columns that are stated.

    With --estimate-bounds the open columns of numbers get bounds from a release with noise, which
    is written to the ledger and adds to whatever else is released about the table.

    **Examples**

        shoal init visits.csv
        shoal init visits.csv --from codebook.csv -o visits.yaml
        shoal init visits.csv --estimate-bounds --epsilon 0.1 --ledger visits.ledger
        shoal init --events log.parquet --people pupils.csv --public courses.csv -o programme.yaml
    """
    from shoal.jobs import draft_schema
    from shoal.jobs.drafts import columns_to_estimate, next_command

    say = Output(json, quiet)
    if events or people or public or not table:
        _check_features_request(table, events, codebook, estimate_bounds)
        _draft_features(say, events or [], people, public or [], output, overwrite)
        return
    place = _place(table, output)
    estimate = _estimate_of(estimate_bounds, epsilon, ledger, place, seed)
    with ExitStack() as stack:
        progress = stack.enter_context(say.progress(1))
        path = stack.enter_context(table_file(table, numbers))
        write = stack.enter_context(_writer(place, overwrite))  # refused before it costs anything
        stack.enter_context(note_spending(lambda: estimate is not None and estimate.is_spent()))
        names, kinds = _columns(path, table, progress)
        known = _known(codebook, names, table)
        draft = draft_schema(names, kinds, known)
        open_columns = [*columns_to_estimate(draft)]
        if estimate is not None and open_columns:
            progress.step("Estimating bounds")
            estimate.progress = progress
            released = estimate.bounds(path, open_columns, draft.person)
            draft = draft_schema(names, kinds, known, released, estimate.cost(len(open_columns)))
        write(draft.text)
    if place is not None:
        paid = None if estimate is None or not open_columns else str(estimate.ledger)
        _report(say, draft, place, next_command(draft, table, str(place), paid, numbers), paid)


def _check_features_request(
    table: str, events: list[str] | None, codebook: Path | None, is_estimate: bool
) -> None:
    if not events:
        raise InvalidSetting(
            "There is no table to draft a file for.",
            sentence("Name one: `shoal init visits.csv`; or tables of events with {events}."),
        )
    if table or codebook or is_estimate:
        raise InvalidSetting(
            sentence("{events} drafts a features file, from names and kinds of columns alone."),
            "Name its tables with --events, --people and --public, and nothing else.",
            setting="events",
        )


def _draft_features(
    say: Output,
    events: list[str],
    people: str | None,
    public: list[str],
    output: str | None,
    overwrite: bool,
) -> None:
    from shoal.jobs.drafts import draft_features

    place = None if output == "-" else Path(output or "features.yaml")
    with _writer(place, overwrite) as write:
        write(draft_features(events, people, public, place or Path("features.yaml")))
    if place is not None:
        check = f"shoal features {place} --check"
        say.result(
            {"features": str(place), "next": check},
            Line("Features", str(place), is_literal=True),
            Line("Review", _REVIEW),
            Line("Open", "The period, sources of public tables, lists and bounds."),
            Line("Next", check, is_literal=True),
        )


@dataclass
class _Estimate:
    """Bounds to be paid for: the budget, and the ledger it is written to."""

    epsilon: str
    ledger: Path
    seed: int | None
    entries_before: int | None = None  # None until it begins
    progress: Progress = field(default_factory=Progress)

    def bounds(self, path: str, names: list[str], person: str | None) -> "Box | None":
        """Release the bounds of columns; those with too few rows have none."""
        from shoal.domain import Schema
        from shoal.privacy import Ledger
        from shoal.synopsis import PrivateBounds, widest_box

        limit = None if person is None else 1
        book = Ledger(self.ledger)
        tell_spending(book, self.progress)
        self.entries_before = int(book.entries().num_rows)
        model = PrivateBounds(
            epsilon=self.epsilon,
            domain=Schema.of_box(widest_box(names), person=person, max_rows_per_person=limit),
            nonfinite="drop",
            ledger=book,
            random_state=self.seed,
        )
        return model.fit(path).box_

    def is_spent(self) -> bool:
        """Return whether the release is in the ledger."""
        from shoal.privacy import Ledger

        if self.entries_before is None:
            return False
        return int(Ledger(self.ledger).entries().num_rows) > self.entries_before

    def cost(self, columns: int) -> str:
        """Return what was paid, for the file."""
        return f"epsilon {self.epsilon} for {quantity(columns, 'column')}, in {self.ledger}"


def _place(table: str, output: str | None) -> Path | None:
    """Return the file to write; None is standard output."""
    if output == "-":
        return None
    if output is None and table == "-":
        raise InvalidSetting(
            "Standard input has no name to call the domain file after.",
            "Name it, e.g. -o visits.yaml; `-o -` prints it.",
            setting="output",
        )
    return Path(output) if output is not None else Path(f"{_stem(table)}.yaml")


def _stem(table: str) -> str:
    """Return what a table is called, without its folder and its endings."""
    return table.rstrip("/").rsplit("/", 1)[-1].split(".")[0].strip("*") or "table"


def _estimate_of(
    is_wanted: bool, epsilon: str | None, ledger: Path | None, place: Path | None, seed: int | None
) -> _Estimate | None:
    """Return the estimate that was asked for, or None."""
    if is_wanted:
        if place is None and ledger is None:
            raise InvalidSetting(
                sentence("{ledger} is missing."), sentence("E.g. {ledger:visits.ledger}.")
            )
        # A ledger even if none is named: the fit that follows has to be added to this.
        book = ledger or Path(place or "").with_suffix(".ledger")
        return _Estimate(budget_of(epsilon, "release"), book, seed)
    if epsilon is not None:
        raise InvalidSetting(
            sentence("{epsilon} is given, but nothing is released."),
            sentence("Add {estimate_bounds}, or leave it out."),
        )
    return None


def _columns(
    path: str, table: str, progress: Progress
) -> tuple[tuple[str, ...], list["ColumnKind"]]:
    from shoal.anonymize.table import table_of
    from shoal.anonymize.table_check import check_names
    from shoal.data import source_of
    from shoal.jobs.drafts import column_kinds

    progress.step("Looking at columns")
    source = source_of(path)
    check_names(table_of(path), f"'{table.rstrip('/').rsplit('/', 1)[-1]}'")
    return source.names, column_kinds(source, progress.count_rows)


def _known(codebook: Path | None, names: tuple[str, ...], table: str) -> dict[str, "CodebookEntry"]:
    from shoal.jobs.drafts import read_codebook

    return {} if codebook is None else read_codebook(str(codebook), names, _stem(table))


@contextmanager
def _writer(place: Path | None, overwrite: bool) -> Iterator[Callable[[str], object]]:
    """Yield what writes the file, completely or not at all; without a place, standard output."""
    from shoal.files import atomic_file

    if place is None:
        yield write_text
        return
    with atomic_file(place, overwrite) as part:
        yield lambda text: part.write_text(text, encoding="utf-8")


def _report(
    say: Output, draft: "SchemaDraft", place: Path, command: str, ledger: str | None
) -> None:
    stated = {c.name: c.why for c in draft.columns if c.entry is not None}
    left_open = {c.name: c.why for c in draft.columns if c.is_open}
    left_out = {c.name: c.why for c in draft.columns if c.is_left_out}
    is_usable = bool(stated)
    fill = (
        f"Complete the open columns in {place}: at least one needs bounds or values. Or take "
        "them from a codebook (--from), or pay for them (--estimate-bounds --epsilon 0.1)."
    )
    say.result(
        {
            "domain": str(place),
            "columns": stated,
            "open": left_open,
            "left_out": left_out,
            "draft": [column.values() for column in draft.columns],
            "person": draft.person,
            "ledger": ledger,
            "simulation": draft.simulation,
            "next": command if is_usable else None,
        },
        *labelled_lines("Stated", _by_reason(stated)),
        *labelled_lines("Open", _by_reason(left_open)),
        *labelled_lines("Left out", _by_reason(left_out)),
        *([Line("People", f"told apart by {draft.person}")] if draft.person else []),
        *([Line("Ledger", ledger, is_literal=True)] if ledger else []),
        Line("Domain", str(place), is_literal=True),
        Line("Review", _review(draft, ledger)),
        *([_used(stated, place)] if is_usable and left_open else []),
        Line("Next", command, is_literal=True) if is_usable else Line("Next", fill),
    )


def _by_reason(columns: Mapping[str, str]) -> list[str]:
    """Return a line for each reason or question, with the columns that it is about."""
    from shoal.jobs.drafts import name_ranges

    reasons = dict.fromkeys(columns.values())
    named = {why: [name for name in columns if columns[name] == why] for why in reasons}
    return [f"{', '.join(name_ranges(names))}: {why}" for why, names in named.items()]


def _review(draft: "SchemaDraft", ledger: str | None) -> str:
    """Say what the marks of the lines mean."""
    if ledger is None:
        return _REVIEW
    if draft.simulation:
        return (
            "Lines marked SIMULATED were estimated with noise from a seed, so they are not public: "
            "whatever is made with this file is a simulation. Estimate them without --seed."
        )
    return "Check every line marked REVIEW; lines marked RELEASED were paid for."


def _used(stated: Mapping[str, str], place: Path) -> Line:
    """Say that a draft with open columns works, and for which columns."""
    names = name_list([*stated])
    return Line("Uses", f"{names} only, until the open columns are completed in {place}.")
