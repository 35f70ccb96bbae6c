"""Adult at any size: its complete rows drawn again, ages and a few other cells jittered."""

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.data import source_of

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "adult"
QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation", "income",
)  # fmt: skip
TRAIN_ROWS = 32_561
MOVED_AGES, MOVED_CELLS = 0.5, 0.003  # shares of the rows, and of the other cells
BATCH_ROWS = 1_000_000


def adult() -> pa.Table:
    """The complete rows of the train part, the nine quasi-identifiers."""
    table = pa.Table.from_batches(list(source_of(str(DATA / "adult.csv")).batches(QUASI)))
    train = table.slice(0, TRAIN_ROWS)
    known = np.ones(len(train), dtype=bool)
    for column in train.columns:
        known &= ~np.isin(column.to_numpy(), ["", "?"])
    return train.filter(pa.array(known))


def write_rows(path: Path, rows: int, seed: int = 1) -> Path:
    """So many rows of jittered Adult as one Parquet file."""
    table, rng = adult(), np.random.default_rng(seed)
    columns = [column.combine_chunks().dictionary_encode() for column in table.columns]
    schema = pa.schema([(name, pa.string()) for name in QUASI])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, BATCH_ROWS):
            chosen = rng.integers(len(table), size=min(BATCH_ROWS, rows - start))
            arrays = [
                _jittered(name, c, chosen, rng) for name, c in zip(QUASI, columns, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))
    return path


def _jittered(
    name: str, column: pa.DictionaryArray, chosen: np.ndarray, rng: np.random.Generator
) -> pa.Array:
    codes = column.indices.to_numpy()
    if name == "age":
        ages = column.cast(pa.string()).cast(pa.int64()).to_numpy()[chosen]
        moved = rng.random(len(chosen)) < MOVED_AGES
        step = np.rint(rng.normal(0, 3, len(chosen))).astype(np.int64)
        return pa.array(np.clip(ages + moved * step, 17, 90)).cast(pa.string())
    moved = rng.random(len(chosen)) < MOVED_CELLS
    drawn = np.where(moved, codes[rng.integers(len(codes), size=len(chosen))], codes[chosen])
    return column.dictionary.take(pa.array(drawn))


if __name__ == "__main__":
    write_rows(Path(sys.argv[1]), int(sys.argv[2]))
