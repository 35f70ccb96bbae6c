"""The methods by name, and the rule by which ``method="auto"`` picks one."""

from shoal.cluster.local import blend, em, mixture, moments, plain, posterior_means
from shoal.cluster.local.learnt import Learn
from shoal.errors import InvalidSetting
from shoal.mechanisms.reports import Reports

__all__ = ["METHODS", "chosen", "method_named"]

METHODS: dict[str, Learn] = {
    "blend": blend.learn,
    "em": em.learn,
    "mixture": mixture.learn,
    "moments": moments.learn,
    "plain": plain.learn,
    "posterior-means": posterior_means.learn,
}


def method_named(name: str) -> Learn:
    """The method, or an error that lists them."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    raise InvalidSetting(
        f"method is none of {', '.join(map(repr, ('auto', *METHODS)))}.", 'E.g. method="auto".'
    )


def chosen(reports: Reports, n_clusters: int) -> str:
    """What ``method="auto"`` means for these reports."""
    return "blend"
