"""What the library says to programs, said to people at a terminal; and what a failure has cost."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from shoal.cli.output import put
from shoal.errors import BadInput, CannotWrite, NotFinite, OutsideDomain, ShoalError

__all__ = ["in_words", "saying_what_is_spent"]

PHRASES = {
    "Use Box.geo(latitude=..., longitude=...)": "Write `geo: {latitude: ..., longitude: ...}` in "
    "the domain's file",
    "Use clamp(box) on plain reports": "Use --remap clamp with --mechanism nd-laplace",
    "overwrite it": "replace it with --overwrite",
    "clip=True": "--clip",
    "scale=(10, 0.5)": "--scale 10,0.5",
    "scale=(...)": "--scale",
    "scale='box'": "--scale box",
    "lattice=0.001": "--lattice 0.001",
    "epsilon=1.0": "--epsilon 1",
    "Use NDLaplace, or choose the columns": "Use --mechanism nd-laplace, or choose --columns",
    "Give each column a SquareWave of its own": "Choose one with --columns, or run once for each",
}
_SPENT = "The ledger keeps this promise as spent."
_AGAIN = " Run the same command again: it goes on without a new payment."


@contextmanager
def in_words() -> Iterator[None]:
    """Errors with a next step for the command line."""
    try:
        yield
    except OutsideDomain as error:
        raise OutsideDomain(
            error.message, "Widen the bounds by public knowledge, or move such rows with --clip."
        ) from None
    except NotFinite as error:
        raise NotFinite(error.message, "Fill those values, or remove the rows.") from None
    except BadInput as error:
        raise type(error)(_said(error.message), _said(error.hint)) from None


@contextmanager
def saying_what_is_spent(spent: Callable[[], bool], resumable: bool = False) -> Iterator[None]:
    """Failures say so if the budget is spent, and whether the same command goes on from there."""
    said = _SPENT + _AGAIN * resumable
    try:
        yield
    except ShoalError as error:
        if spent():
            raise type(error)(error.message, f"{error.hint} {said}") from None
        raise
    except BaseException:  # Ctrl-C, SIGTERM, a bug: how those end is told elsewhere
        if spent():
            with suppress(OSError, CannotWrite):
                put(f"{said}\n", sys.stderr)
        raise


def _said(words: str) -> str:
    for phrase, plain in PHRASES.items():
        words = words.replace(phrase, plain)
    return words
