"""Check what is given to a learner: reports of one mechanism, or records of a client.

``box_of`` and ``local_guarantee`` read the bounds and the promise of any mechanism.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.engine import by_engine
from shoal.errors import ConflictingSettings, NotAReport, NotFinite, TooFewRows, quantity
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local import as_raw_reports, as_reports, extremes, records_of
from shoal.perturb import settings_of
from shoal.perturb.tables import numbers_of
from shoal.privacy import LocalDP, MetricDP


def check_reports(reports: object, mechanism: Any, remapped: bool = False) -> Reports:
    """Check that reports were made by this mechanism; rows and bare arrays are refused.

    Parameters
    ----------
    reports
        What was given to ``fit``.
    mechanism
        The mechanism that should have made them. A ``LocalGrid`` without given cells gets them from
        the number of reports.
    Returns
    -------
    The reports, with values as finite numbers.
    """
    own = as_reports(reports) if remapped else as_raw_reports(reports)
    if isinstance(mechanism, LocalGrid) and len(own):
        mechanism = mechanism.with_cells_for(len(own))
    # Settings are compared as JSON values, in which 1 and 1.0 are one epsilon.
    if settings_of(own.mechanism) != settings_of(mechanism):
        raise NotAReport(
            f"These reports were made by another {type(own.mechanism).__name__}, not by the "
            f"{type(mechanism).__name__} of this model.",
            "Give the mechanism that made them: mechanism=reports.mechanism.",
        )
    return own if isinstance(mechanism, LocalGrid) else replace(own, values=_numbers(own))


def refuse_too_few(reports: Reports, n_clusters: int) -> None:
    """Raise ``TooFewRows`` if there are fewer reports than clusters."""
    if len(reports) < n_clusters:
        raise TooFewRows(
            f"{quantity(len(reports), 'report')} cannot make {quantity(n_clusters, 'cluster')}.",
            "Collect more; LocalClusterer.needs(...) estimates how many are needed.",
        )


def refuse_frame(X: object) -> None:
    """Raise ``ConflictingSettings`` for a Spark frame, whose labels cannot be answered here."""
    by_engine(X, embedded=lambda X: None, distributed=_refuse_answers)


def _refuse_answers(table: object) -> None:
    raise ConflictingSettings(
        "Answers are drawn on the machine that has the record; got a Spark frame.",
        "Report its labels instead: Perturb(model.label_mechanism(epsilon)).fit_transform("
        'model.predict(frame).select("label")), which spends budget there.',
    )


def records(X: Any, box: Box | None, d: int) -> Floats:
    """Return a client's own records as numbers, moved into the box.

    Parameters
    ----------
    X
        An array, whose columns are taken in order, or a table, whose columns are taken by name.
    box
        The public bounds; None if the mechanism has none.
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


def _numbers(reports: Reports) -> Floats:
    """Return the values as finite float64 numbers, with as many columns as the mechanism has."""
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
    """Return the public bounds of a mechanism, or None if it has none.

    Parameters
    ----------
    mechanism
        Any local mechanism.

    Examples
    --------
    >>> from shoal.mechanisms import NDLaplace
    >>> box_of(NDLaplace(1.0, domain=Box(age=(0, 110)))), box_of(NDLaplace(1.0))
    (Box(age=(0, 110)), None)
    """
    domain = getattr(mechanism, "domain", None)
    return domain if isinstance(domain, Box) else None


def local_guarantee(mechanism: Any) -> LocalDP:
    """Return the promise of a mechanism for any two records of its box.

    Raises
    ------
    UnknownBounds
        If its promise depends on distances and it has no box.
    """
    guarantee, box = mechanism.guarantee, box_of(mechanism)
    if isinstance(guarantee, LocalDP):
        return guarantee
    if isinstance(guarantee, MetricDP) and box is not None:
        return guarantee.as_local(box)
    local: LocalDP = mechanism.as_local()
    return local
