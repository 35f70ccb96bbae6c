"""Load reports from a file; the sidecar beside it says what made them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.documents import parse_json
from shoal.errors import NotAReport, NotFinite, sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.domain import Box
    from shoal.mechanisms import Reports
    from shoal.privacy import Guarantee


SCHEMA = "shoal.reports/1"
MOST_NUMBERS = 40_000_000  # in memory at a time: 320 MB
_PERTURB = (
    "Make reports with `shoal perturb rows.csv --mechanism local-grid --epsilon 1 --domain "
    "domain.yaml -o reports.parquet`; keep the two files it writes together."
)


@dataclass(frozen=True, eq=False)
class LoadedReports:
    """The reports of a table, and what its sidecar says about them.

    Attributes
    ----------
    reports
        All of them, or as many as fit, drawn at random; or what is needed of those on Spark.
    total
        How many there are.
    guarantee
        Their promise, marked if their noise came from a seed.
    box
        The public bounds of the records.
    protects
        What one report is about: a row, or a person.
    """

    reports: "Reports"
    total: int
    guarantee: "Guarantee"
    box: "Box"
    protects: str


def load_reports(
    table: str,
    rng: "np.random.Generator",
    progress: Callable[[int], None],
    most: int = MOST_NUMBERS,
) -> LoadedReports:
    """Read reports; true rows, and files without a sidecar, are refused.

    Parameters
    ----------
    table
        The file of reports, as ``shoal perturb`` wrote it, with its sidecar of the same name and
        ``.json``.
    rng
        Draws which reports are kept if there are too many.
    progress
        Called with how many were read.
    most
        How many numbers may be held in memory.
    """
    from shoal.mechanisms import Reports

    sidecar = read_sidecar(table)
    origin = origin_of(table, sidecar)
    values, total = _values(table, origin.mechanism, origin.box.names, rng, progress, most)
    reports = Reports(values, origin.mechanism, origin.remap)
    protects = str(sidecar.get("protects", "a row"))
    return LoadedReports(reports, total, origin.guarantee, origin.box, protects)


def read_sidecar(table: str) -> dict[str, Any]:
    """Read the sidecar, and check that it is about these reports."""
    from shoal.data import source_of

    if table == "-":
        raise NotAReport(
            "Reports cannot be read from standard input: nothing says what made them.",
            f"Name the file of reports. {_PERTURB}",
        )
    source_of(table)  # refused here, if there is no table at all
    about = Path(f"{table.rstrip('/')}.json")
    try:
        text = about.read_text(encoding="utf-8") if about.is_file() else None
    except (OSError, ValueError):
        raise _unknown_sidecar(table) from None
    sidecar = parse_sidecar(text, table)
    _check_same(Path(table), sidecar)
    return sidecar


def parse_sidecar(text: str | None, table: str) -> dict[str, Any]:
    """Parse a sidecar as this version writes it.

    Parameters
    ----------
    text
        The content of the sidecar; None if there is none.
    """
    if text is None:
        name = Path(table).name
        raise NotAReport(
            f"There is no {name}.json beside {name}, so these may be true rows: nothing says "
            "what made them.",
            _PERTURB,
        )
    try:
        sidecar = parse_json(text)
        known = sidecar["schema"] == SCHEMA and isinstance(sidecar["file"]["sha256"], str)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise _unknown_sidecar(table)
    return dict(sidecar)


def _check_same(table: Path, sidecar: Mapping[str, Any]) -> None:
    if not table.is_file():  # a folder, written by Spark
        return
    with table.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != sidecar["file"]["sha256"]:
        raise other_table_error(str(table))


def other_table_error(table: str) -> NotAReport:
    """Return the error for a table that its sidecar is not about."""
    name = Path(table).name
    return NotAReport(
        f"{name} is not the file that {name}.json describes: its checksum differs.",
        "Use the two files as `shoal perturb` wrote them. Reports collected another way can be "
        "wrapped in Python: shoal.Reports(values, mechanism).",
    )


def _unknown_sidecar(table: str) -> NotAReport:
    return NotAReport(
        f"{Path(table).name}.json does not say what made these values.",
        f"Its format must be {SCHEMA}, as this version writes it. {_PERTURB}",
    )


class Origin(NamedTuple):
    """What made the reports.

    Parameters
    ----------
    remap
        What was applied to the reports, or None.
    """

    mechanism: Any
    remap: Any
    guarantee: "Guarantee"
    box: "Box"


def origin_of(table: str, sidecar: Mapping[str, Any]) -> Origin:
    """Rebuild the mechanism and its promise from a sidecar."""
    from shoal.cluster.local import mechanism_of
    from shoal.synopsis import read_box

    _check_numeric(sidecar)
    try:
        mechanism, box = mechanism_of(sidecar["mechanism"]), read_box(sidecar["domain"])
        if mechanism.domain is not None and mechanism.domain != box:
            raise _unknown_sidecar(table)
        guarantee = mechanism.guarantee.simulated(sidecar["simulation"] is not False)
        return Origin(mechanism, _remap(sidecar["remap"]), guarantee, box)
    except (KeyError, TypeError, ValueError, AttributeError):  # an error of ours is a ValueError
        raise _unknown_sidecar(table) from None


def _check_numeric(sidecar: Mapping[str, Any]) -> None:
    mechanism = sidecar.get("mechanism")
    name = mechanism.get("class") if isinstance(mechanism, Mapping) else None
    if name in ("Mixed", "RandomizedResponse", "UnaryEncoding"):
        raise NotAReport(
            f"Reports of {name} hold categories; groups are found among numbers.",
            sentence(
                "Report {columns} of numbers alone, with {mechanism:local-grid}; or "
                "columns of both kinds in rounds, with {mechanism:rounds}."
            ),
        )
    if name in ("LocalPrototypes", "LocalRounds"):
        raise NotAReport(
            "These reports were made in rounds, which are learnt from on one machine.",
            sentence("Leave out {engine}."),
        )


def _values(
    table: str,
    mechanism: Any,
    columns: tuple[str, ...],
    rng: "np.random.Generator",
    progress: Callable[[int], None],
    most: int,
) -> tuple["NDArray[Any]", int]:
    """Return the values as released, a sample if they are many, and their number."""
    import numpy as np

    from shoal.data import source_of
    from shoal.data.encode import encode_numbers
    from shoal.engine.sample import Sample
    from shoal.mechanisms import LocalGrid
    from shoal.perturb import shape_of

    names = shape_of(mechanism).names_out(columns)
    sample, total = Sample(max(most // len(names), 1), rng), 0
    for batch in source_of(table).batches(names):
        sample.add(encode_numbers(batch, names))
        total += batch.num_rows
        progress(total)
    values = sample.rows(len(names))
    if not np.isfinite(values).all():
        raise NotFinite("Some reports are not numbers.", "Use the file as it was written.")
    if isinstance(mechanism, LocalGrid):
        return values[:, 0].astype(np.int64), total
    return np.ascontiguousarray(values), total


def _remap(settings: Mapping[str, Any] | None) -> Any:
    """Return what was applied to the reports, if anything."""
    from shoal.mechanisms import bayes_remap, clamp, snap
    from shoal.synopsis import read_box

    if settings is None:
        return None
    name = settings["class"]
    if name == "BayesRemap":
        return bayes_remap(settings["prior"], settings["loss"])
    box = read_box(settings["box"])
    return clamp(box) if name == "Clamp" else snap(box, tuple(settings["nodes"]))
