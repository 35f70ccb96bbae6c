"""The register of people: keyed fingerprints of everyone released under one cut.

Two releases under one cut that share people can be subtracted from each other. So the people of
every release are stored as fingerprints, for the holder only, and a table with any of them is
refused. See ``people_register.proof.md`` and docs/decisions/next-release.md.
"""

import hmac
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.anonymize._policy import Policy
from shoal.anonymize.release._manifest import missing_cut_error
from shoal.anonymize.release._result import people_path
from shoal.anonymize.table import AnyTable
from shoal.documents import parse_json, rename_old_keys
from shoal.errors import (
    AlreadyExists,
    InvalidPolicy,
    InvalidSetting,
    NewPeopleNotStated,
    PeopleFileUnusable,
    ReleasedBefore,
    quantity,
    setting,
)
from shoal.files import FileSet, named_failure, private_file, take_lock

Basis = Literal["first", "compared", "stated", "compared and stated"]

_FORMAT = "shoal.people/1"
_FINGERPRINT = pa.binary(32)
_CHUNK = 1 << 20  # names that are fingerprinted at a time


@dataclass(frozen=True, eq=False)
class Register:
    """Fingerprints of the people of all releases under one cut.

    Parameters
    ----------
    complete
        False if there was an earlier release whose people are not in it.
    key
        32 random bytes.
    fingerprints
        HMAC-SHA-256 of every person under the key, sorted, so that no order of rows or releases
        shows. With the key, one can test whether an identifier is in the register.

    Examples
    --------
    >>> january = Register.new("patient").with_people(pa.array(["ada", "grace"]))
    >>> january.with_people(pa.array(["joan"])).releases
    2
    >>> january.with_people(pa.array(["joan", "ada"]))
    Traceback (most recent call last):
    ...
    shoal.errors.ReleasedBefore: People of an earlier release are in this table.
    Apply the cut to the rows of new people only: releases that share people can be subtracted.
    """

    person: str
    releases: int
    complete: bool
    id: str
    key: bytes = field(repr=False)
    fingerprints: Any = field(repr=False)

    @classmethod
    def new(cls, person: str, complete: bool = True) -> "Register":
        """Return an empty register under a new key.

        Parameters
        ----------
        complete
            False if there was an earlier release whose people are not in it.
        """
        nobody = pa.array([], _FINGERPRINT)
        return cls(person, 0, complete, secrets.token_hex(16), secrets.token_bytes(32), nobody)

    def with_people(self, names: Any) -> "Register":
        """Return the register after one more release; none of its people may be in it yet.

        Parameters
        ----------
        names
            An Arrow array of text: people as ``shoal.data.encode.encode_owners`` writes them.

        Raises
        ------
        ReleasedBefore
            If somebody is.
        """
        fingerprints = self._fingerprints_of(names)
        self.refuse_known(fingerprints)  # [P2]
        every = pc.unique(pa.concat_arrays([self.fingerprints, fingerprints]))
        ordered = every.take(pc.array_sort_indices(every))
        return replace(self, releases=self.releases + 1, fingerprints=ordered)

    def refuse_known(self, fingerprints: Any) -> None:
        """Raise if one of these fingerprints is in the register."""
        known = pc.sum(pc.is_in(fingerprints, self.fingerprints)).as_py() or 0
        if known:
            error = ReleasedBefore(
                "People of an earlier release are in this table.",
                "Apply the cut to the rows of new people only: releases that share people can "
                "be subtracted.",
            )
            error.people = known
            raise error

    def _fingerprints_of(self, names: Any) -> Any:
        chunks = [pa.array([], _FINGERPRINT)]
        different = pc.unique(names)
        for start in range(0, len(different), _CHUNK):
            some = different[start : start + _CHUNK].to_pylist()
            chunks.append(pa.array([self._fingerprint(name) for name in some], _FINGERPRINT))
        return pa.concat_arrays(chunks)

    def _fingerprint(self, name: str) -> bytes:
        return hmac.digest(self.key, b"person\0" + name.encode(), "sha256")  # [P1]


def find_people(table: AnyTable, person: str) -> Any:
    """Return the distinct people of a table, as text."""
    return table.owners(person)


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """What a run knows about its people and those of earlier releases under its cut.

    Parameters
    ----------
    basis
        Why its people are new: it is the first release, they were compared, or it was stated.
    register
        The register of the people so far; None if none is kept.
    """

    basis: Basis
    register: Register | None = None
    path: Path | None = None
    continues_register: bool = False

    def joined_by(self, table: AnyTable) -> "KnownPeople":
        """Return the state after the release of this table, whose people must all be new."""
        if self.register is None:
            return self
        names = find_people(table, self.register.person)
        return replace(self, register=self.register.with_people(names))

    @property
    def manifest_entry(self) -> dict[str, str | None]:
        """Return what a manifest says: the register's name and id, nothing of its content."""
        name = None if self.path is None else self.path.name
        id_ = None if self.register is None else self.register.id
        return {"basis": self.basis, "register": name, "id": id_}


@contextmanager
def people_of_run(
    policy: Policy,
    manifest: Mapping[str, Any] | None,
    folder: Path | None = None,
    *,
    new_people: bool = False,
    overwrite: bool = False,
) -> Iterator[KnownPeople]:
    """Open what is known of earlier releases, locked so that no other run may add to it.

    Problems are raised here, before any row is read.

    Parameters
    ----------
    manifest
        Of an earlier release whose cut is kept; None for a first release.
    overwrite
        Whether a register of the one release that is replaced may be replaced with it.
    """
    if manifest is None:
        if new_people:
            raise InvalidSetting(
                setting("new_people", True) + " needs the manifest of an earlier release.",
                "Leave it out, or name the release whose cut is kept.",
            )
        with _place_of_new(policy, overwrite) as place:
            yield _begun(policy, "first", place)
        return
    earlier = _earlier(manifest, folder)
    if earlier.register is None:
        if not new_people:
            raise missing_statement_error(bool(policy.privacy.person))
        with _place_of_new(policy, overwrite) as place:
            yield _begun(policy, "stated", place)
        return
    with _opened_register(policy, earlier) as (path, register):
        if not register.complete and not new_people:
            raise missing_statement_error(by_person=True)
        basis: Basis = "compared" if register.complete else "compared and stated"
        yield KnownPeople(basis, register, path, continues_register=True)


def missing_statement_error(by_person: bool) -> NewPeopleNotStated:
    """Return the error that asks for a statement where people cannot be compared."""
    why = (
        "the people of an earlier release were not recorded"
        if by_person
        else "the policy does not name a person column"
    )
    return NewPeopleNotStated(
        f"It is not known whether people of this table were in an earlier release: {why}.",
        "If you know that nobody was, state it with "
        + setting("new_people", True)
        + ". The promise then depends on this statement, and the manifest and pages say so: two "
        "releases that share people can be subtracted.",
    )


class _Earlier(NamedTuple):
    """An earlier release: the person column of its manifest, and where its register is."""

    person: str | None
    register: str | None
    id: str | None
    folder: Path | None


def _earlier(manifest: Mapping[str, Any], folder: Path | None) -> _Earlier:
    manifest = rename_old_keys(manifest)
    if not manifest.get("cut"):
        raise missing_cut_error()
    entry = manifest.get("people")  # a manifest from before people were kept has none
    person, entry = manifest.get("person"), entry if isinstance(entry, Mapping) else {}
    name = entry.get("register")
    return _Earlier(person, Path(name).name if name else None, entry.get("id"), folder)


def _begun(policy: Policy, basis: Basis, place: Path | None) -> KnownPeople:
    """Return the state of a first release, with a new register if one can be kept."""
    person = policy.privacy.person
    if person is None or place is None:
        return KnownPeople(basis)
    return KnownPeople(basis, Register.new(person, complete=basis == "first"), place)


@contextmanager
def _place_of_new(policy: Policy, overwrite: bool) -> Iterator[Path | None]:
    """Yield where a new register is written; None without a person column or without a cut."""
    if policy.privacy.person is None or policy.search.recoding == "local":
        yield None
        return
    place = people_path(policy)
    if not overwrite or not os.path.lexists(place):
        yield place
        return
    with _locked(place):
        old = read_register(place)
        if old.releases > 1:
            raise AlreadyExists(
                f"{place} holds the people of {quantity(old.releases, 'release')}, who would be "
                "forgotten with it.",
                "Choose another name for `people` under `output`.",
            )
        yield place


@contextmanager
def _opened_register(policy: Policy, earlier: _Earlier) -> Iterator[tuple[Path, Register]]:
    person = policy.privacy.person
    if person != earlier.person:
        difference = (
            "names no person column" if person is None else f"tells them apart by {person!r}"
        )
        raise InvalidPolicy(
            f"The earlier release tells people apart by {earlier.person!r}; this policy "
            f"{difference}.",
            f"Set `person: {earlier.person}` under `privacy`, so that they can be compared.",
        )
    path = _register_path(policy, earlier)
    with _locked(path):
        register = read_register(path)
        if (register.id, register.person) != (earlier.id, person):
            raise PeopleFileUnusable(
                f"{path} holds people of other releases than the manifest's.",
                "Name the file of that release as `people` under `output`.",
            )
        yield path, register


def _register_path(policy: Policy, earlier: _Earlier) -> Path:
    """Return the path of the register: the policy's, or beside manifest, release or policy."""
    name = str(earlier.register)
    if policy.output.people is not None:
        places = [people_path(policy)]
    else:
        folders = [earlier.folder, people_path(policy).parent, policy.path("")]
        places = [folder / name for folder in folders if folder is not None]
    for place in places:
        if place.exists():
            return Path(os.path.realpath(place))
    raise PeopleFileUnusable(
        f"There is no {places[0]}, which holds the people of earlier releases.",
        "Put it beside the manifest, or give its path as `people` under `output`. If it is "
        "lost, nothing more can be released under this cut.",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file for one run; the system releases it when the process ends.

    A run replaces the file, so whoever waited for the lock may hold a file that was replaced.
    """
    if sys.platform == "win32":  # no such locks
        yield
        return
    while True:
        with _opened(path) as file:
            if not take_lock(file.fileno()):
                raise PeopleFileUnusable(
                    f"Another run is adding its people to {path}.",
                    "Wait until it is done, then run this one again.",
                )
            if os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                yield
                return


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise PeopleFileUnusable(
            f"{path} cannot be read: {error.strerror}.",
            "Check that it exists and that you may read it.",
        ) from None


def stage_register(people: KnownPeople, files: FileSet, overwrite: bool = False) -> None:
    """Write the register as one of a set of files that get their names together.

    It gets its name before the main one, the table: somebody unknown is never released. [P3]
    """
    if people.path is None or people.register is None:
        return
    part = files.file(people.path, overwrite or people.continues_register)
    with named_failure(people.path):
        write_register(people.register, part)


def write_register(register: Register, path: Path) -> None:
    """Write a register to a file that only its owner can read."""
    header = _header(register) | {"check": _check(register), "key": register.key.hex()}
    table = pa.table({"fingerprint": register.fingerprints})
    table = table.replace_schema_metadata({"shoal": json.dumps(header)})
    pq.write_table(table, private_file(path), compression="none")


def read_register(path: Path) -> Register:
    """Read a register from its file, which must be complete and readable by its owner only."""
    with _opened(path) as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise PeopleFileUnusable(
                f"{path} can be read by other users than its owner.", "Restrict it with chmod 600."
            )
        try:
            register, check = _parsed(pq.read_table(file))
            is_whole = hmac.compare_digest(check, _check(register))
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError):
            is_whole = False
    if not is_whole:
        raise PeopleFileUnusable(
            f"{path} is damaged, or was not written by this version of shoal.",
            "Restore it from a copy: without it no table can be compared with earlier releases.",
        )
    return register


def _parsed(table: pa.Table) -> tuple[Register, str]:
    header = parse_json(table.schema.metadata[b"shoal"].decode())
    if header["format"] != _FORMAT:
        raise ValueError
    register = Register(
        str(header["entity"]),
        int(header["releases"]),
        bool(header["complete"]),
        str(header["id"]),
        bytes.fromhex(header["key"]),
        table["fingerprint"].cast(_FINGERPRINT).combine_chunks(),
    )
    return register, str(header["check"])


def _header(register: Register) -> dict[str, Any]:
    # The person column has the key `entity` there: the file is checked by a hash of this header.
    names = {"entity": "person", "releases": "releases", "complete": "complete", "id": "id"}
    return {"format": _FORMAT, **{key: getattr(register, name) for key, name in names.items()}}


def _check(register: Register) -> str:
    """Return a keyed hash of a register's content, by which damage is noticed."""
    digest = hmac.new(register.key, json.dumps(_header(register)).encode(), "sha256")
    prints = register.fingerprints
    for start in range(0, len(prints), _CHUNK):
        digest.update(b"".join(prints[start : start + _CHUNK].to_pylist()))
    return digest.hexdigest()
