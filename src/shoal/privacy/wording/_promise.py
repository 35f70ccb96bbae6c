"""What a guarantee means, in words: plain for everyone, exact for auditors.

Pure functions of a guarantee; every limit on a page comes from here. The plain words speak to the
person described, chances are "in 100", limits are rounded to the careful side, and what a promise
leaves out is said beside what it holds.
"""

from collections.abc import Callable
from typing import Any

from shoal.privacy import (
    ApproxDP,
    Budget,
    Guarantee,
    KAnonymity,
    KMap,
    LocalDP,
    MetricDP,
    PureDP,
    Unprotected,
)
from shoal.privacy.wording._guarantee_text import (
    Promise,
    k_anonymity_promise,
    k_map_promise,
    local_promise,
    metric_promise,
    table_promise,
)
from shoal.privacy.wording.amounts import small_belief_note

SIMULATION = (
    "Simulation. The noise can be repeated by anyone who has the seed, so nothing here is "
    "protected."
)


def promise(guarantee: Guarantee, **context: Any) -> Promise:
    """Return the text of a guarantee.

    Parameters
    ----------
    guarantee
        What was promised.
    **context
        What words may need and a guarantee does not hold: ``value`` (what a report or a row
        tells, e.g. "answer"), ``by_holder`` (reports were made from a holder's table, not on
        people's own devices), ``columns`` (names that make up a group) and ``rules`` (for each
        sensitive column what holds in every group, counted), ``diameter`` and ``dimensions`` of
        the public domain.

    Examples
    --------
    >>> promise(PureDP(1)).lead
    'If someone thought the chance that you are in this table was 10 in 100, this release can move
    them to at most 24 in 100, however clever they are.'
    >>> promise(Unprotected("The scores are the plain ones.")).lead
    'No promise. The scores are the plain ones.'
    """
    writers: dict[type[Guarantee], Callable[..., Promise]] = {
        PureDP: table_promise,
        ApproxDP: table_promise,
        LocalDP: local_promise,
        MetricDP: metric_promise,
        KAnonymity: k_anonymity_promise,
        KMap: k_map_promise,
        Unprotected: _unprotected,
    }
    return writers[type(guarantee)](guarantee, **context)


def in_all(guarantee: Guarantee, total: Budget | None) -> tuple[str, ...]:
    """Return the warning for releases that are small one by one and large together.

    Parameters
    ----------
    total
        What all releases promise together, if known.
    """
    if total is None or not isinstance(guarantee, PureDP | ApproxDP | LocalDP):
        return ()
    if guarantee.epsilon >= 5:
        return ()
    return (
        (f"With all releases counted, a {small_belief_note(total.epsilon)}",)
        if total.epsilon >= 5
        else ()
    )


def _unprotected(guarantee: Unprotected, **_: Any) -> Promise:
    return Promise(
        lead=f"No promise. {guarantee.reason.rstrip('.')}.",
        more=(),
        exact="No limit is claimed.",
        holds=(),
        fails=("Nothing on this page limits what can be learnt about anyone in the rows.",),
        name="none",
        protects="nobody",
        compared="nothing",
        head="Nothing is promised",
        found="Nothing here was changed to protect anyone.",
    )
