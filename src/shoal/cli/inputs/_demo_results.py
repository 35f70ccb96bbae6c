"""What the demo computes: groups with and without noise, at other budgets, and under attack."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.pages.demo import MAP, Demo, Trial
from shoal.privacy import PureDP

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.arrays import Floats, Integers
    from shoal.audit import MembershipInference
    from shoal.domain import Box, Schema
    from shoal.jobs import Progress
    from shoal.privacy import Ledger
    from shoal.randomness import Randomness


GROUPS = 5
BUDGETS = (Fraction(1, 50), Fraction(1, 4), Fraction(1), Fraction(4))  # times that of the release
COUNTS, DRAWN = range(1, 10), 4_000  # of groups, and rows drawn for the curve over them
LARGEST = 100  # noise of a budget far beyond would be refused
FITS = 6  # at each budget
ATTACKED, ATTACK_GROUPS, SHADOWS = 1_000, 100, 64


def make_demo(
    students: "pa.Table",
    schema: "Schema",
    rng: "Randomness",
    promise: PureDP,
    ledger: "Ledger | None" = None,
    seed: int | None = None,
    progress: "Progress | None" = None,
) -> "Demo":
    """Find groups privately; then, since the students are nobody, plainly, and attack them.

    Parameters
    ----------
    ledger
        Where it is paid; None keeps no record.
    seed
        Of the release's noise; None draws real noise.
    """
    if progress is not None:
        progress.step("Finding groups, through the ledger")
    model = _fitted(schema, promise, students, ledger=ledger, random_state=seed)

    if progress is not None:
        progress.step("Comparing with no noise and other budgets")
    costs = _costs(schema, model, rng.seed())
    labels, plain = _plain_groups(schema, students, model, rng.seed())
    most = max(promise.epsilon, Fraction(LARGEST))
    budgets = [min(promise.epsilon * share, most) for share in BUDGETS]
    landed = [_landed(schema, PureDP(e), students, plain, rng) for e in budgets]
    trials = [Trial(*each) for each in zip(budgets, landed, strict=True)]

    if progress is not None:
        progress.step("Attacking")
    rows = _numbers(students, MAP)
    attacks = _attacks(schema, rows[:ATTACKED], promise, rng.seed())
    return Demo(model, rows, labels, plain[:, : len(MAP)], costs, trials, *attacks)


def _fitted(schema: "Schema", promise: PureDP, students: "pa.Table", **settings: Any) -> Any:
    from shoal.cluster import PrivateKPrototypes

    return PrivateKPrototypes(GROUPS, privacy=promise, domain=schema, **settings).fit(students)


def _costs(schema: "Schema", model: Any, seed: int) -> dict[int, float]:
    """Return the cost left in 1 to 9 groups of rows drawn from the release, at no cost."""
    from shoal.cluster import KPrototypes

    drawn = model.synopsis_.sample(DRAWN, seed)
    fits = (KPrototypes(k, domain=schema, n_init=3, random_state=seed) for k in COUNTS)
    return {k: fit.fit(drawn).cost_ for k, fit in zip(COUNTS, fits, strict=True)}


def _numbers(table: "pa.Table", names: Sequence[str]) -> "Floats":
    return np.column_stack([table[name].to_numpy() for name in names])


def _plain_groups(
    schema: "Schema", students: "pa.Table", model: Any, seed: int
) -> tuple["Integers", "Floats"]:
    """Return the plain group of each student, and the groups' means, in the private order."""
    from shoal.cluster import KPrototypes

    labels = KPrototypes(GROUPS, domain=schema, random_state=seed).fit(students).labels_
    rows = _numbers(students, schema.box.names)
    means = np.array([rows[labels == group].mean(axis=0) for group in range(GROUPS)])
    order = _matched(means, _numbers(model.prototypes_, schema.box.names), schema.box)
    return np.argsort(order)[labels], means[order]


def _matched(centers: "Floats", targets: "Floats", box: "Box") -> "Integers":
    """Return the centre of each target, so that all together are nearest."""
    from scipy.optimize import linear_sum_assignment

    apart = box.scale(targets)[:, None] - box.scale(centers)
    return np.asarray(linear_sum_assignment((apart**2).sum(axis=2))[1])


def _landed(
    schema: "Schema", promise: PureDP, students: "pa.Table", plain: "Floats", rng: "Randomness"
) -> "Floats":
    """Return where the centres land on the map in some fits: (fits, groups, 2)."""
    names, landed = schema.box.names, []
    for _ in range(FITS):
        model = _fitted(schema, promise, students, random_state=rng.seed())
        centers = _numbers(model.prototypes_, names)
        landed.append(centers[_matched(centers, plain, schema.box)][:, : len(MAP)])
    return np.array(landed)


def _attacks(
    schema: "Schema", rows: "Floats", promise: PureDP, seed: int
) -> list["MembershipInference"]:
    """Ask two models of the same students, private and plain k-means, who was among them."""
    from sklearn.cluster import KMeans

    from shoal.audit import lira
    from shoal.cluster import PrivateKMeans

    private = PrivateKMeans(ATTACK_GROUPS, privacy=promise, domain=schema.box.select(MAP))
    plain = KMeans(ATTACK_GROUPS, n_init=1)
    return [lira(model, rows, n_shadow=SHADOWS, random_state=seed) for model in (private, plain)]
