"""Recognise runs that were stopped and started again, and say what was spent."""

import hmac
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from shoal.errors import BoundsMissTheRows, RunChanged, ShoalError, setting
from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.privacy import Ledger


RESUMED = (
    "An earlier run of this command was stopped after it had spent budget. What it had released "
    "was used, and not paid for again."
)
_SPENT = "The ledger keeps what was paid so far as spent."
_AGAIN = " Run the same command again: it continues and pays for nothing twice."


# Packages whose versions decide what is drawn: how files are divided in blocks, which of a person's
# rows is picked, what is computed between two releases.
_VERSIONED = ("shoal", "duckdb", "numpy", "pyarrow", "scikit-learn", "scipy")


def work_description(
    verb: str,
    table: str,
    is_distributed: bool,
    seed: int | None,
    settings: Mapping[str, Any],
    stdin: Mapping[str, bytes] | None = None,
) -> dict[str, Any]:
    """Return all that decides what a run releases: the table's files, settings and versions.

    Tables on Spark cannot be compared, and seeded runs can simply be repeated, so their work equals
    no other. Standard input is compared by its content.

    Parameters
    ----------
    stdin
        By the path of the file that has it, the key to hash standard input under: kept beside the
        output and gone with the run, so that no hash of rows can be guessed at afterwards.
    """
    from shoal.data.files import files_at

    if is_distributed or seed is not None or (table == "-" and not stdin):
        files: Any = secrets.token_hex(16)
    elif table == "-":
        files = [["-", _keyed_hash(path, key)] for path, key in (stdin or {}).items()]
    else:
        files = files_at(table)
    versions = {part: version(part) for part in _VERSIONED}
    return {"verb": verb, "files": files, "versions": versions, **settings}


def _keyed_hash(path: str, key: bytes) -> str:
    keyed = hmac.new(key, digestmod="sha256")
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            keyed.update(part)
    return keyed.hexdigest()


def is_resumable(work: Mapping[str, Any]) -> bool:
    """Return whether the same command, given again, continues this run."""
    return not isinstance(work["files"], str)


def has_resumed(ledger: "Ledger") -> bool:
    """Return whether an earlier run paid for this one."""
    return ledger.run is not None and ledger.run.resumed


def resumed_lines(resumed: bool) -> list[Line]:
    """Return a line for the terminal if an earlier run was continued.

    Parameters
    ----------
    resumed
        Whether it was.
    """
    return [Line("Resumed", RESUMED)] if resumed else []


@contextmanager
def note_spending(is_spent: Callable[[], bool], resumable: bool = False) -> Iterator[None]:
    """Add to a failure within this context that the budget is spent, if it is.

    Parameters
    ----------
    is_spent
        Returns whether the ledger already holds the promise.
    resumable
        Whether the same command continues from there.
    """
    note = _SPENT + _AGAIN * resumable
    try:
        yield
    except BoundsMissTheRows as error:  # it says what was spent by itself
        again = "The same command with " + setting("clipping", "accept") + " pays the rest alone."
        raise (error.changed(hint=error.texts[1] + " " + again) if resumable else error) from None
    except ShoalError as error:
        if is_spent():
            own = _SPENT if isinstance(error, RunChanged) else note
            raise error.noted(own) from None
        raise
    except BaseException:  # Ctrl-C, SIGTERM, a bug: the end of the run is reported elsewhere
        if is_spent():
            with suppress(OSError):
                print(note, file=sys.stderr, flush=True)
        raise
