"""What the best adversary gains from one report of nD-Laplace, exactly."""

import math

from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import gamma


def best_advantage(epsilon: float, distance: float, d: int) -> float:
    r"""Return the largest TPR - FPR with which one report tells two records apart.

    The report is likelier under the nearer record, so the best test asks on which side of the
    middle plane it lies, and :math:`\text{TPR} - \text{FPR} = \Pr[|u_1| \le \text{distance}/2]`
    with :math:`u_1` one coordinate of the noise. Its length is Gamma(d, 1/epsilon), and the square
    of a coordinate of a random direction is Beta(1/2, (d-1)/2): one integral over the length.

    Examples
    --------
    >>> [round(best_advantage(1.0, 1.0, d), 3) for d in (1, 2, 3, 7, 10, 30)]
    [0.393, 0.296, 0.242, 0.155, 0.129, 0.073]
    """
    reach = epsilon * distance / 2
    if d == 1:
        return 1 - math.exp(-reach)
    length = gamma(d)

    def within(r: float) -> float:
        return float(length.pdf(r) * betainc(0.5, (d - 1) / 2, (reach / r) ** 2))

    # Noise shorter than half the distance always stays on its side.
    beyond, _ = quad(within, reach, max(reach, length.ppf(1 - 1e-12)), limit=200)
    return float(length.cdf(reach) + beyond)
