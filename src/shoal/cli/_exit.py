"""End a run: turn whatever was raised into a message, a JSON document and an exit code."""

import errno
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from shoal.cli._flags import Flags
from shoal.cli._output import cannot_write_error, discard_buffer, render_text, write_text
from shoal.cli.start import STOPPED, TERMINATED
from shoal.documents import json_text
from shoal.errors import CannotWrite, ShoalError
from shoal.figures.text import replace_controls

A_BUG = 70
NOBODY_READS = 141  # 128 + SIGPIPE, by the convention of shells
PACKAGE = Path(__file__).parents[1]
_MOVED = {
    ("shoal cluster", "--local"): "To learn groups from reports, use: shoal learn REPORTS -k 5.",
}
_NO_HANDLES = {errno.EMFILE, errno.ENFILE}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class Ending(NamedTuple):
    """An error as it is shown: the message, the hint and the exit code.

    Parameters
    ----------
    setting
        The flag that is wrong, if it is known.
    reason
        The case within the class, if there are several.
    """

    name: str
    message: str
    hint: str
    code: int
    setting: str | None = None
    reason: str | None = None


def report_error(error: BaseException, as_json: bool) -> int:
    """Print what went wrong to standard error, and a document if asked; never raises.

    Returns
    -------
    The exit code.
    """
    ending = _out_of_files(error) if _is_out_of_files(error) else _ending(error)
    if not ending.message:
        return ending.code
    with suppress(OSError, CannotWrite):
        if os.environ.get("SHOAL_DEBUG", "") not in ("", "0"):
            write_text("".join(traceback.format_exception(error)), sys.stderr)
        write_text(_error_text(ending), sys.stderr)
    with suppress(OSError, CannotWrite):
        if as_json:
            write_text(json_text(_document(ending)))
    return ending.code


def _document(ending: Ending) -> dict[str, object]:
    """Return what scripts read: ``setting`` is the wrong flag, ``reason`` the case of a class."""
    document: dict[str, object] = {
        "error": ending.name,
        "message": ending.message,
        "hint": ending.hint,
        "exit_code": ending.code,
    }
    facts = {"setting": ending.setting, "reason": ending.reason}
    return document | {name: fact for name, fact in facts.items() if fact is not None}


def flush_output(code: int) -> int:
    """Return the exit code once all output is written, which a full disk may still prevent."""
    try:
        sys.stdout.flush()
    except OSError as error:
        discard_buffer(sys.stdout)
        return code or report_error(error, as_json=False)
    return code


def _error_text(ending: Ending) -> str:
    from rich.text import Text

    title = [Text.assemble((f"{ending.name}: ", "bold red"), replace_controls(ending.message))]
    return render_text(*title, *filter(None, [replace_controls(ending.hint)]), stderr=True)


def _ending(error: BaseException) -> Ending:
    match error:
        case ShoalError():
            return _refusal(Flags().error(error))
        case KeyboardInterrupt():
            return Ending("Stopped", "nothing half-written was left.", "", STOPPED)
        case SystemExit() if error.code == TERMINATED:
            return Ending("Stopped", "nothing half-written was left.", "", TERMINATED)
        case BrokenPipeError() | SystemExit():  # rich and typer leave so when nobody reads on
            return Ending("", "", "", NOBODY_READS)
        case OSError() if error.errno in _FULL:
            return _ending(cannot_write_error(error))
    return _wrong_use(error) if hasattr(error, "format_message") else _bug(error)


def _stop_before(error: BaseException) -> BaseException | None:
    """Return the signal during whose clean-up this was raised, as by a Spark that ends as well."""
    before = error.__cause__ or error.__context__
    while before is not None:
        if isinstance(before, KeyboardInterrupt):
            return before
        if isinstance(before, SystemExit) and before.code == TERMINATED:
            return before
        before = before.__cause__ or before.__context__
    return None


def _is_out_of_files(error: BaseException | None) -> bool:
    """Whether it arose from the limit on open files, however it was reported since."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_HANDLES:
            return True
        error = error.__cause__ or error.__context__
    return False


def _out_of_files(error: BaseException) -> Ending:
    """Keep what a refusal says of the budget."""
    spent = f" {error.hint}" if isinstance(error, ShoalError) else ""
    return Ending(
        "TooManyOpenFiles",
        "This needs more files at once than the process may have open.",
        f"Raise the limit, e.g. `ulimit -n 1024`, and run it again.{spent}",
        2,
    )


def _refusal(error: ShoalError) -> Ending:
    name = type(error).__name__
    return Ending(name, error.message, error.hint, error.exit_code, error.setting, error.reason)


def _wrong_use(error: BaseException) -> Ending:
    """Return the ending of an unknown option or a missing argument, as typer found it."""
    if type(error).__name__ == "NoArgsIsHelpError":  # the help was shown, which says enough
        return Ending("", "", "", 2)
    context = getattr(error, "ctx", None)
    verb = context.command_path if context else "shoal"
    message = error.format_message()  # type: ignore[attr-defined]
    moved = _MOVED.get((verb, getattr(error, "option_name", "")))
    return Ending(type(error).__name__, message, moved or f"Try {verb} --help.", 2)


def _bug(error: BaseException) -> Ending:
    """Return the ending of a bug: where it arose, not its message, which may quote a row.

    What fails while a stopped run cleans up is none.
    """
    if (stop := _stop_before(error)) is not None:
        return _ending(stop)
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    place = "shoal"
    if ours:
        place = f"{Path(ours[-1].filename).relative_to(PACKAGE)}, line {ours[-1].lineno}"
    return Ending(
        "Bug",
        f"{type(error).__name__} at {place}. Its message is left out because it could quote a row.",
        "Please report it. SHOAL_DEBUG=1 shows the message and the traceback, for you only.",
        A_BUG,
    )
