"""Run a policy on Spark: the table is counted, written and recounted by the cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._policy import Policy
from shoal.anonymize.release._manifest import (
    find_label_places,
    manifest_of,
    manifest_text,
    mapping_text,
)
from shoal.anonymize.release._people_register import KnownPeople, stage_register
from shoal.anonymize.release._result import Pages, Paths, RunResult, WrittenRelease
from shoal.anonymize.release._writer import Release, format_of, release_of
from shoal.anonymize.risk._recount import AchievedPrivacy, recount, refuse_broken
from shoal.anonymize.search._run_search import Progress
from shoal.anonymize.search_problem import SearchOutcome
from shoal.anonymize.spark._frame import SPARK_OWNER, released_frame, sort_by_content
from shoal.anonymize.spark._search import find_outcome_on_spark
from shoal.engine.spark import (
    SparkTable,
    check_no_pattern,
    digest_of,
    files_of,
    hidden_name_beside,
    is_at_or_below,
    translate_errors,
    uri_of,
)
from shoal.errors import AlreadyExists, CannotWrite, InvalidPolicy, setting
from shoal.files import file_set

# As in RFC 4180; blanks belong to their cells.
_CSV = {
    "header": True,
    "escape": '"',
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
}
# Rows come in no order that the least and greatest values of a page would help to read.
_PARQUET = {"parquet.column.statistics.enabled": False, "parquet.size.statistics.enabled": False}
_FILE_ROWS = 4_000_000


def release_on_spark(
    policy: Policy, table: SparkTable, frequency: FrequencyTable, outcome: SearchOutcome
) -> Any:
    """Return the release of an outcome as a Spark frame that was recounted.

    It is checkpointed on the executors, so that what is returned is what was counted.
    """
    release = release_of(frequency.problem, outcome, policy.output.suppressed == "star")
    with translate_errors("releasing rows"):
        frame = released_frame(policy, table, frequency, release).localCheckpoint()
    known = SparkTable(frame, table.collect_limit)
    achieved = _recount_written(policy, known, frequency, release)
    if SPARK_OWNER not in frame.columns:
        return frame
    return sort_by_content(frame.drop(SPARK_OWNER), achieved.rows)


class SparkRun:
    """One run of a policy on Spark; problems are raised here before any row is read."""

    def __init__(
        self,
        policy: Policy,
        table: SparkTable,
        pages: Pages | None,
        overwrite: bool,
        people: KnownPeople,
    ) -> None:
        self._policy, self._table, self._pages = policy, table, pages
        self._people, self._overwrite = people, overwrite
        self._files = files_of(table.session)
        self._kind = format_of(Path(self._uris["table"]))
        self._refuse_taken(overwrite)
        self._refuse_nested()

    def finished(self, cut: Any, progress: Progress | None) -> RunResult:
        """Search or apply a cut, write, recount, and only then give the files their names."""
        policy = self._policy
        frequency, outcome = find_outcome_on_spark(policy, self._table, cut, progress)
        people = self._people.joined_by(self._table)
        release = release_of(frequency.problem, outcome, policy.output.suppressed == "star")
        with self._private_folder() as folder:
            written, achieved = self._write_checked(frequency, release, folder)
            produced = WrittenRelease(
                achieved, release, int(frequency.problem.n[release.starred].sum())
            )
            labels = find_label_places(policy, release.labels[~release.suppressed])
            public = manifest_of(
                policy,
                frequency.codec,
                outcome,
                achieved,
                labels,
                starred=produced.starred,
                table_sha256=digest_of(self._table.session, written),
                people=people.manifest_entry,
            )
            done = RunResult(policy, self._paths, frequency, outcome, produced, public)
            for uri, text in self._texts(done, labels).items():
                self._put(uri, text)
            self._keep_people(people)
            self._files.rename(written, self._uris["table"])  # [P3]
        return done

    def _keep_people(self, people: KnownPeople) -> None:
        """Write the register of people on this machine, before the table gets its name."""
        if people.path is not None:
            with file_set(people.path, self._overwrite or people.continues_register) as files:
                stage_register(people, files, self._overwrite)

    def _write_checked(
        self, frequency: FrequencyTable, release: Release, folder: str
    ) -> tuple[str, AchievedPrivacy]:
        """Write the rows and recount them; owners are dropped before the last writing."""
        policy, limit = self._policy, self._table.collect_limit
        with translate_errors("releasing rows"):
            frame = released_frame(policy, self._table, frequency, release)
        path = f"{folder}/release"
        if policy.privacy.person is None:
            self._write(frame, path, self._kind)
            written = SparkTable(self._read(path, self._kind), limit)
            return path, _recount_written(policy, written, frequency, release)
        known = f"{folder}/known"
        self._write(frame, known, ".parquet")
        people = SparkTable(self._read(known, ".parquet"), limit)
        achieved = _recount_written(policy, people, frequency, release)
        bare = sort_by_content(people.frame.drop(SPARK_OWNER), achieved.rows)  # [P4]
        self._write(bare, path, self._kind)
        self._check_same_rows(SparkTable(self._read(path, self._kind), limit), achieved)  # [P5]
        return path, achieved

    def _check_same_rows(self, written: SparkTable, achieved: AchievedPrivacy) -> None:
        """Check that the table without owners has the rows and classes that were counted."""
        bare = recount(written, self._policy, by_row=True)
        if (bare.rows, bare.classes) != (achieved.rows, achieved.classes):
            raise CannotWrite(
                "The table changed while the column that tells people apart was removed.",
                "The output was removed. Please report this.",
            )

    def _write(self, frame: Any, path: str, kind: str) -> None:
        writer = frame.write.option("maxRecordsPerFile", _FILE_ROWS)
        with translate_errors("writing the release"):
            if kind == ".parquet":
                writer.options(**_PARQUET).parquet(path)
            else:
                gzip = "gzip" if kind == ".csv.gz" else "none"
                writer.options(**_CSV, compression=gzip).csv(path)

    def _read(self, path: str, kind: str) -> Any:
        reader = self._table.session.read
        if kind == ".parquet":
            return reader.parquet(path)
        return reader.options(**_CSV, multiLine=True).csv(path)

    def _texts(self, done: RunResult, labels: dict[str, set[int]]) -> dict[str, str]:
        """Return mapping, manifest and pages by their paths."""
        texts = {self._uris["manifest"]: manifest_text(done.manifest)}
        if done.outcome.cut is not None:
            texts[self._uris["mapping"]] = mapping_text(done.policy, done.frequency.codec, labels)
        for path, text in (self._pages(done) if self._pages else {}).items():
            texts[self._page(path)] = text
        return texts

    def _put(self, uri: str, text: str) -> None:
        """Write a file completely or not at all."""
        part = hidden_name_beside(uri)
        try:
            self._files.write(part, text, private=uri == self._page(self._paths.curator))
            self._files.rename(part, uri)
        finally:
            self._files.delete(part)

    @contextmanager
    def _private_folder(self) -> Iterator[str]:
        """Yield a folder beside the table, so that renaming moves no data."""
        folder = hidden_name_beside(self._uris["table"])
        self._files.make_private(folder)
        try:
            yield folder
        finally:
            self._files.delete(folder)

    @cached_property
    def _uris(self) -> dict[str, str]:
        output = self._policy.output
        if output.path is None:
            raise InvalidPolicy(
                "output.path is missing.", "Set it to the file the released table is written to."
            )
        table = _uri(self._policy, output.path)
        check_no_pattern(table)
        stem = table.removesuffix(format_of(Path(table)))
        given = {"mapping": output.mapping, "manifest": output.manifest, "report": output.report}
        endings = {
            "mapping": ".mapping.csv",
            "manifest": ".manifest.json",
            "report": ".report.html",
        }
        beside = {
            name: f"{stem}{endings[name]}" if written is None else _uri(self._policy, written)
            for name, written in given.items()
        }
        return {"table": table, **beside}

    @cached_property
    def _paths(self) -> Paths:
        return Paths(
            **{name: Path(uri.removeprefix("file://")) for name, uri in self._uris.items()},
            people=self._people.path,
        )

    def _page(self, path: Path) -> str:
        return f"{self._uris['report'].rsplit('/', 1)[0]}/{path.name}"

    def _refuse_taken(self, overwrite: bool) -> None:
        pages = [self._page(path) for path in self._paths.pages] if self._pages else []
        wanted = [self._uris[name] for name in ("table", "mapping", "manifest")] + pages
        people = self._people
        register = [] if people.path is None else [uri_of(str(people.path))]
        if len({*wanted, *register}) < len(wanted) + len(register):
            raise InvalidPolicy(
                "One path would hold two files.", "Choose other names under `output`."
            )
        table = self._uris["table"]
        if any(is_at_or_below(file, table) for file in self._table.frame.inputFiles()):
            raise InvalidPolicy(
                f"{table} is read by this run.", "Choose another name under `output`."
            )
        new = [*wanted, *([] if people.continues_register else register)]
        taken = [uri for uri in new if self._files.exists(uri)]
        if taken and not overwrite:
            raise AlreadyExists(
                f"{', '.join(taken)} {'exists' if len(taken) == 1 else 'exist'} already.",
                "Choose other names, or replace them with " + setting("overwrite", True) + ".",
            )

    def _refuse_nested(self) -> None:
        """Refuse columns of lists or bytes, which CSV cannot hold."""
        policy = self._policy
        carried = {*policy.names("sensitive"), *policy.names("other")}
        odd = ("array<", "map<", "struct<", "binary", "variant")
        names = [n for n, kind in self._table.frame.dtypes if n in carried and kind.startswith(odd)]
        if names and self._kind != ".parquet":
            raise CannotWrite(
                f"{', '.join(map(repr, names))} hold lists or bytes, which a CSV file cannot.",
                "Release it as .parquet, or turn them into text first.",
            )


def _recount_written(
    policy: Policy, written: SparkTable, frequency: FrequencyTable, release: Release
) -> AchievedPrivacy:
    owner = SPARK_OWNER if SPARK_OWNER in written.names else None
    achieved = recount(written, policy, owner=owner)  # [P1]
    rows = int(frequency.problem.n[~release.suppressed].sum())
    refuse_broken(policy, achieved, rows=rows, classes=release.classes().size)  # [P2]
    return achieved


def _uri(policy: Policy, written: str) -> str:
    """Return a path as Spark takes it; without a scheme it is local, from the policy's folder."""
    return written if uri_of(written) == written else uri_of(str(policy.path(written)))
