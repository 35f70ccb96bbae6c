"""What is let in: reports of one mechanism to the learner, records of any table on the client.

What a mechanism says about itself, under whichever names it has it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.domain import Box
from shoal.domain.box import Matrix, as_matrix
from shoal.engine.entry import by_engine
from shoal.errors import ConflictingSettings, NotAReport, NotFinite, TooFewRows, quantity
from shoal.mechanisms.local.categories.local_grid import LocalGrid
from shoal.mechanisms.local.records import extremes, records_of
from shoal.mechanisms.local.reports import Reports, as_raw_reports, as_reports
from shoal.perturb.settings import settings_of
from shoal.perturb.tables import numbers_of
from shoal.privacy import LocalDP, MetricDP

__all__ = [
    "box_of",
    "check_reports",
    "local_guarantee",
    "records",
    "refuse_frame",
    "refuse_too_few",
]


def check_reports(reports: object, mechanism: Any, remapped: bool = False) -> Reports:
    """Reports that this mechanism made, checked: rows and bare arrays are refused.

    Parameters
    ----------
    reports, mechanism
        What came; what should have made it. A ``LocalGrid`` may leave its cells to the number of
        reports.
    remapped
        Whether reports will do that were clamped or snapped, which have another law.
    """
    own = as_reports(reports) if remapped else as_raw_reports(reports)
    if isinstance(mechanism, LocalGrid) and len(own):
        mechanism = mechanism.with_cells_for(len(own))
    if settings_of(own.mechanism) != settings_of(mechanism):  # 1 and 1.0 are one epsilon
        raise NotAReport(
            f"These reports were made by another {type(own.mechanism).__name__}, not by the "
            f"{type(mechanism).__name__} of this model.",
            "Give the mechanism that made them: mechanism=reports.mechanism.",
        )
    return own if isinstance(mechanism, LocalGrid) else replace(own, values=_numbers(own))


def refuse_too_few(reports: Reports, n_clusters: int) -> None:
    """``TooFewRows`` if there are fewer reports than clusters."""
    if len(reports) < n_clusters:
        raise TooFewRows(
            f"{quantity(len(reports), 'report')} cannot make {quantity(n_clusters, 'cluster')}.",
            "Collect more; LocalClusterer.needs(...) estimates how many are needed.",
        )


def refuse_frame(X: object) -> None:
    """``ConflictingSettings`` if a frame of a cluster came to be answered."""
    by_engine(X, embedded=lambda X: None, distributed=_refuse_answers)


def _refuse_answers(table: object) -> None:
    raise ConflictingSettings(
        "Answers are drawn on the machine that has the record; got a Spark frame.",
        "Report its labels instead: Perturb(model.label_mechanism(epsilon)).fit_transform("
        'model.predict(frame).select("label")), which spends budget there.',
    )


def records(X: Any, box: Box | None, d: int) -> Matrix:
    """A client's own records, moved into the box: columns of a table by name, of an array in order.

    Examples
    --------
    >>> table = {"city": ["Ulm"], "y": [4.0], "x": [11.0]}
    >>> records(table, Box(x=(0, 10), y=(0, 10)), 2).tolist()
    [[10.0, 4.0]]
    """
    if box is None:
        return records_of(X, d=d)
    array = isinstance(X, np.ndarray | list | tuple)
    return records_of(X if array else numbers_of(X, box.names), box, clip=True)


def _numbers(reports: Reports) -> Matrix:
    """Their values as float64, as wide as the mechanism says, all finite."""
    box = box_of(reports.mechanism)
    width = getattr(reports.mechanism, "d", None) if box is None else box.d
    values = as_matrix(reports.values, width)
    if len(values) and not np.isfinite(extremes(values)).all():
        bad = np.count_nonzero(~np.isfinite(values).all(axis=1))
        raise NotFinite(
            f"{bad} of {len(values)} reports hold NaN or infinite numbers.",
            "No mechanism produces those: read the reports again, or drop them.",
        )
    return values


def box_of(mechanism: Any) -> Box | None:
    """Its public bounds, if it has any.

    Examples
    --------
    >>> from shoal.mechanisms import NDLaplace
    >>> box_of(NDLaplace(1.0, domain=Box(age=(0, 110)))), box_of(NDLaplace(1.0))
    (Box(age=(0, 110)), None)
    """
    domain = getattr(mechanism, "domain", None)
    return domain if isinstance(domain, Box) else None


def local_guarantee(mechanism: Any) -> LocalDP:
    """Its promise for any two records of its box; ``UnknownBounds`` where it has none."""
    guarantee, box = mechanism.guarantee, box_of(mechanism)
    if isinstance(guarantee, LocalDP):
        return guarantee
    if isinstance(guarantee, MetricDP) and box is not None:
        return guarantee.as_local(box)
    local: LocalDP = mechanism.as_local()
    return local
