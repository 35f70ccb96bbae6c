"""Write the release: each row under the labels of its class, in random order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._policy import Policy
from shoal.anonymize.codec import Codec, published_cells, published_places
from shoal.anonymize.equivalence_classes import Classes, RowLookup, number_classes
from shoal.anonymize.release._pseudonyms import keys_of, pseudonyms
from shoal.anonymize.release._shuffle import shuffle_rows
from shoal.anonymize.release._transforms import (
    ReleaseSummary,
    carried_cells,
    cell_changes,
    needs_summary,
    summarise_release,
)
from shoal.anonymize.search._greedy_splits import find_violations
from shoal.anonymize.search_problem import Cut, Problem, SearchOutcome
from shoal.anonymize.table import QueriedTable
from shoal.arrays import Floats, Integers
from shoal.data.column_names import join_names
from shoal.data.csv_text import CSVText
from shoal.data.encode import encode_owners
from shoal.engine.duckdb import OWNER
from shoal.engine.local import map_ahead
from shoal.errors import CannotWrite, UnreadableTable
from shoal.randomness import NoiseStream

CLASS = "class"
_BATCH_ROWS = 1 << 18
_FORMATS = (".parquet", ".csv", ".csv.gz")
Ids = NDArray[np.int32]
Finder = Callable[[pa.RecordBatch], Ids]


@dataclass(frozen=True, eq=False)
class Release:
    """The labels under which each line is published, and which lines are not.

    Parameters
    ----------
    labels
        int32 (F, d): places of nodes; the roots for a starred line, nothing for a suppressed one.
    suppressed
        bool (F,): lines that are not published.
    starred
        bool (F,): lines that are published under ``*`` alone.
    cut
        The cut all other lines share; ``None`` with local recoding.
    """

    labels: NDArray[np.int32]
    suppressed: NDArray[np.bool_]
    starred: NDArray[np.bool_]
    cut: Cut | None

    def classes(self) -> Classes:
        """Return the classes of the published lines."""
        return number_classes(self.labels, self.suppressed)


def release_of(problem: Problem, outcome: SearchOutcome, star: bool) -> Release:
    """Return the release of an outcome.

    Starred rows are a combination of labels like any other, so they stay only if all classes keep
    k, l and t with them; else they are dropped.

    Parameters
    ----------
    star
        Whether suppressed lines stay as rows of ``*``.
    """
    nobody = np.zeros_like(outcome.suppressed)
    dropped = Release(outcome.labels, outcome.suppressed, nobody, outcome.cut)
    if not star or not outcome.suppressed.any():
        return dropped
    labels = np.where(outcome.suppressed[:, None], 0, outcome.labels).astype(np.int32)
    starred = Release(labels, nobody, outcome.suppressed, outcome.cut)
    keeps_rules = not find_violations(problem, starred.classes()).any()
    return starred if keeps_rules else dropped


class ReleasePart(NamedTuple):
    """Some rows of the release and, if people are counted, whose each row is."""

    rows: pa.RecordBatch
    owners: pa.Array | None


def write_release(parts: Iterator[ReleasePart], path: Path, owners_path: Path) -> None:
    """Write all rows to one file, and whose they are, in the same order, to another.

    The second file is for the check only; the release itself does not say whose a row is.
    """
    first = next(parts)
    with ExitStack() as stack:
        write = stack.enter_context(_writer(path, first.rows.schema))
        note = None
        if first.owners is not None:
            schema = pa.schema([(OWNER, pa.string())])
            note = stack.enter_context(pq.ParquetWriter(owners_path, schema))
        part: ReleasePart | None = first
        while part is not None:
            write(part.rows)
            if note is not None:
                note.write(pa.record_batch([part.owners], names=[OWNER]))
            part = next(parts, None)


def parts_of(
    policy: Policy,
    table: QueriedTable,
    frequency: FrequencyTable,
    release: Release,
    rng: NoiseStream,
) -> Iterator[ReleasePart]:
    """Yield the rows of the release in random order, reading the table in one pass.

    If nothing but quasi-identifiers is published, the frequency table knows all there is to
    write, and the table is not read again.

    Parameters
    ----------
    rng
        The noise stream: the order of the rows must not be guessed.
    """
    plan = ReleasePlan(policy, table.names, frequency, release)
    if needs_summary(policy):
        read = iter(table.batches(table.names))
        summary = summarise_release(policy, read, plan.finder(), plan.size)
        plan = ReleasePlan(policy, table.names, frequency, release, summary)
    batches: Iterable[pa.RecordBatch]
    if plan.reads_rows:
        marked = map(plan.marking(), table.batches(table.names))
        batches = _of_one_type(marked, plan.columns.carried)
    else:
        batches = _from_lines(plan.of_line, frequency.problem.n)
    rows = int(frequency.problem.n[~release.suppressed].sum())
    yield from map_ahead(plan.columns.of, shuffle_rows(batches, rows, rng), threads=1)


class ReleasePlan:
    """What is needed to publish a row: its class, the columns it carries along, and its labels."""

    def __init__(
        self,
        policy: Policy,
        names: Sequence[str],
        frequency: FrequencyTable,
        release: Release,
        summary: ReleaseSummary | None = None,
    ) -> None:
        ids, size = release.classes()
        self.size, self._summary = size, summary
        self._policy, self._frequency, self._release = policy, frequency, release
        self._places = np.zeros((size, frequency.problem.d), dtype=np.int32)
        self._places[ids[ids >= 0]] = release.labels[ids >= 0]
        self._ids = ids.astype(np.int32)
        centres = {} if summary is None else summary.centres
        self.columns = ReleaseColumns(policy, names, frequency.codec, self._places, centres)
        self._shown_as = np.append(self.columns.shown_as, np.int32(-1))  # -1, nowhere, stays
        self.of_line: Ids = self._shown_as[ids]

    @property
    def quasi(self) -> list[str]:
        """The columns that determine a row's class."""
        return list(self._frequency.codec.hierarchies)

    @property
    def reads_rows(self) -> bool:
        """Whether more is published than the frequency table knows."""
        return bool(self.columns.carried) or self._policy.privacy.person is not None

    def marking(self) -> "RowMarker":
        """Return the kernel that marks rows with their class."""
        keys, person = keys_of(self._policy), self._policy.privacy.person
        find = _as_shown(self.finder(), self._shown_as)
        changes = cell_changes(self._policy, self._summary)
        return RowMarker(find, self.columns.carried, keys, person, changes)

    def finder(self) -> Finder:
        """Return the function that finds the class of each row, -1 if it is not published."""
        return _finder(self._frequency, self._release, self._ids, self._places)


@dataclass(frozen=True, eq=False)
class RowMarker:
    """A kernel that turns rows into published ones: class, carried columns, and owner."""

    finder: Finder
    carried: list[str]
    keys: dict[str, bytes] = field(repr=False)
    person: str | None
    changes: dict[str, Callable[[Any], Any]] = field(default_factory=dict, repr=False)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the class of each published row, and the columns it carries along."""
        classes = self.finder(batch)
        live = classes >= 0
        # Before anything is made of the cells, so that no other row has a say in them.
        rows = batch if live.all() else batch.filter(pa.array(live))
        arrays = {CLASS: pa.array(classes[live])}
        for i, name in enumerate(self.carried):
            cells = _carried(rows, name, self.keys.get(name))
            change = self.changes.get(name)
            arrays[f"c{i}"] = cells if change is None else change(cells)
        if self.person is not None:
            arrays[OWNER] = encode_owners(rows, self.person)
        return pa.record_batch(arrays)


def format_of(path: Path) -> str:
    """Return the format that a file's name stands for.

    Raises
    ------
    CannotWrite
        If there is none.
    """
    for ending in _FORMATS:
        if path.name.endswith(ending):
            return ending
    raise CannotWrite(
        f"{path.name} does not end like a format that releases are written in.",
        "Use a name that ends in .parquet, .csv or .csv.gz.",
    )


def _from_lines(of_line: Ids, n: Integers) -> Iterator[pa.RecordBatch]:
    """Yield the class of each published row, line after line."""
    live = of_line >= 0
    classes, until = of_line[live], np.cumsum(n[live])
    for start in range(0, int(until[-1]), _BATCH_ROWS):
        rows = np.arange(start, min(start + _BATCH_ROWS, int(until[-1])))
        rows_classes = classes[np.searchsorted(until, rows, side="right")]
        yield pa.record_batch([pa.array(rows_classes)], names=[CLASS])


def _of_one_type(
    batches: Iterable[pa.RecordBatch], carried: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield batches as they are; refuse a column that comes as two types, as files may have it."""
    first: pa.Schema | None = None
    for batch in batches:
        first = first or batch.schema
        unlike = [
            n for i, n in enumerate(carried) if batch[f"c{i}"].type != first.field(f"c{i}").type
        ]
        if unlike:
            raise UnreadableTable(
                f"Cells of {join_names(unlike)} have other types in some of the table's files.",
                "Write all files with the same types of columns, or as CSV.",
            )
        yield batch


def _carried(batch: pa.RecordBatch, name: str, key: bytes | None) -> pa.Array:
    if key is not None:
        return pseudonyms(name, encode_owners(batch, name), key)
    return carried_cells(batch, name)


def _finder(
    frequency: FrequencyTable, release: Release, of_line: Ids, places: NDArray[np.int32]
) -> Finder:
    """Return the function that finds a row's class: by the cut, or by its line."""
    if release.cut is None:
        return _by_line(frequency.codec, frequency.problem, of_line)
    star = of_line[release.starred][:1]
    otherwise = int(star[0]) if len(star) else -1
    return _by_cut(frequency.codec, frequency.problem, release, places, otherwise)


def _as_shown(find: Finder, shown_as: Ids) -> Finder:
    """Return a function that finds what a row's class is shown as."""

    def find_shown(batch: pa.RecordBatch) -> Ids:
        return shown_as[find(batch)]

    return find_shown


def _by_cut(
    codec: Codec, problem: Problem, release: Release, places: NDArray[np.int32], otherwise: int
) -> Finder:
    assert release.cut is not None
    trees = zip(problem.trees, release.cut.nodes, codec.hierarchies.values(), strict=True)
    cover = [
        # No leaf, and nothing, lead nowhere.
        np.append(published_places(codec.policy, hierarchy), -1)[
            np.append(tree.partition(nodes), [-1, -1])
        ]
        for tree, nodes, hierarchy in trees
    ]
    lookup = RowLookup(places)

    def find(batch: pa.RecordBatch) -> Ids:
        leaves = [codec.leaves(name, batch.column(name)) for name in codec.hierarchies]
        classes = lookup.find([of[leaf] for of, leaf in zip(cover, leaves, strict=True)])
        if otherwise >= 0:
            classes[classes < 0] = otherwise
        for leaf in leaves:  # a null that is to be suppressed is not starred
            if (leaf < 0).any():
                classes[leaf < 0] = -1
        return classes.astype(np.int32)

    return find


def _by_line(codec: Codec, problem: Problem, of_line: Ids) -> Finder:
    """Return a function that looks up a row's line; lines with equal QIDs have equal labels."""
    combination, size = number_classes(problem.codes)
    codes = np.empty((size, problem.d), dtype=np.int32)
    codes[combination] = problem.codes
    of_any = np.full(size + 1, -1, dtype=np.int32)
    of_any[combination] = of_line
    lookup = RowLookup(codes)

    def find(batch: pa.RecordBatch) -> Ids:
        leaves = [codec.leaves(name, batch.column(name)) for name in codec.hierarchies]
        classes: Ids = of_any[lookup.find(leaves)]
        return classes

    return find


class ReleaseColumns:
    """The columns of the release, in the table's order, built from classes and carried columns.

    ``by_name`` has for each published column its cell in each class; None where a row carries its
    own, in the order of ``carried``. Classes with equal cells are merged, such as a star and a null
    that are both shown as ``*``; ``shown_as`` maps each class to its merged one. They are numbered
    in the order of their cells, so that a number reveals no more than the cells.
    """

    def __init__(
        self,
        policy: Policy,
        names: Sequence[str],
        codec: Codec,
        places: NDArray[np.int32],
        centres: Mapping[str, Floats] = MappingProxyType({}),
    ) -> None:
        carried = {*policy.names("sensitive"), *policy.names("other"), *keys_of(policy)}
        self.carried = [name for name in names if name in carried]
        quasi = {name: q for q, name in enumerate(codec.hierarchies)}
        self.by_name: dict[str, Any] = {}
        for name in names:
            if name in carried:
                self.by_name[name] = None
            elif name in centres:
                numbers = centres[name]
                self.by_name[name] = pa.array(numbers, mask=np.isnan(numbers))
            elif name in quasi:
                cells = published_cells(policy, name, codec.hierarchies[name])
                for column, by_place in cells.items():
                    self.by_name[column] = by_place.take(pa.array(places[:, quasi[name]]))
        self.shown_as = self._with_equal_merged()

    def _with_equal_merged(self) -> Ids:
        """Merge classes that have equal cells; return what each class became."""
        by_class = {name: cells for name, cells in self.by_name.items() if cells is not None}
        ids, _ = number_classes(np.stack([_ranks(cells) for cells in by_class.values()], axis=1))
        first = pa.array(np.unique(ids, return_index=True)[1])
        self.by_name |= {name: _encoded(cells.take(first)) for name, cells in by_class.items()}
        return ids.astype(np.int32)

    def of(self, batch: pa.RecordBatch) -> ReleasePart:
        """Return the published columns of some rows, and whose they are.

        Parameters
        ----------
        batch
            Rows as ``RowMarker`` returns them.
        """
        ids, carried = batch[CLASS], (batch[f"c{i}"] for i in range(len(self.carried)))
        arrays = [
            next(carried) if by_class is None else by_class.take(ids)
            for by_class in self.by_name.values()
        ]
        rows = pa.record_batch(arrays, names=list(self.by_name))
        return ReleasePart(rows, batch[OWNER] if OWNER in batch.schema.names else None)


def _encoded(cells: Any) -> Any:
    """Encode text as a dictionary of the published labels only."""
    return cells.dictionary_encode() if pa.types.is_string(cells.type) else cells


def _ranks(cells: Any) -> Ids:
    """Return equal numbers for equal cells, in their order."""
    ranks: Ids = pc.rank(cells, tiebreaker="dense").to_numpy().astype(np.int32)
    return ranks


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    if format_of(path) == ".parquet":
        # Without Arrow's own schema: readers get plain text, not lists of categories. Without
        # statistics, which take a third of the time and help no reader of shuffled rows.
        how = {"store_schema": False, "write_statistics": False}
        with pq.ParquetWriter(path, schema, **how) as parquet:
            yield parquet.write_batch
        return
    plain = pa.schema([(field.name, _plain(field.type)) for field in schema])
    refuse_unwritable(plain)
    compression = "gzip" if format_of(path) == ".csv.gz" else None
    with pa.output_stream(str(path), compression=compression) as stream:
        yield CSVText(stream, plain).write


def refuse_unwritable(schema: pa.Schema) -> None:
    """Refuse columns of lists or bytes, which CSV cannot hold."""
    names = [f.name for f in schema if pa.types.is_nested(f.type) or _is_bytes(f.type)]
    if names:
        raise CannotWrite(
            f"{join_names(names)} hold lists or bytes, which a CSV file cannot.",
            "Release it as .parquet, or turn them into text first.",
        )


def _is_bytes(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
