"""Sign what a verb released, with the key of ``--sign``."""

from collections.abc import Collection
from pathlib import Path

from shoal.pages.page import Line


def check_signing_key(key: Path | None) -> None:
    """Refuse a key that cannot sign, before anything is spent."""
    if key is not None:
        from shoal.verify import public_key_of

        public_key_of(key)


def sign_lines(key: Path | None, folder: Path, names: Collection[str]) -> list[Line]:
    """Sign the release that has these files, if a key was given, and return where it was."""
    if key is None:
        return []
    from shoal.verify import sign_folder

    written = sign_folder(folder, key, only=names)
    return [Line("Signed", str(each), is_literal=True) for each in written]
