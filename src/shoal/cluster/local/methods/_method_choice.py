"""The learning methods by name, and the rule by which ``method="auto"`` chooses one."""

from shoal.cluster.local.methods import _blended_estimates as blend
from shoal.cluster.local.methods import _em as em
from shoal.cluster.local.methods import _grid as grid
from shoal.cluster.local.methods import _mixture as mixture
from shoal.cluster.local.methods import _moments as moments
from shoal.cluster.local.methods import _plain_kmeans as plain_kmeans
from shoal.cluster.local.methods import _posterior_means as posterior_means
from shoal.cluster.local.methods._moments import noise_variance
from shoal.cluster.local.methods._result import Learn
from shoal.errors import InvalidSetting
from shoal.mechanisms import LocalGrid, NDLaplace, Piecewise, Reports, SquareWave

METHODS: dict[str, Learn] = {
    "blend": blend.learn,
    "em": em.learn,
    "grid": grid.learn,
    "mixture": mixture.learn,
    "moments": moments.learn,
    "plain": plain_kmeans.learn,
    "posterior-means": posterior_means.learn,
}
# Measured in docs/decisions/local-auto.md.
_LITTLE_NOISE = 0.03  # of the reports' variance: then every method finds the same
_MANY_EACH = 400  # reports a cluster on a lattice, from where on EM's density alone is better
_VERY_MANY = 100_000  # reports in more columns


def method_by_name(name: str) -> Learn:
    """Return the learning function of this name.

    Raises
    ------
    InvalidSetting
        If there is none of this name.
    """
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    raise InvalidSetting.of(
        "method", f"must be one of {', '.join(map(repr, ('auto', *METHODS)))}", "auto", name
    )


def choose_method(reports: Reports, n_clusters: int) -> str:
    """Choose the method for ``method="auto"`` by mechanism, noise and number of reports.

    The rule was measured: docs/decisions/local-auto.md.

    Returns
    -------
    A name of ``METHODS``.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> choose_method(NDLaplace(1.0).release([[0.0, 0.0]] * 300, Randomness(7).noise), 2)
    'blend'
    """
    mechanism = reports.mechanism
    if isinstance(mechanism, LocalGrid):
        return "grid"
    if isinstance(mechanism, NDLaplace):
        return _for_laplace(reports, mechanism, n_clusters)
    sliding = isinstance(mechanism, Piecewise | SquareWave) and reports.values.shape[1] == 1
    return "em" if sliding else "plain"


def _for_laplace(reports: Reports, mechanism: NDLaplace, n_clusters: int) -> str:
    n, d = reports.values.shape
    scaled = mechanism.space.scaled(reports.values)
    noise, variance = noise_variance(mechanism, d), float(scaled.var(axis=0).mean())
    if noise < _LITTLE_NOISE * variance:
        return "moments"
    many = _MANY_EACH * n_clusters if d <= 3 else _VERY_MANY
    return "em" if n > many else "blend"
