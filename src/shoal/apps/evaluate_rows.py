"""The rows a model is scored on, and their right groups, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data import source_of
from shoal.data.encode import numbers
from shoal.engine.sample import Sample
from shoal.errors import DimensionMismatch, NotFinite, TooFewRows, UnknownBounds

__all__ = ["Held", "held_of", "names_of"]


@dataclass(frozen=True, eq=False)
class Held:
    """Rows as the model wants them, their groups if a column holds them, how many there are."""

    model: Any
    rows: NDArray[np.float64]
    labels: NDArray[np.int64] | None
    n_rows: int


def names_of(model: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The table's columns in the model's order: as asked, else as its box names them."""
    box, d = model.domain, int(model.n_features_in_)
    if columns is None and box is None:
        raise UnknownBounds(
            "The model does not name its columns.", f"Name {d} of the table's with --columns."
        )
    names = tuple(box.names if columns is None else columns)
    if len(names) != d:
        raise DimensionMismatch(
            f"--columns names {len(names)} columns; the model has {d}.",
            "Name one for each of the model's, in its order.",
        )
    return names


def held_of(
    model: Any, source: str, names: Sequence[str], labels: str | None, most: int, seed: int
) -> Held:
    """A sample of the rows, each with its group."""
    sample, total, groups = Sample(most, np.random.default_rng(seed)), 0, _Groups()
    for batch in source_of(source).batches([*names, *([labels] if labels else [])]):
        rows = numbers(batch, names)
        if not np.isfinite(rows).all():
            raise NotFinite(
                "Some rows lack a number.", "Fill those values or remove the rows, then try again."
            )
        own = groups.codes(batch[labels]) if labels else np.zeros(batch.num_rows)
        sample.add(np.column_stack([rows, own]))
        total += batch.num_rows
    drawn = sample.rows(len(names) + 1)
    if len(drawn) < 2:
        raise TooFewRows(f"The table has {len(drawn)} rows.", "Score on two at least.")
    codes = drawn[:, -1].astype(np.int64) if labels else None
    return Held(model, np.ascontiguousarray(drawn[:, :-1]), codes, total)


class _Groups:
    """Numbers for the groups' names, in the order they come; a missing one, or -1, is no group."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def codes(self, column: pa.Array) -> NDArray[np.float64]:
        words = column.cast(pa.string()).to_pylist()
        return np.array([self._code(word) for word in words], dtype=np.float64)

    def _code(self, word: str | None) -> int:
        if word is None or word.strip() in ("", "-1"):
            return -1
        return self._known.setdefault(word.strip(), len(self._known))
