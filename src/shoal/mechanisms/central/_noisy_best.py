"""The best of some candidates by noisy scores, with its exact probabilities."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.mechanisms.central._geometric import Geometric
from shoal.mechanisms.exact._whole_numbers import check_vectors
from shoal.privacy import PureDP

_MANY = 64  # scores of one line: the sum over levels takes less time and memory
_LEVELS = 32  # at once


@dataclass(frozen=True)
class NoisyBest:
    r"""The place of the highest score of each line, once noise has raised all (permute and flip).

    Guarantee
    ---------
    :math:`\varepsilon`-DP if a row moves the scores of one line only, each by at most
    ``sensitivity``. See ``noisy_best.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``.
    sensitivity
        The most one row can move a score, a whole number.
    one_way
        Whether a row that is added moves no score up, or none down: half the noise will do.

    Examples
    --------
    >>> best, scores, more = NoisyBest(PureDP(1), 1), np.array([[3, 5]]), np.array([[4, 4]])
    >>> round(best.worst_ratio(scores, more), 3), best.worst_ratio(scores, scores)
    (0.638, 0.0)

    References
    ----------
    McKenna, Sheldon, Permute-and-flip: a new mechanism for differentially private selection,
    NeurIPS 2020; Ding, Kifer, Steinke, Wang, Zhang, The permute-and-flip mechanism is identical to
    report-noisy-max with exponential noise, 2021.
    """

    guarantee: PureDP
    sensitivity: int
    one_way: bool = False

    @property
    def scale(self) -> float:
        """Of the noise on each score."""
        return float(self.needed_move / self.guarantee.epsilon)

    @property
    def needed_move(self) -> int:
        """How far a row moves one score against the highest of the others, at most."""
        return self.sensitivity if self.one_way else 2 * self.sensitivity  # [P1]

    def check(self, value: object) -> None:
        """Refuse what is no array of whole numbers, by its kind and shape alone."""
        check_vectors(value)

    def release(self, value: Integers, rng: np.random.Generator) -> Integers:
        """Return one place a line, the first of equal ones."""
        noise = Geometric(self.guarantee, self.needed_move)
        raised = np.abs(noise.release(np.zeros_like(value), rng))  # [P2]
        return np.asarray((value + raised).argmax(axis=-1))

    def log_ratio(self, output: Integers, value: Integers, other: Integers) -> float:
        """Return by how much, in logarithms, an output is likelier on one value than on another.

        Parameters
        ----------
        output
            What ``release`` returned.
        other
            The scores it is compared with, of the same shape.
        """
        return float(
            sum(
                self._log_ratios(before, after)[place]
                for place, before, after in zip(output, value, other, strict=True)
                if not np.array_equal(before, after)
            )
        )

    def worst_ratio(self, value: Integers, other: Integers) -> float:
        """Return the largest ``log_ratio`` over all outputs.

        Parameters
        ----------
        other
            The scores it is compared with, of the same shape.
        """
        changed = (value != other).any(axis=1)
        return float(
            sum(
                self._log_ratios(before, after).max()
                for before, after in zip(value[changed], other[changed], strict=True)
            )
        )

    def _log_ratios(self, before: Integers, after: Integers) -> Floats:
        """Return the log-ratio of every place of one line."""
        return self.log_probabilities(before) - self.log_probabilities(after)

    def log_probabilities(self, scores: Integers) -> Floats:
        r"""Return the logarithm of the probability of each place of one line of scores.

        A raised score passes another, for noise t of its own, with the chance that the noise of
        the other is at most the gap between them and t: :math:`1 - 2 a^{gap + t + 1} / (1 + a)`.
        The product over all others is a polynomial in :math:`a^t`, which is summed over t.
        """
        step, n = float(self.guarantee.epsilon / self.needed_move), len(scores)
        if n > _MANY:
            return _log_probabilities_by_levels(scores, step)
        a, rest = math.exp(-step), -math.expm1(-step)
        numbers = np.arange(n)
        gaps = scores[:, None] - scores - (numbers < numbers[:, None])  # the first of equals
        alone = np.eye(n, dtype=np.bool_)
        least = np.maximum(0, -np.where(alone, 0, gaps).min(axis=1))  # below, another is higher
        missed = 2 / (1 + a) * np.exp(-step * np.where(alone, np.inf, gaps + least[:, None] + 1))
        nodes, weights = _geometric_nodes(step, n // 2 + 1)
        passed = np.prod(1 - missed[:, :, None] * nodes, axis=1) @ weights
        # Noise of 0 is half as likely as the geometric series has it.
        none = np.where(least == 0, np.prod(1 - missed, axis=1), 0) * rest / 2
        return np.asarray(-step * least + np.log(2 / (1 + a) * (passed - none)))


def _log_probabilities_by_levels(scores: Integers, step: float) -> Floats:
    """Return the logarithm of the probability of each place of one line of many scores.

    The sum over all levels v that the winner may reach: its noise takes it there, those before it
    stay below v and those behind it do not pass v. Levels whose noise is less likely by e^-45 are
    left out.
    """
    gaps, total = scores.max() - scores, np.full(len(scores), -np.inf)
    once = math.log(-math.expm1(-step) / (1 + math.exp(-step)))  # that noise is 0
    for start in range(0, math.ceil(45 / step) + 1, _LEVELS):
        noise = gaps[:, None] + np.arange(start, start + _LEVELS)
        reached = _log_at_most(noise, step)
        before, behind = (
            np.cumsum(_log_at_most(noise - 1, step), axis=0),
            np.cumsum(reached[::-1], axis=0),
        )
        others = np.zeros_like(reached)
        others[1:] += before[:-1]
        others[:-1] += behind[::-1][1:]
        own = once - step * noise + np.where(noise > 0, math.log(2), 0)
        total = np.logaddexp(total, np.logaddexp.reduce(own + others, axis=1))
    return np.asarray(total)


def _log_at_most(limits: Integers, step: float) -> Floats:
    """Return the logarithm of the chance that the absolute noise is at most each limit."""
    above = 2 / (1 + math.exp(-step)) * np.exp(-step * np.maximum(limits + 1, 1))
    return np.where(limits < 0, -np.inf, np.log1p(-above))


@lru_cache(maxsize=64)
def _geometric_nodes(step: float, n: int) -> tuple[Floats, Floats]:
    """Return nodes x and weights w with sum w f(x) = sum over t of (1 - a) a^t f(a^t), a = e^-step.

    Exact for polynomials up to degree 2 n - 1, with positive weights (Gauss), so that nothing
    cancels: the nodes are the zeros of a little q-Legendre polynomial, whose recurrence is in
    Koekoek, Lesky, Swarttouw, Hypergeometric orthogonal polynomials, 14.12.1.
    """
    k = np.arange(n)
    up = _gap(step, k + 1) ** 2 / (_gap(step, 2 * k + 1) * _gap(step, 2 * k + 2))
    down = np.zeros(n)
    down[1:] = _gap(step, k[1:]) ** 2 / (_gap(step, 2 * k[1:]) * _gap(step, 2 * k[1:] + 1))
    up, down = up * np.exp(-step * k), down * np.exp(-step * k)
    between = np.sqrt(up[:-1] * down[1:])
    jacobi = np.diag(up + down) + np.diag(between, 1) + np.diag(between, -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes, vectors[0] ** 2


def _gap(step: float, times: Integers) -> Floats:
    """Return 1 - a^times."""
    return np.asarray(-np.expm1(-step * times))
