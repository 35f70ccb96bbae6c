"""Estimate how many people are unique in a population, from the class sizes of a sample.

Someone who is alone in the population with their quasi-identifiers can be recognised by anybody
who knows them. A sample shows who is alone in it; how many of those are alone in the population
is estimated by three models, and a rule says which of them to believe. Sizes come as in
``recount``: (sizes, 2), people of a class and how many classes have them.

References
----------
Zayatz, Estimation of the percent of unique population elements on a microdata file, 1991.
Chen, Keller-McNulty, Estimation of identification disclosure risk in microdata, JOS 1998.
Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, JOS 2001.
Dankar, El Emam, Neisa, Roffey, Estimating the re-identification risk of clinical data sets, 2012.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.errors import InvalidSetting

_SMALL_SAMPLE = 0.1  # up to this sampling fraction Dankar's rule believes Pitman


@dataclass(frozen=True)
class PopulationUniques:
    """Estimated shares of the people of a table who are unique in its population.

    Parameters
    ----------
    sample
        Share of the people who are alone in the table itself.
    pitman
        The estimate by Pitman's model; None where it cannot be fitted.
    zayatz
        The estimate by Zayatz's model.
    snb
        The estimate by the slide negative binomial model; None where it cannot be fitted.
    chosen
        The model that Dankar's rule believes.
    """

    sample: float
    pitman: float | None
    zayatz: float
    snb: float | None
    chosen: Literal["pitman", "zayatz", "snb"]

    @property
    def share(self) -> float:
        """The estimate that Dankar's rule believes."""
        value = {"pitman": self.pitman, "zayatz": self.zayatz, "snb": self.snb}[self.chosen]
        assert value is not None
        return value


def unique_share(sizes: ArrayLike) -> float:
    """Return the share of people who are alone in their class.

    Examples
    --------
    >>> unique_share([[1, 3], [2, 1]])
    0.6
    """
    people, classes = _columns(sizes)
    members = int(people @ classes)
    return int(classes[people == 1].sum()) / members if members else 0.0


def estimate_uniques(sizes: ArrayLike, population: int) -> PopulationUniques:
    """Estimate which share of a table's people is unique in the population.

    Dankar's rule: up to a sampling fraction of 10 % Pitman's estimate, above it the smaller one of
    Zayatz and the slide negative binomial; Zayatz where the other cannot be fitted. The sample is
    taken to be drawn at random.

    Parameters
    ----------
    sizes
        (sizes, 2): people of a class, and how many classes have them.
    population
        The people of the population, at least those of the table.

    Raises
    ------
    InvalidSetting
        If the population has fewer people than the table.

    Examples
    --------
    >>> estimate = estimate_uniques([[1, 30], [2, 20], [3, 10]], population=2_000)
    >>> estimate.chosen, estimate.sample, round(estimate.share, 3)
    ('pitman', 0.3, 0.031)
    """
    people, classes = _columns(sizes)
    members = int(people @ classes)
    if population < members:
        raise InvalidSetting(
            f"The population has {population:,} people, fewer than the table's {members:,}.",
            "Give the number of people of whom the table is a part.",
        )
    if not members or not classes[people == 1].any():
        return PopulationUniques(0.0, 0.0, 0.0, 0.0, "zayatz")  # nobody is alone even here
    fraction = members / population
    zayatz = zayatz_share(sizes, fraction)
    pitman, snb = pitman_share(sizes, fraction), snb_share(sizes, fraction)
    chosen: Literal["pitman", "zayatz", "snb"] = "zayatz"
    if fraction <= _SMALL_SAMPLE and pitman is not None:
        chosen = "pitman"
    elif fraction > _SMALL_SAMPLE and snb is not None and snb <= zayatz:
        chosen = "snb"
    return PopulationUniques(unique_share(sizes), pitman, zayatz, snb, chosen)


def zayatz_share(sizes: ArrayLike, fraction: float) -> float:
    """Estimate the share of people unique in the population by Zayatz's model.

    The class sizes of the population are taken to be distributed as those of the sample; by Bayes'
    rule that gives the chance that a class of one in the sample is one of one in the population.
    """
    from scipy.stats import hypergeom

    people, classes = _columns(sizes)
    members = int(people @ classes)
    population = max(round(members / fraction), members)
    one_in_sample = hypergeom.pmf(1, population, people, members)
    weights = classes / classes.sum() * one_in_sample
    return float(unique_share(sizes) * weights[people == 1].sum() / weights.sum())


def pitman_share(sizes: ArrayLike, fraction: float) -> float | None:
    r"""Estimate the share of people unique in the population by Pitman's sampling formula.

    Its parameters :math:`\theta` and :math:`\alpha` are fitted to the sample by maximum likelihood;
    a population of N people then has about :math:`N^\alpha \Gamma(\theta + 1) / \Gamma(\theta +
    \alpha)` unique ones.

    Returns
    -------
    None if the sample has no classes of two, or nothing but classes of one.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln, logit

    people, classes = _columns(sizes)
    if not classes[people == 1].any() or not classes[people == 2].any():
        return None
    members, groups = int(people @ classes), int(classes.sum())

    def parameters(x: Floats) -> tuple[float, float]:
        alpha = float(expit(x[0]))
        return float(np.exp(x[1])) - alpha, alpha

    def loss(x: Floats) -> float:
        theta, alpha = parameters(x)
        new = (
            (groups - 1) * np.log(alpha)
            + gammaln(theta / alpha + groups)
            - gammaln(theta / alpha + 1)
        )
        order = gammaln(theta + members) - gammaln(theta + 1)
        joined = classes @ (gammaln(people - alpha) - gammaln(1 - alpha))
        return float(order - new - joined)

    start = np.array([logit(0.3), np.log(max(groups / 2, 1.0))])
    bounds = [(-12.0, 12.0), (-10.0, 25.0)]
    fit = minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    if not np.isfinite(fit.fun):
        return None
    theta, alpha = parameters(fit.x)
    population = members / fraction
    log_uniques = gammaln(theta + 1) - gammaln(theta + alpha) + alpha * np.log(population)
    return _as_share(float(np.exp(log_uniques)) / population, sizes)


def snb_share(sizes: ArrayLike, fraction: float) -> float | None:
    r"""Estimate the share of people unique in the population by the slide negative binomial model.

    The size of a class of the population, less one, is negative binomial with :math:`\alpha` and
    :math:`\beta`. Each person is in the sample with the same chance, so a class of the sample is
    one draw more or less of a thinned negative binomial; both are fitted by maximum likelihood to
    the classes that are seen. Of K classes :math:`K \beta^\alpha` are of one person.

    Returns
    -------
    None if the fit fails.
    """
    from scipy.optimize import minimize
    from scipy.special import expit
    from scipy.stats import nbinom

    people, classes = _columns(sizes)

    def parts(x: Floats) -> tuple[float, float, float, Floats]:
        alpha, beta = float(np.exp(x[0])), float(expit(x[1]))
        thinned = beta / (beta + fraction * (1 - beta))
        unseen = (1 - fraction) * nbinom.pmf(0, alpha, thinned)
        shown = (1 - fraction) * nbinom.pmf(people, alpha, thinned) + fraction * nbinom.pmf(
            people - 1, alpha, thinned
        )
        return alpha, beta, float(unseen), shown

    def loss(x: Floats) -> float:
        _, _, unseen, shown = parts(x)
        return float(-(classes @ np.log(np.maximum(shown / max(1 - unseen, 1e-12), 1e-300))))

    starts = [np.array([a, b]) for a in (-2.0, 0.0) for b in (-3.0, 0.0)]
    bounds = [(-12.0, 6.0), (-14.0, 14.0)]
    fits = [minimize(loss, start, method="L-BFGS-B", bounds=bounds) for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun))
    alpha, beta, unseen, _ = parts(best.x)
    if not np.isfinite(best.fun) or unseen >= 1:
        return None
    groups = int(classes.sum()) / (1 - unseen)
    members = int(people @ classes)
    return _as_share(groups * beta**alpha / (members / fraction), sizes)


def _as_share(share: float, sizes: ArrayLike) -> float:
    """Bound an estimate: who is unique in the population is unique in the sample."""
    return min(max(share, 0.0), unique_share(sizes))


def _columns(sizes: ArrayLike) -> tuple[Integers, Integers]:
    people, classes = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
    return people, classes
