"""Hierarchies as ARX reads them."""

import csv
from pathlib import Path

from shoal.anonymize.hierarchies.hierarchy import Hierarchy
from shoal.files import whole_file

__all__ = ["write_arx"]


def write_arx(hierarchy: Hierarchy, path: str | Path, overwrite: bool = False) -> Path:
    """Write a line a leaf, ``;`` between labels, the leaf first and the root last.

    A learnt hierarchy lists the table's own values: such a file is the curator's.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.anonymize.hierarchies import binary
    >>> file = Path(tempfile.mkdtemp()) / "age.csv"
    >>> write_arx(binary((0, 3), whole=True, min_width=2), file).read_text().split()
    ['<2;*', '>=2;*']
    """
    with whole_file(path, overwrite) as part, part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(hierarchy.paths())
    return Path(path)
