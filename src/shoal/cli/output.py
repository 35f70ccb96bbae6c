"""How every verb speaks: text for people, one JSON document for scripts, progress for terminals.

Results go to standard output; errors and progress go to standard error, and progress only to a
terminal. Words from files are cleaned of control characters, which could rewrite a screen.

Where verdicts are kept: a page or a document, checked before the work and written after it.
"""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.figures.text import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from shoal.report import Verdicts

__all__ = [
    "Json",
    "Output",
    "Progress",
    "Publisher",
    "Quiet",
    "Seed",
    "Title",
    "check_page",
    "console",
    "entry",
    "in_print",
    "mute",
    "put",
    "unwritten",
    "write_page",
]

_LABEL = 10

Json = Annotated[
    bool,
    typer.Option("--json", envvar="SHOAL_JSON", help="Print one JSON document instead of text."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", envvar="SHOAL_QUIET", help="Print nothing but errors."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        envvar="SHOAL_SEED",
        help="Repeatable noise: a simulation, which protects nobody.",
        show_default=False,
    ),
]
Title = Annotated[
    str | None, typer.Option(envvar="SHOAL_TITLE", help="Heading of the page.", show_default=False)
]
Publisher = Annotated[
    str | None,
    typer.Option(envvar="SHOAL_PUBLISHER", help="Who publishes it.", show_default=False),
]


def console(stderr: bool = False) -> "Console":
    """A console that leaves words as they are: no markup, no guessed colours."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def in_print(*parts: "RenderableType", stderr: bool = False) -> str:
    """What a console prints of these parts, with its colours; words run on, tables fit."""
    from rich.text import Text

    out = console(stderr)
    with out.capture() as shown:
        for part in parts:
            out.print(part, soft_wrap=isinstance(part, str | Text))
    return shown.get()


def put(text: str, stream: TextIO | None = None) -> None:
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
        mute(out)
        if isinstance(error, BrokenPipeError):
            raise
        raise unwritten(error) from None


def unwritten(error: OSError) -> CannotWrite:
    """The error of an output that has no room."""
    reason = error.strerror or type(error).__name__
    return CannotWrite(
        f"The output cannot be written: {reason}.", "Make room, or send it to another place."
    )


def mute(stream: TextIO) -> None:
    """Drop what a stream still holds: at exit Python would try, and fail, to write it again."""
    with suppress(OSError, ValueError):  # not every stream is a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def entry(label: str, words: str, wrap: bool = True) -> "Text":
    """A labelled paragraph: ``Found     About 10,012 students, ...``, folded beside its label.

    Not folded without ``wrap``: a path or a command is there to be copied.
    """
    from rich.text import Text

    width = min(console().width, 100) - _LABEL if wrap else sys.maxsize
    lines = textwrap.wrap(clean(words), max(width, 20)) or [""]
    text = Text(label.ljust(_LABEL), style="bold")
    return text.append(Text(f"\n{' ' * _LABEL}".join(lines), style="not bold"))


@dataclass(frozen=True)
class Output:
    """What one run prints, and where."""

    json: bool = False
    quiet: bool = False

    def result(self, document: Mapping[str, Any], *text: "RenderableType") -> None:
        """The outcome: the document with ``--json``, else the text, or nothing if quiet.

        Plain text is printed as it is, so that a path stays in one piece.
        """
        if self.json:
            put(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        elif not self.quiet:
            put(in_print(*text))

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

    def step(self, words: str) -> None:
        """Begin the next step."""
        if self.bar is not None:
            begun = bool(self.bar.tasks[0].description)
            self.bar.update(self.task, description=words, completed=self._done + begun)

    def part(self, words: str, share: float) -> None:
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


def write_page(
    output: Path,
    overwrite: bool,
    *,
    document: Mapping[str, Any],
    page: Callable[[], "Verdicts"],
    for_the_holder: bool,
) -> None:
    """Write the page or the document, whole or not at all.

    Parameters
    ----------
    output, overwrite
        The file; its ending says which of the two is wanted.
    document, page
        Values for JSON; what makes the page.
    for_the_holder
        Whether only its owner may read the file.
    """
    from shoal.engine.scratch import private_file
    from shoal.files import whole_file
    from shoal.report import verdict_page

    as_json = output.suffix == ".json"
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n" if as_json else ""
    with whole_file(output, overwrite) as part:
        if for_the_holder:
            private_file(part)
        part.write_text(text or verdict_page(page()), encoding="utf-8", newline="\n")
