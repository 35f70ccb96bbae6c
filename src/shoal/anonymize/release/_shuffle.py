"""Put any number of rows in random order, by dealing them into piles and shuffling each."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.files import private_file, scratch
from shoal.randomness import NoiseStream

_PILE_BYTES = 64 << 20
_MOST_PILES = 256
_BATCH_ROWS = 1 << 18


def shuffle_rows(
    batches: Iterable[pa.RecordBatch], rows: int, rng: NoiseStream
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all batches in random order; every order is equally likely.

    Each row is dealt to a pile at random; then each pile, small enough for memory, is shuffled.
    That is a sort by random keys whose first digits are the piles, without the sorting.

    Parameters
    ----------
    batches
        All of one schema; all are taken before the first row comes out.
    rng
        A noise stream: whoever can guess the order can undo it.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> batch = pa.record_batch({"x": [1, 2, 3, 4, 5]})
    >>> [b["x"].to_pylist() for b in shuffle_rows([batch], 5, Randomness(7).noise)]
    [[5, 4, 1, 3, 2]]
    """
    coming = iter(batches)
    first = next(coming, None)
    if first is None:
        return
    size = rows * first.nbytes // max(first.num_rows, 1)
    piles = min(size // _PILE_BYTES + 1, _MOST_PILES)
    if piles == 1:
        yield from _drawn(pa.Table.from_batches(chain([first], coming)), rng)
        return
    with scratch() as folder:
        files = [private_file(folder / f"{pile}.arrow") for pile in range(piles)]
        _deal(chain([first], coming), first.schema, files, rng)
        for file in files:
            with pa.OSFile(str(file)) as opened, pa.ipc.open_stream(opened) as reader:
                yield from _drawn(reader.read_all(), rng)
            file.unlink()


def _deal(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, files: list[Path], rng: NoiseStream
) -> None:
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                pa.ipc.new_stream(stack.enter_context(pa.OSFile(str(f), "wb")), schema)
            )
            for f in files
        ]
        for batch in batches:
            pile = rng.integers(
                len(files), size=batch.num_rows, dtype=np.uint8 if len(files) < 256 else np.uint16
            )
            sorted_rows = batch.take(pa.array(np.argsort(pile, kind="stable")))
            sizes = np.bincount(pile, minlength=len(files))
            for writer, start, size in zip(writers, np.cumsum(sizes) - sizes, sizes, strict=True):
                if size:
                    writer.write_batch(sorted_rows.slice(start, size))


def _drawn(pile: pa.Table, rng: NoiseStream) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a pile in random order."""
    order = np.arange(pile.num_rows, dtype=np.uint32)  # half the memory of whole words
    rng.shuffle(order)
    whole = pile.combine_chunks()
    for start in range(0, len(order), _BATCH_ROWS):
        part = whole.take(pa.array(order[start : start + _BATCH_ROWS]))
        yield from part.combine_chunks().to_batches()
