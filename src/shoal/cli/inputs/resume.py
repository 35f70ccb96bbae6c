"""Runs that are killed and started again: which of them are the same, and what people are told."""

import secrets
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.privacy import Ledger

__all__ = ["has_resumed", "is_same_again", "resumed_lines", "work_of"]

RESUMED = (
    "An earlier run of this command was stopped after it had paid. What it had released was used; "
    "nothing new was spent."
)


# Whose versions decide what is drawn: how files are cut in blocks, which of a person's rows is
# picked, what is computed between two releases.
_PARTS = ("shoal", "duckdb", "numpy", "pyarrow", "scikit-learn", "scipy")


def work_of(
    verb: str, table: str, on_spark: bool, seed: int | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """All that decides what a run releases: the table's files, settings, versions.

    Standard input and tables on Spark cannot be told to be the same, and seeded runs can simply be
    run again: their work is like no other.

    Parameters
    ----------
    verb
        Of the command.
    table
        As it was named.
    on_spark
        Whether Spark reads it.
    seed
        Of the noise, if it is a simulation.
    settings
        All others that decide what is released.
    """
    from shoal.data.files import files_at

    same = table != "-" and not on_spark and seed is None
    files: Any = files_at(table) if same else secrets.token_hex(16)
    versions = {part: version(part) for part in _PARTS}
    return {"verb": verb, "files": files, "versions": versions, **settings}


def is_same_again(work: Mapping[str, Any]) -> bool:
    """Whether the same command, given again, goes on with this run."""
    return not isinstance(work["files"], str)


def has_resumed(ledger: "Ledger") -> bool:
    """Whether an earlier run paid for this one."""
    return ledger.run is not None and ledger.run.resumed


def resumed_lines(resumed: bool) -> list[Line]:
    """A line for the terminal where an earlier run was gone on with."""
    return [Line("Resumed", RESUMED)] if resumed else []
