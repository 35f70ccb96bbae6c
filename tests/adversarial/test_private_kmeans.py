"""Our audit turned on private k-means, with broken twins it must catch. alpha = 1e-6, seeds fixed.

The steps are audited on their own, many draws at once; whole fits in test_estimators.py.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.cluster import PrivateKMeans
from shoal.cluster.kmeans._kernels import LATTICE, Cube, Nearest
from shoal.cluster.kmeans._noisy_means import longest_move, read_rings
from shoal.cluster.kmeans._published_methods import ClusterSums
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.mechanisms import Geometric, KNorm, NoisyBest
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

ALPHA = 1e-6
DRAWS = 50_000
BOX = Box.of(["x"], [-1], [1])
CENTERS = [[-0.5], [0.5]]
HALF = LATTICE // 2


def column(*values):
    return np.array(values, dtype=float).reshape(-1, 1)


PAIRS = {  # a table and the same with one more row
    "an empty cluster": (column(*[-0.9] * 200), column(*[-0.9] * 200, 0.9)),
    "a single outlier": (column(*[-0.5] * 300), column(*[-0.5] * 300, -1)),
    "points on the upper bound": (column(*[1] * 50), column(*[1] * 51)),
    "points between two centres": (column(*[0] * 50), column(*[0] * 51)),
    "all equal points": (column(*[0.5] * 100), column(*[0.5] * 101)),
    "a single row": (np.empty((0, 1)), column(0.9)),
}
pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def rings(X, box=BOX, centers=CENTERS):
    spending = Spending(
        rows_of(X, box), Ledger().open(PureDP(1), by="test"), PureDP(1), Randomness(1)
    )
    return read_rings(spending, np.array(centers))


def vectors(pair, pick):
    return [rings(X).clipped(np.full(2, pick), HALF) for X in pair]


def audited(release, pair, claim=1.0, seed=5):
    """How well many noisy copies of two tables' vectors can be told apart."""
    first, second = pair
    noise = Randomness(seed).noise
    moved = int(np.argmax(np.abs(second - first).sum(axis=1)))
    towards = (second - first)[moved] / np.linalg.norm((second - first)[moved])
    told = []
    for each in pair:
        noisy = release(np.tile(each, (DRAWS, 1, 1)), noise)[:, moved]
        told.append(np.clip(np.rint((noisy - first[moved]) @ towards / LATTICE * 4), -40, 40))
    return lower_bound_of(*(one.astype(int) for one in told), claim=claim, alpha=ALPHA)


@pytest.mark.parametrize("pick", [0, 3, 10])
@pairs
def test_a_step_certifies_no_more_than_epsilon(pair, pick):
    noise = KNorm(PureDP(1), longest_move(1, HALF))
    assert audited(noise.release, vectors(pair, pick)).verdict == "consistent"


def test_the_instrument_sees_much_of_what_a_step_spends():
    noise = KNorm(PureDP(1), longest_move(1, HALF))
    assert audited(noise.release, vectors(PAIRS["a single outlier"], 10)).epsilon > 0.5


@pytest.mark.parametrize(
    "name",
    [
        "a step that skips empty clusters",
        "a step that does not cut offsets",
        "one seed for count and sum noise",
        "Lloyd that skips empty clusters",
        "loss of the true rows on the model",
    ],
)
def test_twins_are_caught(name):
    assert twins[name].run(draws=40_000).verdict == "violated"


@pairs
def test_a_twin_with_an_eighth_of_the_noise_is_caught(pair):
    twin = KNorm(PureDP(8), longest_move(1, HALF))
    assert audited(twin.release, vectors(pair, 10)).verdict == "violated"


def picked(mechanism, part=Fraction(1, 2), draws=40_000):
    """Radii drawn for ten rows near a centre, and with one more far from it."""
    near = column(*[-0.6] * 10)
    rng = Randomness(3).noise
    told = []
    for X in (near, np.vstack([near, [[0.9]]])):
        scores = rings(X, centers=[[-0.5]]).scores(part)
        told.append(mechanism.release(np.tile(scores, (draws, 1)), rng))
    return lower_bound_of(*told, claim=1.0, alpha=ALPHA)


@pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(5, 8), Fraction(15, 16)])
def test_a_radius_certifies_no_more_than_epsilon(part):
    most = int(max(part, 1 - part) * part.denominator)
    assert picked(NoisyBest(PureDP(1), most), part).verdict == "consistent"


def test_the_instrument_sees_some_of_what_a_radius_spends():
    assert picked(NoisyBest(PureDP(1), 1)).epsilon > 0.2


def test_a_radius_for_an_eighth_of_the_noise_is_caught():
    assert picked(NoisyBest(PureDP(8), 1)).verdict == "violated"


def reached(mechanism, draws=40_000):
    """Radii that leave few of ten rows out, and with one more far from the centre."""
    near, rng = column(*[-0.6] * 10), Randomness(4).noise
    told = []
    for X in (near, np.vstack([near, [[0.9]]])):
        scores = -rings(X, centers=[[-0.5]]).rows_beyond() - np.arange(48, 0, -1) // 4
        told.append(mechanism.release(np.tile(scores, (draws, 1)), rng))
    return lower_bound_of(*told, claim=1.0, alpha=ALPHA)


def test_a_reach_certifies_no_more_than_epsilon_with_half_the_noise():
    assert reached(NoisyBest(PureDP(1), 1, one_way=True)).verdict == "consistent"


def test_half_the_noise_where_scores_move_both_ways_is_caught_by_its_exact_loss():
    twin, before, after = NoisyBest(PureDP(1), 1, one_way=True), [[0, 0]], [[1, -1]]
    assert twin.worst_ratio(np.array(before), np.array(after)) > 1.05
    honest = NoisyBest(PureDP(1), 1)
    assert honest.worst_ratio(np.array(before), np.array(after)) <= 1


# --- Lloyd's iterations ---------------------------------------------------------------------------


def far_out(outputs):
    """Whether the second centre, sum over count, lies beyond 0.75."""
    counts, sums = outputs[:, 0], outputs[:, 1] / LATTICE
    return (counts > 1) & (sums > 0.75 * counts)


def noisy_cluster(X, rng):
    """What an iteration releases of the second cluster, many times over."""
    counts, sums = rows_of(X, BOX).sum(ClusterSums(Cube(BOX), Nearest(CENTERS)))
    cluster = np.array([[counts[1], sums[1, 0]]] * DRAWS)
    sizes = Geometric(PureDP(Fraction(1, 2))).release(cluster[:, 0], rng)
    noise = Geometric(PureDP(Fraction(1, 2)), sensitivity=LATTICE)
    return np.column_stack([sizes, noise.release(cluster[:, 1], rng)])


@pytest.mark.parametrize("name", ["an empty cluster", "a single row"])
def test_an_iteration_hides_whether_a_cluster_is_empty(name):
    """One row at 0.9 beside 200 at -0.9: the event another library's k-means gave away."""
    rng = Randomness(6).noise
    A, B = (noisy_cluster(X, rng) for X in PAIRS[name])
    assert far_out(B).any()
    found = lower_bound_of(A, B, claim=1.0, event=far_out, alpha=ALPHA)
    assert found.verdict == "consistent"


def test_counts_and_sums_have_independent_noise():
    """Over 400 empty clusters; a shared seed would give correlation 1."""
    rng = Randomness(8).noise
    counts = Geometric(PureDP(1)).release(np.zeros((400, 1), dtype=int), rng)
    vectors = KNorm(PureDP(1), longest_move(3, HALF)).release(np.zeros((400, 4), dtype=int), rng)
    table = np.corrcoef(np.column_stack([counts, vectors]).T)
    off = table[~np.eye(5, dtype=bool)]
    assert np.abs(off).max() < 5 / np.sqrt(400)


# --- Faults of other libraries --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "lloyd", "hybrid", "uniform-grid", "privtree"])
@pytest.mark.parametrize("d", [2, 7])
def test_a_box_off_centre_gives_the_same_centres_shifted(method, d):
    rng = np.random.default_rng(1)
    X = np.clip(rng.normal(0, 0.04, (6_000, d)) + rng.choice([-0.7, 0.1, 0.6], (6_000, 1)), -1, 1)
    names, ones = [f"x{i}" for i in range(d)], np.ones(d)
    about_zero = Box.of(names, -ones, ones)
    far_away = Box.of(names, 100 * ones, 102 * ones)
    settings = {"epsilon": 1, "method": method, "random_state": 3}
    near = PrivateKMeans(3, domain=about_zero, **settings).fit(X)
    far = PrivateKMeans(3, domain=far_away, **settings).fit(X + 101)
    order = [np.argsort(model.cluster_centers_[:, 0]) for model in (near, far)]
    centers, moved = near.cluster_centers_[order[0]], far.cluster_centers_[order[1]] - 101
    assert np.allclose(moved, centers, atol=1e-3)
    assert np.allclose(far.expected_error_[order[1]], near.expected_error_[order[0]], rtol=1e-2)


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_clones_share_the_ledger_and_every_fit_pays():
    ledger = Ledger()
    model = PrivateKMeans(2, epsilon=0.5, domain=BOX, ledger=ledger, random_state=1)
    for each in (model, clone(model), clone(clone(model))):
        each.fit(PAIRS["all equal points"][0])
    assert ledger.totals() == [PureDP(1.5).simulated()]
