"""What estimators say to programs, said to people at a terminal."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.errors import BadInput, NotFinite

__all__ = ["in_words"]

PHRASES = {
    "overwrite it": "replace it with --overwrite",
    "max_rows_per_person=5": "--max-rows-per-person 5",
    'entity="student_id"': "--entity student_id",
    "max_rows_per_person": "--max-rows-per-person",
    "n_public=500": "--n-public 500",
    "n_public": "--n-public",
    "epsilon=1.0": "--epsilon 1",
    "delta=1e-8": "--delta 1e-8",
    'method="auto" with refine=True': "--method kmeans",
    'method="auto"': "--method kmeans",
    "n_clusters=8": "-k 8",
    "n_clusters=range(2, 21)": "-k 2-20",
    ", here or in the schema; or leave entity out": ", here or in the domain's file; or leave "
    "--entity out",
}

SETTINGS = re.compile(r"\b(selector|wavelet|level|cells)=[\"']?([\w.]+)[\"']?")
VARIANTS = re.compile(r"\bmethod=[\"'](block|privqt|privthr|privthrem|baseline)[\"']")


@contextmanager
def in_words() -> Iterator[None]:
    """Errors with a next step for the command line."""
    try:
        yield
    except NotFinite as error:
        raise NotFinite(
            error.message, "Fill those values, remove the rows, or leave them out with --drop."
        ) from None
    except BadInput as error:
        raise type(error)(_said(error.message), _said(error.hint)) from None


def _said(words: str) -> str:
    for phrase, plain in PHRASES.items():
        words = words.replace(phrase, plain)
    return SETTINGS.sub(r"--\1 \2", VARIANTS.sub(r"--variant \1", words))
