"""What pages of private releases share: settings, units and sentences."""

from typing import TYPE_CHECKING, Any

from shoal.estimator import person_and_limit
from shoal.pages.page import Line, bounds_origin, bounds_text, promise_lines
from shoal.privacy import ApproxDP

if TYPE_CHECKING:
    from shoal.domain import Box
    from shoal.privacy import Guarantee


ROW_IS_PERSON = (
    "One row is taken as one person. For someone with several rows the limit is weaker: it counts "
    "once for each row."
)


def release_settings(
    box: "Box | None", guarantee: "Guarantee", publisher: str | None, **own: str
) -> dict[str, str]:
    """Return the settings that private releases share, and a method's own, for a page.

    Parameters
    ----------
    box
        Public bounds; None where a method says itself what is public.
    publisher
        Who publishes it; None leaves it out.
    """
    source = "from a seed" if guarantee.simulation else "cryptographic source"
    has_delta = isinstance(guarantee, ApproxDP) and guarantee.delta
    means = (
        "; noisy means together are one Gaussian release, and share ε and δ" if has_delta else ""
    )
    shared = {
        "holder": "the holder of the table, and nobody else",
        "noise": f"on whole numbers, {source}{means}",
    }
    if box is not None:
        shared["bounds"] = f"{bounds_origin(box)}: {bounds_text(box)}"
    return own | shared | ({"publisher": publisher} if publisher else {})


def exact_promise_lines(guarantee: "Guarantee", **context: Any) -> list[Line]:
    """Return the promise in a sentence, and by its name."""
    from shoal.privacy.wording import promise

    lines = promise_lines(guarantee, **context)
    named = promise(guarantee, **context)
    return [*lines, Line("Exactly", f"{named.name}, for {named.protects}.")]


def promise_values(guarantee: "Guarantee") -> dict[str, Any]:
    """Return what ``--json`` prints of every release: the promise."""
    return {"guarantee": guarantee.to_dict(), "simulation": guarantee.simulation}


def has_no_person_column(model: Any) -> bool:
    """Return whether no column says whose a row is."""
    return person_and_limit(model.domain)[0] is None


def unit_of(model: Any) -> str:
    """Return what is counted: people where each is known and has one row, else rows."""
    person, limit = person_and_limit(model.domain)
    return "people" if person is not None and limit == 1 else "rows"
