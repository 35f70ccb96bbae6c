"""Reports in a frame of a cluster, as what they are: counted there, and a sample comes here."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.cli.inputs.report_file import sidecar_of
from shoal.cli.inputs.reports import Heard, about_of, differing, read_about
from shoal.engine.entry import frame_table
from shoal.engine.table import FrameTable
from shoal.mechanisms import LocalGrid
from shoal.perturb.shape import shape_of
from shoal.randomness import Seed

__all__ = ["heard_in_frame"]


def heard_in_frame(table: str, frame: Any, random_state: Seed) -> Heard:
    """Reports on a cluster; true rows, and tables that nothing is said about, are refused.

    Parameters
    ----------
    table
        Where they are, as ``shoal perturb`` wrote them, with a file of the same name and ``.json``
        beside.
    frame
        The same table as a frame.
    random_state
        Of the sample.
    """
    from shoal.cluster import FrameReports

    rows, path = frame_table(frame), table.rstrip("/")
    told = read_about(rows.text_at(sidecar_of(path)), table)
    about = about_of(table, told)
    _check_same(rows, path, told)
    columns = shape_of(about.mechanism).names_out(about.box.names)
    cells = isinstance(about.mechanism, LocalGrid)  # as text in a CSV file
    chosen = rows.select(columns, whole=cells)
    reports = FrameReports(chosen, about.mechanism).gathered(random_state)
    heard = replace(reports, remap=about.remap)
    protects = str(told.get("protects", "a row"))
    return Heard(heard, len(heard), about.guarantee, about.box, protects)


def _check_same(frame: FrameTable, path: str, told: Mapping[str, Any]) -> None:
    """A folder has the checksum of its files' checksums; a file written on one machine its own."""
    own = told["file"]["sha256"]
    if frame.digest(path) not in (own, hashlib.sha256(f"{own}\n".encode()).hexdigest()):
        raise differing(path)
