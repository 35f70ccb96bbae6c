"""Print the output of every verb: text for people, JSON for scripts, progress for terminals.

Results go to standard output; errors and progress go to standard error, and progress only to a
terminal. Text from files is cleaned of control characters, which could rewrite a screen. The lines
and tables of a ``pages.Page`` are rendered here; verdicts are written to a page or a document.
"""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from shoal.documents import json_text
from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.figures.text import replace_controls
from shoal.jobs import FIRST_STEP, PROGRESS_FILE, Progress, ProgressFile, State
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from shoal.pages.page import VerdictPage

    Part = Line | Table | RenderableType


LABEL_WIDTH = 10
_LEAST_TEXT = 6  # columns that a cell of text needs before it is folded


def console(stderr: bool = False) -> "Console":
    """Return a console that prints text as it is, without markup or automatic colours."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def render_text(*parts: "Part", stderr: bool = False) -> str:
    """Return what a console prints of these parts, with its colours; tables are fitted."""
    from rich.text import Text

    out = console(stderr)
    with out.capture() as captured:
        for part in map(renderable, parts):
            out.print(part, soft_wrap=isinstance(part, str | Text))
    return captured.get()


def renderable(part: "Part") -> "RenderableType":
    """Convert a line or a table of a page to what rich shows; anything else stays as it is."""
    if isinstance(part, Line):
        return _render_line(part)
    return _render_table(part) if isinstance(part, Table) else part


def _render_line(line: Line) -> "Text":
    """Return a label and its sentence, folded beside it unless it is there to be copied."""
    from rich.text import Text

    width = sys.maxsize if line.is_literal else min(console().width, 100) - LABEL_WIDTH
    folded = textwrap.wrap(replace_controls(line.text), max(width, 20)) or [""]
    text = Text(f"{line.label} ".ljust(LABEL_WIDTH), style="bold")
    return text.append(Text(f"\n{' ' * LABEL_WIDTH}".join(folded), style="not bold"))


def _render_table(table: Table) -> "RenderableType":
    """Return a table for terminals; marked rows are indented and named by their number."""
    from rich.table import Table as RichTable

    indent = [" " * (LABEL_WIDTH - 2)] if table.marked else []
    left = {"", table.columns[0], *table.left}
    rows = [
        (first.removeprefix(f"{table.columns[0]} ") if table.marked else first, *cells)
        for first, *cells in table.rows
    ]
    heads = [replace_controls(name) for name in table.columns]
    room = console().width - LABEL_WIDTH * len(indent)
    if _narrowest(heads, rows, left) > room:
        return _render_records(heads, rows)
    is_tight = sum(_column_width(name, heads, [heads, *rows]) + 2 for name in heads) > room
    shown = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (*("" for _ in indent), *heads):
        is_left = name in left
        # Where there is no room for the heads, they are broken and not the numbers below them.
        width = _column_width(name, heads, rows) if is_tight and not is_left else None
        shown.add_column(name, justify="left" if is_left else "right", overflow="fold", width=width)
    for row in rows:
        shown.add_row(*indent, *row)
    return shown


def _column_width(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of the longest cell of a column; a row may end before it."""
    at = heads.index(name)
    return max((len(row[at]) for row in rows if len(row) > at), default=1)


def _narrowest(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Set[str]) -> int:
    """Return how wide a table must be for its numbers to stay whole."""
    numbers = [name for name in heads if name not in left]
    texts = len(heads) - len(numbers)
    whole = sum(_column_width(name, heads, rows) for name in numbers)
    return whole + 2 * (len(heads) - 1) + texts * _LEAST_TEXT


def _render_records(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> "Text":
    """Return a table that is too wide as a list: each row by its first cell, one line a value."""
    from rich.text import Text

    lines = []
    for first, *cells in rows:
        lines.append(f"{heads[0]} {first}".strip())
        lines += [f"  {name}: {cell}" for name, cell in zip(heads[1:], cells, strict=False) if cell]
    return Text("\n".join(lines))


def write_text(text: str, stream: TextIO | None = None) -> None:
    """Write all of a text to standard output or another stream.

    Parameters
    ----------
    stream
        The stream; None for standard output.

    Raises
    ------
    CannotWrite
        If the disk it goes to is full. A reader that went away is a ``BrokenPipeError``.
    """
    out = stream or sys.stdout
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        discard_buffer(out)
        if isinstance(error, BrokenPipeError):
            raise
        raise cannot_write_error(error) from None


def cannot_write_error(error: OSError) -> CannotWrite:
    """Return the error of an output that has no room."""
    reason = error.strerror or type(error).__name__
    return CannotWrite(
        f"The output cannot be written: {reason}.", "Free space, or write it elsewhere."
    )


def discard_buffer(stream: TextIO) -> None:
    """Discard what a stream still holds, since Python would try to write it again at exit."""
    with suppress(OSError, ValueError):  # not every stream is a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def ledger_line(ledger: Path | None) -> Line:
    """Return the line that says where promises about a table are added up."""
    nowhere = "none; --ledger FILE records and adds up what is promised about a table"
    return Line("Ledger", nowhere if ledger is None else str(ledger), is_literal=True)


def print_for_holder(lines: Sequence[str], *, quiet: bool) -> None:
    """Print lines on standard error if it is a terminal, since files may be passed on."""
    if lines and not quiet and sys.stderr.isatty():
        alone = "This is for you only: it is in no file that may be published."
        write_text(render_text(Line("Yours", " ".join([*lines, alone])), stderr=True), sys.stderr)


@dataclass(frozen=True)
class Output:
    """The output of one run."""

    json: bool = False
    quiet: bool = False

    def result(self, values: Mapping[str, Any], *parts: "Part") -> None:
        """Print the outcome: the values with ``--json``, else the lines and tables.

        Plain text is printed as it is, so that a path stays in one piece.
        """
        if self.json:
            write_text(json_text(values))
        elif not self.quiet:
            write_text(render_text(*parts))

    def note(self, text: str) -> None:
        """Print what should be known before the work begins, on standard error, unless quiet."""
        if not self.quiet:
            write_text(render_text(Line("Note", text), stderr=True), sys.stderr)

    @contextmanager
    def progress(self, steps: int) -> Iterator[Progress]:
        """Yield the steps of a job: shown by a bar on a terminal, or written to SHOAL_PROGRESS."""
        if path := os.environ.get(PROGRESS_FILE):
            yield Progress(ProgressFile(path), steps)
            return
        if self.json or self.quiet or not sys.stderr.isatty():
            yield Progress(steps=steps)
            return
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}", markup=False), BarColumn(bar_width=24)
        with Bar(*columns, console=console(stderr=True), transient=True) as bar:
            task = bar.add_task(FIRST_STEP, total=steps)
            yield Progress(TerminalBar(bar, task), steps)


@dataclass(frozen=True)
class TerminalBar:
    """A sink for progress: a bar of rich, which vanishes at the end."""

    bar: Any
    task: Any

    def show(self, state: State) -> None:
        """Show the text of the step, and how many steps are done."""
        self.bar.update(self.task, description=state.text, completed=state.done)

    def show_spent(self, epsilon: str) -> None:
        """Show nothing: what was spent is said at the end."""


def check_page(output: Path | None, overwrite: bool, example: str) -> None:
    """Refuse a file that cannot be written, before anything is computed for it."""
    if output is None:
        return
    if output.suffix not in (".html", ".json"):
        raise InvalidSetting(
            f"{output.name} must end in .html or .json.",
            f"E.g. -o {example}.",
            setting="--output",
        )
    if not overwrite and os.path.lexists(output):
        raise AlreadyExists(f"{output} exists already.", "Choose another name, or add --overwrite.")


def show_verdicts(
    page: "VerdictPage", say: Output, output: Path | None, *, overwrite: bool, private: bool
) -> None:
    """Print verdicts, and write the page or its values if a file is named.

    Parameters
    ----------
    output
        The file, if one is wanted; its ending says whether it holds the page or the values.
    """
    values = {**page.values, "file": None if output is None else str(output)}
    if output is None:
        say.result(values, *page.lines)
        return
    write_page(page, output, values, overwrite=overwrite, private=private)
    say.result(values, *page.lines, Line("File", str(output), is_literal=True))


def write_page(
    page: "VerdictPage", output: Path, values: Mapping[str, Any], *, overwrite: bool, private: bool
) -> None:
    """Write the page or its values, completely or not at all.

    Parameters
    ----------
    output
        The file; its ending says whether page or values are wanted.
    """
    from shoal.files import atomic_file, private_file
    from shoal.pages import verdict_page

    as_json = output.suffix == ".json"
    text = json_text(values) if as_json else ""
    with atomic_file(output, overwrite) as part:
        if private:
            private_file(part)
        part.write_text(text or verdict_page(page.verdicts), encoding="utf-8", newline="\n")
