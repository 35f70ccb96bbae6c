"""The result of a run, and the paths of its files, which are checked before any row is read.

Paths that are taken or would replace an input are refused.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._policy import FileSpec, Policy
from shoal.anonymize.release._writer import Release, format_of
from shoal.anonymize.risk._recount import AchievedPrivacy
from shoal.anonymize.search_problem import SearchOutcome
from shoal.errors import AlreadyExists, CannotWrite, InvalidPolicy, setting


@dataclass(frozen=True)
class Paths:
    """The paths of the files of a release; all but the table's default to names beside it.

    Parameters
    ----------
    people
        The register of fingerprints, for the holder only; None if none is kept.
    """

    table: Path
    mapping: Path
    manifest: Path
    report: Path
    people: Path | None = None  # fingerprints for the holder alone, if they are kept

    @property
    def curator(self) -> Path:
        """The page for the holder of the rows, beside the public one."""
        return self.report.with_suffix(f".curator{self.report.suffix}")

    @property
    def pages(self) -> tuple[Path, ...]:
        """The public page, its numbers, and the curator's page."""
        return self.report, self.report.with_suffix(".json"), self.curator


def paths_of(policy: Policy) -> Paths:
    """Return the files that a policy's run writes.

    Parameters
    ----------
    policy
        The policy.
    """
    output = policy.output
    if output.path is None:
        raise InvalidPolicy(
            "output.path is missing.", "Set it to the file the released table is written to."
        )
    table = policy.path(output.path)
    stem = table.name.removesuffix(format_of(table))

    def beside(written: str | None, ending: str) -> Path:
        return table.parent / f"{stem}{ending}" if written is None else policy.path(written)

    return Paths(
        table,
        beside(output.mapping, ".mapping.csv"),
        beside(output.manifest, ".manifest.json"),
        beside(output.report, ".report.html"),
    )


def people_path(policy: Policy) -> Path:
    """Return where a run keeps the fingerprints of its people: always on this machine.

    It is beside the released table or, if that is on a remote file system, in the policy's folder:
    a remote file system may have no locks and no file permissions.
    """
    output = policy.output
    if output.people is not None:
        if "://" in output.people:
            raise InvalidPolicy(
                "output.people must be on this machine, where the file can be locked and "
                "restricted to its owner.",
                "Name a local path.",
            )
        return policy.path(output.people)
    if output.path is None:
        raise InvalidPolicy(
            "output.path is missing.", "Set it to the file the released table is written to."
        )
    written = output.path.removeprefix("file://")
    table = policy.path(written.rsplit("/", 1)[-1] if "://" in written else written)
    return table.parent / f"{table.name.removesuffix(format_of(table))}.people.curator"


def check_paths(
    policy: Policy,
    source: Any,
    *,
    with_pages: bool,
    overwrite: bool,
    people: Path | None = None,
    continues_register: bool = False,
) -> Paths:
    """Return the files of a run, after checking that each has a path of its own that is free.

    This is done before any row is read, so that a long search does not end in a name that is taken.
    Inputs of the run are never replaced, whatever ``overwrite`` says.

    Parameters
    ----------
    people
        Where fingerprints of people go, if anywhere.
    """
    paths = replace(paths_of(policy), people=people)
    names = [paths.table, paths.mapping, paths.manifest, *(paths.pages if with_pages else ())]
    names += [people] if people is not None and not continues_register else []
    real = [Path(os.path.realpath(name)) for name in names]
    read = {
        *_read(policy, source),
        *([people] if people is not None and continues_register else []),
    }
    for clashing, wrong in (
        ([name for name, times in Counter(real).items() if times > 1], "would hold two files"),
        ([name for name in real if name in read], "is read by this run"),
        (
            [name for name in real[:1] if read & set(name.parents)],
            "lies in the folder that is read",
        ),
    ):
        if clashing:
            raise InvalidPolicy(f"{clashing[0]} {wrong}.", "Choose another name under `output`.")
    _refuse_unwritable(names, overwrite)
    return paths


def _read(policy: Policy, source: Any) -> Iterator[Path]:
    """Yield the files, or the folder, that a run reads."""
    if isinstance(source, str | Path):
        yield Path(os.path.realpath(os.path.expanduser(source)))
    for of in policy.attributes.values():
        if isinstance(of.hierarchy, FileSpec):
            yield Path(os.path.realpath(policy.path(of.hierarchy.file)))
        if of.key_file is not None:
            yield Path(os.path.realpath(policy.path(of.key_file)))


def _refuse_unwritable(names: list[Path], overwrite: bool) -> None:
    taken = [str(name) for name in names if os.path.lexists(name)]
    if taken and not overwrite:
        raise AlreadyExists(
            f"{', '.join(taken)} {'exists' if len(taken) == 1 else 'exist'} already.",
            "Choose other names, or replace them with " + setting("overwrite", True) + ".",
        )
    missing = [str(name.parent) for name in names if not name.parent.is_dir()]
    if missing:
        raise CannotWrite(
            f"There is no folder {missing[0]}.",
            "Create it, or choose another folder under `output`.",
        )


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """A release as written and recounted.

    Parameters
    ----------
    starred
        How many suppressed rows were published as rows of ``*``.
    """

    achieved: AchievedPrivacy
    release: Release = field(repr=False)
    starred: int


@dataclass(frozen=True, eq=False)
class RunResult:
    """A finished run; ``frequency`` and ``outcome`` are for the curator only.

    Parameters
    ----------
    policy
        The policy.
    paths
        The files that were written.
    frequency
        The frequency table, which knows people by name.
    outcome
        The outcome of the search.
    produced
        The release as written and recounted.
    manifest
        The public facts.
    """

    policy: Policy
    paths: Paths
    frequency: FrequencyTable = field(repr=False)  # it knows people by name
    outcome: SearchOutcome = field(repr=False)
    produced: WrittenRelease
    manifest: dict[str, Any]


Pages = Callable[[RunResult], Mapping[Path, str]]
