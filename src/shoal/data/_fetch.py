"""Files of the catalogue from where they are published, checked before they get their name."""

import os
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from shoal.data.catalogue import BUNDLED, has_checksum, known_file
from shoal.data.known_files import DataFile
from shoal.errors import DatasetUnavailable, InvalidSetting, setting
from shoal.files import atomic_file, write_error

_CHUNK_BYTES = 1 << 16
_PATIENCE_SECONDS = 30.0


def fetch(name: str, to: str | Path | None = None, *, overwrite: bool = False) -> Path:
    """Download a file of the catalogue into the data folder, whole or not at all.

    Parameters
    ----------
    name
        A name that ``load`` knows.
    to
        The folder, made if it is not there; left out, the one that ``SHOAL_DATA`` names.
    overwrite
        Replace a file of that name whose content is another. The right one is left as it is.

    Returns
    -------
    Path
        The file, whose SHA-256 is the one shoal was tested with.

    Raises
    ------
    DatasetUnavailable
        No such set, no address that has its bytes, no network, or other bytes than expected.
    """
    file = known_file(name)
    if file is None:
        raise _comes_with_scikit_learn(name)
    if not file.url:
        raise _not_offered(name, file)
    final = _folder(to) / file.name
    if final.is_file() and has_checksum(final, file):
        return final
    with atomic_file(final, overwrite) as part:
        _download(file, part)
        if not has_checksum(part, file):
            raise _other_bytes(file)
    return final


def _folder(to: str | Path | None) -> Path:
    place = to or os.environ.get("SHOAL_DATA")
    if not place:
        raise InvalidSetting(
            "No folder came to put the file into, and SHOAL_DATA is not set.",
            "Name one, e.g. " + setting("to", "data") + ".",
            setting="to",
        )
    folder = Path(place).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error.strerror or type(error).__name__) from None
    return folder


def _download(file: DataFile, part: Path) -> None:
    last = b"\n"
    with part.open("wb") as out:
        if file.header:
            out.write(file.header.encode() + b"\n")
        for chunk in _chunks(file):
            out.write(chunk)
            last = chunk[-1:]
        if file.header and last != b"\n":
            out.write(b"\n")


def _chunks(file: DataFile) -> Iterator[bytes]:
    """The published bytes as they arrive; what the network does wrong is named."""
    request = Request(file.url, headers={"User-Agent": "shoal"})
    try:
        with urlopen(request, timeout=_PATIENCE_SECONDS) as answer:
            while chunk := answer.read(_CHUNK_BYTES):
                yield chunk
    except HTTPError as error:
        error.close()  # it holds the connection
        raise _unreachable(file, f"it answers {error.code}", "refused") from None
    except URLError as error:
        raise _unreachable(file, _cause(error.reason), "offline") from None
    except (OSError, HTTPException) as error:
        raise _unreachable(file, _cause(error), "offline") from None


def _cause(error: object) -> str:
    """A cause in the system's words, without its number."""
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _unreachable(file: DataFile, cause: str, reason: str) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"{file.name} cannot be had from {urlsplit(file.url).netloc}: {cause}.",
        f"Check the network and HTTPS_PROXY, or get {file.url} on another machine"
        + (", put the header that shoal data list --json has before it" if file.header else "")
        + f" and save it as {file.name} in the folder that SHOAL_DATA names.",
        reason=reason,
    )


def _other_bytes(file: DataFile) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"What {urlsplit(file.url).netloc} sent is not the {file.name} shoal was tested with: its "
        "SHA-256 differs. Nothing was written.",
        "Try again, in case the connection broke. If it stays so, the file was changed there: read "
        f"your version by its path. The set is published at {file.home}.",
        reason="changed",
    )


def _not_offered(name: str, file: DataFile) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"The data set {name!r} is not to be fetched: shoal was tested with a file that is not as "
        f"published ({file.changes}).",
        f"Get the set at {file.home} and read it by its path.",
        reason="not offered",
    )


def _comes_with_scikit_learn(name: str) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"The data set {name!r} comes with scikit-learn: there is nothing to fetch.",
        f"shoal.data.load({name!r}) loads it at once. Also: {', '.join(BUNDLED)}.",
        reason="bundled",
    )
