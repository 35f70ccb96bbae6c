"""Save and load a synopsis of a mixed table: one JSON document, never pickle."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.bounds_check import BoundsCheck
from shoal.data import atomic_folder
from shoal.documents import parse_json, with_digest
from shoal.domain import Schema
from shoal.errors import AlreadyExists, UnreadableModel
from shoal.privacy import guarantee_of
from shoal.synopsis.folder import write_part

if TYPE_CHECKING:
    from shoal.synopsis.mixed._estimator import MixedSynopsis


FORMAT = "shoal.mixed-synopsis/1"
DOCUMENT = "synopsis.json"
_VERSIONS = ("shoal", "numpy", "randomgen", "pyarrow")
_DAMAGED = (OSError, KeyError, TypeError, ValueError, AttributeError, IndexError)


def save_synopsis(synopsis: Any, folder: str | Path, overwrite: bool = False) -> Path:
    """Write a fitted synopsis to a folder of its own, whole or not at all.

    Parameters
    ----------
    synopsis
        A fitted ``MixedSynopsis``.
    folder
        Where; it must hold nothing else.
    """
    place = Path(folder)
    if place.is_dir() and any(each.name != DOCUMENT for each in place.iterdir()):
        raise AlreadyExists(
            f"{place} holds files that no synopsis wrote.", "Choose another folder."
        )
    document = {
        "schema": FORMAT,
        "domain": synopsis.domain.to_dict(),
        "guarantee": synopsis.guarantee_.to_dict(),
        "versions": {name: version(name) for name in _VERSIONS},
        "released": synopsis.to_dict(),
    }
    if (check := synopsis.bounds_check_) is not None:
        document["bounds_check"] = check.to_dict()
    with atomic_folder(folder, overwrite) as part:
        write_part(with_digest(document), part / DOCUMENT)
    return place


def load_synopsis(folder: str | Path) -> "MixedSynopsis":
    """Read a synopsis that was saved.

    Parameters
    ----------
    folder
        What ``save_synopsis`` wrote.

    Raises
    ------
    UnreadableModel
        If it is none, or a part of it is missing.
    """
    from shoal.synopsis.mixed._estimator import MixedSynopsis

    try:
        document = parse_json((Path(folder) / DOCUMENT).read_text(encoding="utf-8"))
        if document["schema"] != FORMAT:
            raise ValueError(FORMAT)
        domain = Schema.of(document["domain"])
        synopsis = MixedSynopsis.of_dict(document["released"], domain)
        synopsis.guarantee_ = guarantee_of(document["guarantee"])
        if (check := document.get("bounds_check")) is not None:
            synopsis.bounds_check_ = BoundsCheck.of(check)
    except _DAMAGED as error:
        raise UnreadableModel(
            f"{folder} holds no synopsis of a mixed table, or a part of it is missing "
            f"({type(error).__name__}).",
            "Name the folder that `save` wrote.",
        ) from None
    return synopsis
