"""Output of every verb: text for people, one JSON document for scripts, progress for terminals.

Results go to standard output; errors and progress go to standard error, and progress only to a
terminal. Text from files is cleaned of control characters, which could rewrite a screen. The lines
and tables of a ``pages.Page`` are rendered here; verdicts are written to a page or a document.
"""

import json
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.figures.text import replace_controls
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from shoal.pages.page import VerdictPage

    Part = Line | Table | RenderableType

__all__ = [
    "Output",
    "Progress",
    "cannot_write_error",
    "check_page",
    "console",
    "discard_buffer",
    "ledger_line",
    "render_text",
    "renderable",
    "show_verdicts",
    "write_page",
    "write_text",
]

LABEL_WIDTH = 10


def console(stderr: bool = False) -> "Console":
    """A console that prints text as it is: no markup, no guessed colours."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def render_text(*parts: "Part", stderr: bool = False) -> str:
    """What a console prints of these parts, with its colours; text runs on, tables fit."""
    from rich.text import Text

    out = console(stderr)
    with out.capture() as captured:
        for part in map(renderable, parts):
            out.print(part, soft_wrap=isinstance(part, str | Text))
    return captured.get()


def renderable(part: "Part") -> "RenderableType":
    """A line or a table of a page as rich shows it; anything else as it is."""
    if isinstance(part, Line):
        return _line_text(part)
    return _terminal_table(part) if isinstance(part, Table) else part


def _line_text(line: Line) -> "Text":
    """A label and its sentence, folded beside it unless it is there to be copied."""
    from rich.text import Text

    width = sys.maxsize if line.is_literal else min(console().width, 100) - LABEL_WIDTH
    folded = textwrap.wrap(replace_controls(line.text), max(width, 20)) or [""]
    text = Text(line.label.ljust(LABEL_WIDTH), style="bold")
    return text.append(Text(f"\n{' ' * LABEL_WIDTH}".join(folded), style="not bold"))


def _terminal_table(table: Table) -> "RenderableType":
    """A table for terminals; marked rows stand under the sentences and go by their number."""
    from rich.table import Table as RichTable

    indent = [" " * (LABEL_WIDTH - 2)] if table.marked else []
    left = {"", table.columns[0], *table.left}
    shown = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (*("" for _ in indent), *map(replace_controls, table.columns)):
        shown.add_column(name, justify="left" if name in left else "right", overflow="fold")
    for first, *cells in table.rows:
        number = first.removeprefix(f"{table.columns[0]} ") if table.marked else first
        shown.add_row(*indent, number, *cells)
    return shown


def write_text(text: str, stream: TextIO | None = None) -> None:
    """Write to standard output, or another stream, to the last letter.

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
    """The error of an output that has no room."""
    reason = error.strerror or type(error).__name__
    return CannotWrite(
        f"The output cannot be written: {reason}.", "Make room, or send it to another place."
    )


def discard_buffer(stream: TextIO) -> None:
    """Drop what a stream still holds: at exit Python would try, and fail, to write it again."""
    with suppress(OSError, ValueError):  # not every stream is a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def ledger_line(ledger: Path | None) -> Line:
    """Where promises about a table are added up."""
    nowhere = "nowhere; --ledger FILE adds up what is promised about a table"
    return Line("Ledger", nowhere if ledger is None else str(ledger), is_literal=True)


@dataclass(frozen=True)
class Output:
    """What one run prints, and where."""

    json: bool = False
    quiet: bool = False

    def result(self, values: Mapping[str, Any], *parts: "Part") -> None:
        """The outcome: the values with ``--json``, else the lines and tables, or nothing if quiet.

        Plain text is printed as it is, so that a path stays in one piece.
        """
        if self.json:
            write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n")
        elif not self.quiet:
            write_text(render_text(*parts))

    @contextmanager
    def progress(self, steps: int) -> Iterator["Progress"]:
        """A bar over ``steps`` named steps; it vanishes at the end, and off a terminal."""
        if self.json or self.quiet or not sys.stderr.isatty():
            yield Progress()
            return
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}", markup=False), BarColumn(bar_width=24)
        with Bar(*columns, console=console(stderr=True), transient=True) as bar:
            yield Progress(bar, bar.add_task("", total=steps))


@dataclass(frozen=True)
class Progress:
    """Names the step under way, where anybody is watching."""

    bar: Any = None
    task: Any = None

    def step(self, name: str) -> None:
        """Begin the next step."""
        if self.bar is not None:
            begun = bool(self.bar.tasks[0].description)
            self.bar.update(self.task, description=name, completed=self._done + begun)

    def part(self, name: str, share: float) -> None:
        """How far the step under way is, from 0 to 1, and what it is at."""
        if self.bar is not None:
            self.bar.update(self.task, completed=self._done + min(share, 0.99))

    @property
    def _done(self) -> int:
        return int(self.bar.tasks[0].completed)


def check_page(output: Path | None, overwrite: bool, example: str) -> None:
    """Refuse a name that cannot be written to, before anything is computed for it."""
    if output is None:
        return
    if output.suffix not in (".html", ".json"):
        raise InvalidSetting(
            f"{output.name} ends in neither .html nor .json.",
            f"E.g. -o {example}.",
            setting="--output",
        )
    if not overwrite and os.path.lexists(output):
        raise AlreadyExists(f"{output} exists already.", "Choose another name, or add --overwrite.")


def show_verdicts(
    page: "VerdictPage", say: Output, output: Path | None, *, overwrite: bool, private: bool
) -> None:
    """Write the page or its values, whole or not at all, if a file is named; and print them.

    Parameters
    ----------
    page
        What was found.
    say
        Where it is printed.
    output
        The file, if one is wanted; its ending says whether it holds the page or the values.
    overwrite
        Whether an older file may be replaced.
    private
        Whether only its owner may read the file.
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
    """Write the page or its values, whole or not at all.

    Parameters
    ----------
    page
        Content of an HTML file.
    output
        The file; its ending says whether page or values are wanted.
    values
        Content of a JSON file.
    overwrite
        Whether an older file may be replaced.
    private
        Whether only its owner may read the file.
    """
    from shoal.files import atomic_file
    from shoal.report import verdict_page
    from shoal.scratch import private_file

    as_json = output.suffix == ".json"
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n" if as_json else ""
    with atomic_file(output, overwrite) as part:
        if private:
            private_file(part)
        part.write_text(text or verdict_page(page.verdicts), encoding="utf-8", newline="\n")
