"""Write files and folders atomically, alone or as a set: whole or not at all.

All files of a set are written under temporary names. Then the main one's older version steps
aside, the others get their names, and the main one gets its name last: whoever finds it finds the
whole set. A process that is stopped on the way undoes what it did; one that is killed has it undone
by the next that writes the set. See docs/decisions/crash-safety.md.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import AlreadyExists, CannotWrite, ShoalError, setting
from shoal.files._unfinished_files import Busy, Finished, Identity, Record, Stage, record_of


@contextmanager
def atomic_file(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path that is renamed to ``path`` when the block ends without an error.

    Whatever goes wrong, Ctrl-C included, leaves what was there before.

    Parameters
    ----------
    path
        The final name.
    overwrite
        Whether a file that is there may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_file(folder / "centers.csv") as part:
    ...     _ = part.write_text("x0,x1")
    >>> [file.name for file in folder.iterdir()]
    ['centers.csv']
    """
    with file_set(path, overwrite) as files, named_failure(path):
        yield files.file(path)


@contextmanager
def atomic_folder(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to ``path`` when the block ends without an error.

    An old folder that is overwritten steps aside first, and comes back if the new one cannot take
    its place: for a moment there may be neither, but never half of one.

    Parameters
    ----------
    path
        The final name.
    overwrite
        Whether a folder that is there may be replaced.
    """
    with file_set(path, overwrite) as files, named_failure(path):
        yield files.folder(path)


@contextmanager
def file_set(main: str | Path, overwrite: bool = False) -> Iterator["FileSet"]:
    """Files and folders that get their names together when the block ends well, or none does.

    First undoes what a killed process left half done for the same main file.

    Parameters
    ----------
    main
        The file or folder that gets its name last.
    overwrite
        Whether what is there may be replaced.

    Raises
    ------
    CannotWrite
        If another process is writing the set.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with file_set(folder / "table.csv") as files:
    ...     _ = files.file(folder / "table.csv").write_text("age")
    ...     _ = files.file(folder / "manifest.json").write_text("{}")
    >>> sorted(file.name for file in folder.iterdir())
    ['manifest.json', 'table.csv']
    """
    final = _absolute(main)
    try:
        with _opened_record(final, overwrite) as record:
            files = FileSet(final, overwrite, record)
            try:
                yield files
                files.publish()
            except BaseException:
                files.close(failed=True)
                raise
            files.close()
    except Busy:
        raise CannotWrite(
            f"Another run is writing {final}.", "Wait for it, or choose another name."
        ) from None


def undo_killed_run(main: str | Path) -> None:
    """Undo what a killed process left half done for a main file, if there is any.

    For whoever looks at the files of a set before writing it. A living process is left alone.

    Parameters
    ----------
    main
        The file or folder that would have got its name last.
    """
    final = _absolute(main)
    if final.with_name(f".{final.name}.shoal").exists():
        with suppress(Busy, OSError), record_of(final) as record:
            if record.earlier is not None and _end(final, record.earlier) is None:
                record.remove()


class FileSet:
    """A set of files under way. Made by ``file_set``.

    Parameters
    ----------
    main
        The file or folder that gets its name last.
    overwrite
        Whether what is there may be replaced.
    record
        Where it is noted what was made, for the next process.
    """

    def __init__(self, main: Path, overwrite: bool, record: Record) -> None:
        self._main, self._overwrite, self._record = main, overwrite, record
        with named_failure(main):
            finished = None if record.earlier is None else _end(main, record.earlier)
            self._stage = Stage(secrets.token_hex(4), finished=finished)
            self._begin()
        self._may_replace: dict[str, bool] = {}
        self._is_paid: Callable[[], bool] = lambda: False
        self._is_published = False

    def _begin(self) -> None:
        try:
            self._record.begin(self._stage.token, self._stage.finished)
        except OSError:
            if self._record.earlier is None:
                self._record.remove()
            raise

    @property
    def key(self) -> bytes:
        """Random bytes that stay the same until the set is written, however often it is tried."""
        return self._record.key

    def work_for(self, run: str | None, is_paid: Callable[[], bool]) -> None:
        """Say which run the set is of, so that the same run may replace what it had finished.

        Parameters
        ----------
        run
            Its name; None for one that cannot be resumed.
        is_paid
            Whether a failure now leaves something to go on with: then the record stays.
        """
        self._stage.run = run
        self._is_paid = is_paid

    @property
    def is_finished(self) -> bool:
        """Whether an earlier process of this run had given all their names."""
        earlier = self._stage.finished
        return earlier is not None and earlier.run == self._stage.run

    def file(self, path: str | Path, overwrite: bool | None = None) -> Path:
        """A temporary path for one file of the set.

        Parameters
        ----------
        path
            The name it will get.
        overwrite
            Whether what is there may be replaced, if not as for the whole set.
        """
        final = _absolute(path)
        with named_failure(final):
            self._add(final, self._overwrite if overwrite is None else overwrite)
        return _part(final, self._stage.token)

    def folder(self, path: str | Path) -> Path:
        """A temporary folder for one folder of the set.

        Parameters
        ----------
        path
            The name it will get.
        """
        final = _absolute(path)
        with named_failure(final):
            self._add(final, self._overwrite)
            _check_replaceable(final)
            part = _part(final, self._stage.token)
            part.mkdir()
        return part

    def publish(self) -> None:
        """Give all their names, the main one last; the record stays until the block ends."""
        if self._is_published or not self._stage.members:
            return
        with named_failure(self._main):
            self._plan()
            self._name_all()
            self._is_published = True
            self._remove_replaced()

    def close(self, failed: bool = False) -> None:
        """Settle what is left to settle; the record goes, unless a paid run failed.

        Parameters
        ----------
        failed
            Whether the block did.
        """
        with named_failure(self._main):
            if not self._is_published:
                _end(self._main, self._stage)
            if not failed or not self._goes_on():
                self._record.remove()

    def _goes_on(self) -> bool:
        """Whether the same run, started again, goes on from here; in doubt it does."""
        try:
            return self._stage.run is not None and self._is_paid()
        except ShoalError:
            return True

    def _add(self, final: Path, overwrite: bool) -> None:
        self._may_replace[str(final)] = overwrite or self._has_finished(final)
        self._check_free(final)
        self._stage.members.append(str(final))
        self._record.add_member(final)

    def _has_finished(self, final: Path) -> bool:
        """Whether this very run gave the file its name before it was stopped."""
        earlier, identity = self._stage.finished, _identity(final)
        if earlier is None or identity is None or not self.is_finished:
            return False
        return earlier.files.get(str(final)) == identity

    def _check_free(self, final: Path) -> None:
        check_free(final, self._may_replace[str(final)])

    def _plan(self) -> None:
        finals = [Path(name) for name in self._stage.members]
        parts = {final: _part(final, self._stage.token) for final in finals}
        for part in parts.values():
            for path in [*sorted(part.rglob("*")), part]:
                flush(path)
        for final in finals:
            self._check_free(final)  # somebody may have been faster
        files = {str(final): _identity(part) for final, part in parts.items()}
        self._stage.planned = {path: known for path, known in files.items() if known is not None}
        self._record.plan(self._stage.planned, self._stage.run)

    def _name_all(self) -> None:
        others = [Path(name) for name in self._stage.members if name != str(self._main)]
        token = self._stage.token
        if others or _part(self._main, token).is_dir():
            for final in [self._main, *others]:
                if os.path.lexists(final):
                    os.rename(final, _aside(final, token))
                if final != self._main:
                    os.rename(_part(final, token), final)
        os.replace(_part(self._main, token), self._main)
        for folder in {Path(name).parent for name in self._stage.members}:
            flush(folder)

    def _remove_replaced(self) -> None:
        for name in self._stage.members:
            aside = _aside(Path(name), self._stage.token)
            try:
                _remove(aside)
            except (KeyboardInterrupt, SystemExit):  # half of it would help nobody
                _remove(aside)
                raise
            except OSError as error:
                raise CannotWrite(
                    f"{name} was written, but the old version cannot be removed: {error.strerror}.",
                    f"Remove {aside} yourself.",
                ) from None


def _end(main: Path, stage: Stage) -> Finished | None:
    """Bring a set that was stopped to its end: the old files or, if the main one is named, the new.

    Returns what a run had finished, if it is still there. Stopped itself, it can be done again.
    """
    if stage.planned is not None and not os.path.lexists(_part(main, stage.token)):
        for name in stage.members:
            _remove(_aside(Path(name), stage.token))
        return _finished_by(main, stage.run, stage.planned)
    for name in sorted(stage.members, key=lambda name: name == str(main)):  # its part goes last
        _undo(Path(name), stage.token, (stage.planned or {}).get(name))
    earlier = stage.finished
    return None if earlier is None else _finished_by(main, earlier.run, earlier.files)


def _finished_by(main: Path, run: str | None, files: dict[str, Identity]) -> Finished | None:
    is_there = str(main) in files and files[str(main)] == _identity(main)
    return Finished(run, files) if run is not None and is_there else None


def _undo(final: Path, token: str, planned: Identity | None) -> None:
    """Take a new file away, and give an old one its name again."""
    if planned is not None and _identity(final) == planned:
        _remove(final)
    aside = _aside(final, token)
    if os.path.lexists(aside) and not os.path.lexists(final):
        os.rename(aside, final)
    _remove(_part(final, token))


def _identity(path: Path) -> Identity | None:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns  # numbers are given again


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _opened_record(final: Path, overwrite: bool) -> Iterator[Record]:
    try:
        opened = record_of(final)
        record = opened.__enter__()
    except OSError as error:
        check_free(final, overwrite)
        raise write_error(final, error.strerror or type(error).__name__) from None
    try:
        yield record
    finally:
        opened.__exit__(None, None, None)


@contextmanager
def named_failure(final: str | Path) -> Iterator[None]:
    """Name the output in an error of the operating system.

    Parameters
    ----------
    final
        What was being written.
    """
    try:
        yield
    except OSError as error:
        raise write_error(_absolute(final), error.strerror or type(error).__name__) from None


def write_error(path: str | Path, cause: str) -> CannotWrite:
    """Return the error for a file or folder that cannot be written.

    Parameters
    ----------
    path
        Where it should have gone.
    cause
        Why it could not, as the operating system has it.
    """
    return CannotWrite(
        f"{path} cannot be written: {cause}.",
        "Check that its folder exists, that you may write there, and that the disk has room.",
        path=str(path),
        cause=cause,
    )


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(os.path.expanduser(path)))


def _part(final: Path, token: str) -> Path:
    # In the same folder: a rename across file systems would be a copy.
    return final.parent / f".{final.name}.{token}.part"


def _aside(final: Path, token: str) -> Path:
    return final.parent / f".{final.name}.{token}.old"


def check_free(final: Path, overwrite: bool) -> None:
    """Refuse a name that is taken, unless it may be replaced."""
    if not overwrite and os.path.lexists(final):
        raise AlreadyExists(
            f"{final} exists already.",
            "Choose another name, or give " + setting("overwrite", True) + " to replace it.",
        )


def _check_replaceable(final: Path) -> None:
    if final.exists() and not final.is_dir():
        raise CannotWrite(f"{final} is a file, not a folder.", "Choose another name.")
    if Path.cwd().is_relative_to(final.resolve()):
        raise CannotWrite(
            f"{final} holds the current folder, which would be replaced.",
            "Name another folder.",
        )


def flush(path: Path) -> None:
    """Flush a file or folder to disk, so that it is complete even if the machine stops."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
