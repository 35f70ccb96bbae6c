"""Reports that lie on Spark, as what they are: counted there, and a sample of them comes here."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.cli.inputs.report_file import sidecar_of
from shoal.cli.inputs.reports import Heard, about_of, differing, read_about
from shoal.data.source import picked, unique
from shoal.engine.spark.failures import guarded
from shoal.engine.spark.files import digest_of, files_of, uri_of
from shoal.engine.spark.schema import quoted
from shoal.mechanisms import LocalGrid
from shoal.perturb.shape import shape_of
from shoal.randomness import Seed

__all__ = ["heard_on_spark"]


def heard_on_spark(table: str, frame: Any, random_state: Seed) -> Heard:
    """Reports at a path of Spark's; true rows, and tables that nothing is said about, are refused.

    Parameters
    ----------
    table, frame
        Where they are, as ``shoal perturb`` wrote them, with a file of the same name and ``.json``
        beside; the same as a frame.
    random_state
        Of the sample.
    """
    from shoal.cluster import FrameReports

    uri = uri_of(table.rstrip("/"))
    told = read_about(_text(frame.sparkSession, sidecar_of(uri)), table)
    about = about_of(table, told)
    _check_same(frame.sparkSession, uri, told)
    columns = shape_of(about.mechanism).names_out(about.box.names)
    cells = isinstance(about.mechanism, LocalGrid)  # as text in a CSV file
    picked(unique(frame.columns), columns)
    named = (quoted(name) for name in columns)
    chosen = [f"try_cast({name} AS BIGINT) AS {name}" if cells else name for name in named]
    frame = frame.selectExpr(*chosen)
    reports = FrameReports(frame, about.mechanism).gather(random_state)
    heard = replace(reports, remap=about.remap)
    protects = str(told.get("protects", "a row"))
    return Heard(heard, len(heard), about.guarantee, about.box, protects)


def _text(session: Any, uri: str) -> str | None:
    """A small file, if it is there."""
    if not files_of(session).exists(uri):
        return None
    with guarded("reading what is said of the reports"):
        lines = session.read.text(uri, wholetext=True).toArrow()["value"].to_pylist()
    return "".join(lines)  # none, if it is empty


def _check_same(session: Any, uri: str, told: Mapping[str, Any]) -> None:
    """A folder has the checksum of its files' checksums; a file written on one machine its own."""
    own = told["file"]["sha256"]
    if digest_of(session, uri) not in (own, hashlib.sha256(f"{own}\n".encode()).hexdigest()):
        raise differing(uri)
