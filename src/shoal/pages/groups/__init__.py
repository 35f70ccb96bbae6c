"""The page of groups, whatever found them: k-means, prototypes, cells that touch, reports, rounds.

``_view`` asks every fitted model for the same (columns, groups, sizes, centres, intervals,
certainty) and builds the page of it; a file for each kind says what is true of that kind alone.
``_cards`` and ``_numeric_profiles`` are what is typical of a group, ``_number_of_groups`` says why
there are so many, ``_what_if`` what another budget would do, ``_code`` how to do the same again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shoal.cluster.registry import REGISTRY
from shoal.pages.groups._code import CodeFiles
from shoal.pages.groups._kmeans import KMeansGroups
from shoal.pages.groups._prototypes import PrototypeGroups
from shoal.pages.groups._reports import MAY_BE_NOISE, LocalGroups
from shoal.pages.groups._rounds import RoundGroups
from shoal.pages.groups._view import FittedGroups, GroupsView
from shoal.pages.groups._wave import WaveGroups
from shoal.pages.page import Page

__all__ = [
    "MAY_BE_NOISE",
    "CodeFiles",
    "FittedGroups",
    "GroupsView",
    "KMeansGroups",
    "LocalGroups",
    "PrototypeGroups",
    "RoundGroups",
    "WaveGroups",
    "page",
]

_VIEWS: dict[str, Callable[..., GroupsView]] = {
    "kmeans": KMeansGroups,
    "prototypes": PrototypeGroups,
    "reports": LocalGroups.of,
    "rounds": RoundGroups,
    "wave": WaveGroups,
}
# A class of the user's own has the page of its base.
_KINDS = {each.name: each.page for each in REGISTRY if each.page is not None}


def has_groups(subject: Any) -> bool:
    """Whether a page of groups can be made of something."""
    return isinstance(subject, GroupsView) or _kind_of(subject) is not None


def page(
    subject: Any, *, title: str | None = None, publisher: str | None = None, **about: Any
) -> Page:
    """Build the page of a fitted model.

    Parameters
    ----------
    subject
        A fitted or loaded model; or a view of one, of which more is known.
    title
        Of the page; None names groups and columns.
    **about
        ``names`` of the groups, and what its kind of view takes besides.
    """
    if isinstance(subject, GroupsView):
        view = replace(subject, **about)
    else:
        kind = _kind_of(subject)
        assert kind is not None
        view = _VIEWS[kind](subject, **about)
    return view.page(title, publisher)


def _kind_of(subject: Any) -> str | None:
    ours = (each for each in type(subject).__mro__ if each.__module__.startswith("shoal."))
    return next((_KINDS[each.__name__] for each in ours if each.__name__ in _KINDS), None)
