"""Run a policy: read, search, write, recount, and only then give the files their names."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

from shoal.anonymize._distributed_frames import run_on_frame
from shoal.anonymize._frequency_table import FrequencyTable, count_combinations
from shoal.anonymize._policy import AnyPolicy, Policy, policy_of
from shoal.anonymize.release._manifest import (
    AnyManifest,
    find_label_places,
    manifest_of,
    manifest_text,
    mapping_text,
    read_manifest,
)
from shoal.anonymize.release._people_register import KnownPeople, people_of_run, stage_register
from shoal.anonymize.release._result import Pages, RunResult, WrittenRelease, check_paths, paths_of
from shoal.anonymize.release._writer import format_of, parts_of, release_of, write_release
from shoal.anonymize.risk._recount import recount, refuse_broken
from shoal.anonymize.search._run_search import Progress, find_outcome
from shoal.anonymize.search_problem import SearchOutcome
from shoal.anonymize.table import QueriedTable
from shoal.engine import by_engine
from shoal.errors import InvalidPolicy
from shoal.files import file_set, named_failure, private_file, scratch, undo_killed_run
from shoal.randomness import Randomness


def run_policy(
    policy: AnyPolicy,
    X: Any = None,
    *,
    manifest: AnyManifest | None = None,
    new_people: bool = False,
    pages: Pages | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> RunResult:
    """Release a table under a policy.

    Nothing appears under its final name before the written file has been counted again; the
    table comes last, so whoever sees it finds mapping and manifest beside it.

    Parameters
    ----------
    policy
        What is promised, and where things are: a ``Policy``, its content, in which relative paths
        start at the working folder, or its file's path.
    X
        The table, if not the one at ``input.path``. A Spark frame is counted, written and counted
        again by Spark; ``output`` may then name any path Spark can write, such as ``hdfs://...``.
    manifest
        Of an earlier release, or its file: its cut is kept instead of searching for one. With an
        ``person`` the table's people are held against those of all releases under that cut; any
        that were in one raise ``ReleasedBefore``.
    new_people
        States that nobody of this table was in an earlier release. Needed with ``manifest`` where
        people cannot be compared; manifest and pages then say that the promise rests on it.
    pages
        Makes what is written beside the table, by path, from the finished run; the curator's page
        can be read by its owner alone.
    overwrite
        Replace older files, whatever the policy says.
    progress
        Called now and then with what is being done and the share of it that is done.
    """
    policy = policy_of(policy)
    overwrite = overwrite or policy.output.overwrite
    source = _input(policy) if X is None else X
    if "://" not in (policy.output.path or "") and policy.output.path:
        undo_killed_run(paths_of(policy).table)  # before its files and people are looked at
    earlier = read_manifest(manifest) if isinstance(manifest, str | Path) else manifest
    cut = None if earlier is None else earlier.get("cut") or {}
    folder = Path(manifest).expanduser().parent if isinstance(manifest, str | Path) else None
    before = people_of_run(policy, earlier, folder, new_people=new_people, overwrite=overwrite)
    with before as people:
        return by_engine(
            source,
            embedded=lambda X: _run_here(policy, X, cut, people, pages, overwrite, progress),
            distributed=lambda X: run_on_frame(policy, X, cut, people, pages, overwrite, progress),
        )


def _run_here(
    policy: Policy,
    source: Any,
    cut: Any,
    people: KnownPeople,
    pages: Pages | None,
    overwrite: bool,
    progress: Progress | None,
) -> RunResult:
    paths = check_paths(
        policy,
        source,
        with_pages=pages is not None,
        overwrite=overwrite,
        people=people.path,
        continues_register=people.continues_register,
    )
    with file_set(paths.table, overwrite) as files, scratch() as folder:
        table = QueriedTable(source)
        frequency = count_combinations(policy, table)
        outcome = find_outcome(policy, frequency, cut, progress)
        people = people.joined_by(table)
        written = folder / f"release{format_of(paths.table)}"
        produced = write_and_recount(policy, table, frequency, outcome, written)
        release = produced.release
        labels = find_label_places(policy, release.labels[~release.suppressed])
        public = manifest_of(
            policy,
            frequency.codec,
            outcome,
            produced.achieved,
            labels,
            starred=produced.starred,
            table_sha256=_sha256(written),
            people=people.manifest_entry,
        )
        finished = RunResult(policy, paths, frequency, outcome, produced, public)
        with named_failure(paths.table):
            shutil.copyfile(written, files.file(paths.table))  # [P3]
        stage_register(people, files, overwrite)
        texts = {paths.manifest: manifest_text(public)}
        if outcome.cut is not None:
            texts[paths.mapping] = mapping_text(policy, frequency.codec, labels)
        for path, text in (texts | dict(pages(finished) if pages else {})).items():
            _write_text(files.file(path), text, path, private=path == paths.curator)
    if overwrite and outcome.cut is None:  # a mapping of an earlier cut says nothing of this one
        paths.mapping.unlink(missing_ok=True)
    return finished


def _write_text(part: Path, text: str, path: Path, private: bool) -> None:
    with named_failure(path):
        if private:
            private_file(part)
        part.write_text(text, encoding="utf-8", newline="\n")


def write_and_recount(
    policy: Policy,
    table: QueriedTable,
    frequency: FrequencyTable,
    outcome: SearchOutcome,
    path: Path,
) -> WrittenRelease:
    """Write the release of an outcome to a file and recount it; a broken promise raises.

    ``path`` lies in a private folder: until the check is done it is nobody else's.
    """
    problem = frequency.problem
    release = release_of(problem, outcome, policy.output.suppressed == "star")
    owners_path = path.parent / "owners.parquet"
    parts = parts_of(policy, table, frequency, release, Randomness().noise)  # [P4]
    write_release(parts, private_file(path), private_file(owners_path))
    by_person = policy.privacy.person is not None
    achieved = recount(  # [P1]
        path, policy, owners_path if by_person else None, codec=frequency.codec
    )
    rows = int(problem.n[~release.suppressed].sum())
    refuse_broken(policy, achieved, rows=rows, classes=release.classes().size)  # [P2]
    return WrittenRelease(achieved, release, int(problem.n[release.starred].sum()))


def _input(policy: Policy) -> Path:
    if policy.input.path is None:
        raise InvalidPolicy(
            "input.path is missing.", "Set it to the table's path, or pass the table."
        )
    return policy.path(policy.input.path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
