"""Load reports in a Spark frame: they are counted there, and a sample is fetched."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.engine import frame_table
from shoal.engine.table import FrameTable
from shoal.jobs.reports._load_reports import (
    LoadedReports,
    origin_of,
    other_table_error,
    parse_sidecar,
)
from shoal.jobs.reports._report_file import sidecar_of
from shoal.mechanisms import LocalGrid
from shoal.perturb import shape_of
from shoal.randomness import Seed


def load_frame_reports(table: str, frame: Any, random_state: Seed) -> LoadedReports:
    """Load reports of a cluster; true rows, and tables without a sidecar, are refused.

    Parameters
    ----------
    table
        Where they are, as ``shoal perturb`` wrote them, with a file of the same name and ``.json``
        beside.
    frame
        The same table as a frame.
    random_state
        The seed of the sample.
    """
    from shoal.cluster import FrameReports

    rows, path = frame_table(frame), table.rstrip("/")
    sidecar = parse_sidecar(rows.text_at(sidecar_of(path)), table)
    origin = origin_of(table, sidecar)
    _check_same(rows, path, sidecar)
    columns = shape_of(origin.mechanism).names_out(origin.box.names)
    cells = isinstance(origin.mechanism, LocalGrid)  # as text in a CSV file
    chosen = rows.select(columns, whole=cells)
    reports = FrameReports(chosen, origin.mechanism).gather(random_state)
    reports = replace(reports, remap=origin.remap)
    protects = str(sidecar.get("protects", "a row"))
    return LoadedReports(reports, len(reports), origin.guarantee, origin.box, protects)


def _check_same(frame: FrameTable, path: str, sidecar: Mapping[str, Any]) -> None:
    """Check the checksum: a folder's is that of its files' checksums, a file's its own."""
    own = sidecar["file"]["sha256"]
    if frame.digest(path) not in (own, hashlib.sha256(f"{own}\n".encode()).hexdigest()):
        raise other_table_error(path)
