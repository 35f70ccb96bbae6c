"""Where verdicts are kept: a page or a document, checked before the work and written after it."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import AlreadyExists, InvalidSetting

if TYPE_CHECKING:
    from shoal.report import Verdicts

__all__ = ["check_page", "write_page"]


def check_page(output: Path | None, overwrite: bool, example: str) -> None:
    """Refuse a name that cannot be written to, before anything is computed for it."""
    if output is None:
        return
    if output.suffix not in (".html", ".json"):
        raise InvalidSetting(
            f"{output.name} ends in neither .html nor .json.", f"E.g. -o {example}."
        )
    if not overwrite and os.path.lexists(output):
        raise AlreadyExists(f"{output} exists already.", "Choose another name, or add --overwrite.")


def write_page(
    output: Path,
    overwrite: bool,
    *,
    document: Mapping[str, Any],
    page: Callable[[], "Verdicts"],
    for_the_holder: bool,
) -> None:
    """Write the page or the document, whole or not at all.

    Parameters
    ----------
    output, overwrite
        The file; its ending says which of the two is wanted.
    document, page
        Values for JSON; what makes the page.
    for_the_holder
        Whether only its owner may read the file.
    """
    from shoal.engine.scratch import private_file
    from shoal.files import whole_file
    from shoal.report import verdict_page

    as_json = output.suffix == ".json"
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n" if as_json else ""
    with whole_file(output, overwrite) as part:
        if for_the_holder:
            private_file(part)
        part.write_text(text or verdict_page(page()), encoding="utf-8", newline="\n")
