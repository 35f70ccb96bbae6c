"""What private k-means keeps, whatever its method: the promise, silence, no exceptions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from shoal.cluster import PrivateKMeans
from shoal.cluster.kmeans._settings import METHODS
from shoal.domain import Box, Schema
from shoal.errors import NotFinite
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.synopsis import Synopsis

# Tables here are small, and budgets too: it is right that no group of them is certain.
pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
rng = np.random.default_rng(9)
every = pytest.mark.parametrize("method", METHODS)


def rows_in(n, d):
    return np.clip(rng.normal(0.4, 0.2, (n, d)), 0, 1)


@every
@pytest.mark.parametrize("d", [1, 2, 5, 6, 13])
def test_what_mechanisms_receive_is_the_promise_to_the_last_fraction(method, d):
    table = {f"x{i}": column for i, column in enumerate(rows_in(200, d).T)}
    table = pa.table({**table, "who": np.arange(200) // 3})
    box = Box.unit(d)
    person = {"domain": Schema.of_box(box, person="who", max_rows_per_person=2)}
    for epsilon, neighbours in (("1", "add-remove"), ("1/3", "replace-one"), ("20", "add-remove")):
        for extra in ({}, {"n_public": 150}, person):
            ledger = Ledger()
            privacy = PureDP(epsilon, neighbours=neighbours)
            shared = {"domain": box, "ledger": ledger, "random_state": 1, **extra}
            fitted = PrivateKMeans(3, privacy=privacy, method=method, **shared).fit(table)
            rows = 2 if extra is person else 1
            promise = PureDP(Fraction(epsilon), neighbours=neighbours, rows=rows)
            assert fitted.guarantee_ == promise.simulated()
            assert ledger.totals() == [promise.simulated()]


@pytest.mark.parametrize("d", [2, 6, 40, 100, 256])
def test_shares_sum_to_the_promise_in_any_number_of_columns(d):
    X = rows_in(300, d)
    for n_clusters in (1, 4, range(2, 6)):
        fitted = PrivateKMeans(n_clusters, epsilon=8, domain=Box.unit(d), random_state=2).fit(X)
        assert fitted.guarantee_ == PureDP(8).simulated()


@pytest.mark.parametrize("d", [2, 8, 40])
def test_a_delta_is_promised_and_kept(d):
    ledger = Ledger()
    settings = {"domain": Box.unit(d), "ledger": ledger, "random_state": 1}
    fitted = PrivateKMeans(3, privacy=ApproxDP(4, 1e-6), **settings).fit(rows_in(2_000, d))
    promise = ApproxDP(4, 1e-6)
    assert fitted.guarantee_.epsilon == promise.epsilon
    assert fitted.guarantee_.delta <= promise.delta
    assert ledger.totals() == [promise.simulated()]


class WatchedLedger(Ledger):
    """Keeps the page it opened last."""

    def open(self, promise, **texts):
        self.page = super().open(promise, **texts)
        return self.page


@pytest.mark.parametrize("d", [6, 13, 40, 256])
@pytest.mark.parametrize(("n", "epsilon"), [(30, 1), (300, "0.2"), (300, 20), (3_000, 3)])
def test_gaussian_means_take_all_of_the_budget_they_share_and_the_rest_is_pure(d, n, epsilon):
    X, box = rows_in(n, d), Box.unit(d)
    for delta in (1e-6, "0.01"):
        for extra in ({}, {"n_public": n}, {"init": X[:5]}):
            ledger, promise = WatchedLedger(), ApproxDP(epsilon, delta)
            settings = {"domain": box, "ledger": ledger, "random_state": 3, **extra}
            PrivateKMeans(3, privacy=promise, **settings).fit(X)
            total = ledger.page.total()
            assert total.epsilon == promise.epsilon
            assert (total.delta, ledger.page.gaussian_left) in ((promise.delta, 0), (0, 1))


def test_in_many_columns_the_delta_is_used_and_in_few_it_is_not():
    for d, used in ((2, 0), (40, Fraction(1, 10**6))):
        settings = {"domain": Box.unit(d), "random_state": 3}
        fitted = PrivateKMeans(3, privacy=ApproxDP(4, 1e-6), **settings).fit(rows_in(2_000, d))
        assert fitted.guarantee_.delta == used


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_shared_gaussian_budget_covers_all_rows_of_a_person(neighbours):
    table = {f"x{i}": column for i, column in enumerate(rows_in(900, 40).T)}
    table = pa.table({**table, "who": np.arange(900) // 3})
    people = Schema.of_box(Box.unit(40), person="who", max_rows_per_person=2)
    privacy = ApproxDP(8, 1e-6, neighbours=neighbours)
    fitted = PrivateKMeans(3, privacy=privacy, domain=people, random_state=1).fit(table)
    assert fitted.guarantee_ == ApproxDP(8, 1e-6, neighbours=neighbours, rows=2).simulated()


TABLES = {
    "no rows": np.empty((0, 2)),
    "one row": np.array([[0.3, 0.9]]),
    "all equal": np.full((500, 2), 0.25),
    "all on the upper bound": np.ones((500, 2)),
    "all outside": np.full((500, 2), 1e300),
    "one far from the rest": np.r_[np.full((500, 2), 0.1), [[0.99, 0.99]]],
}


@every
@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES)
def test_no_table_of_finite_rows_raises_or_warns(method, X):
    wide = np.tile(X, (1, 4))
    for epsilon in (0.001, 1, 900):
        for rows, k in ((X, 1), (X, 7), (wide, 5)):
            domain = Box.unit(rows.shape[1])
            settings = {"epsilon": epsilon, "domain": domain, "method": method}
            settings |= {"clipping": "accept"}
            fitted = PrivateKMeans(k, **settings, random_state=1).fit(rows)
            assert fitted.cluster_centers_.shape == (k, domain.d)
            assert domain.contains(fitted.cluster_centers_).all()
            assert np.all(np.isfinite(fitted.expected_error_) & (fitted.expected_error_ >= 0))
            assert np.all(np.isfinite(fitted.cluster_sizes_))


@pytest.mark.parametrize("choose", ["simulation", "elbow", "silhouette", "gap"])
@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES)
def test_choosing_k_raises_on_no_table(choose, X):
    settings = {"epsilon": 0.1, "domain": Box.unit(2), "choose": choose, "random_state": 1}
    fitted = PrivateKMeans(range(2, 5), **settings).fit(X)
    assert fitted.n_clusters_ in (2, 3, 4)


@every
def test_nothing_fitted_has_a_line_for_each_row(method):
    n = 1_237
    fitted = PrivateKMeans(3, epsilon=1, domain=Box.unit(2), method=method, random_state=1).fit(
        rows_in(n, 2)
    )
    for name, value in vars(fitted).items():
        if name.endswith("_") and not isinstance(value, Synopsis):
            assert n not in np.shape(value), name
    assert not hasattr(fitted, "labels_")
    assert not hasattr(fitted, "inertia_")


@every
def test_the_exact_number_of_rows_reaches_nothing(method):
    """The number of rows comes with noise of 470 or so: what is told is not the truth."""
    model = PrivateKMeans(2, epsilon=0.1, domain=Box.unit(1), method=method)
    X = rows_in(7_770, 1)
    told = [clone(model).set_params(random_state=seed).fit(X).n_rows_ for seed in range(4)]
    assert 7_770 not in told
    assert len(set(told)) == 4


@every
def test_nan_is_met_before_anything_is_written(method):
    ledger = Ledger()
    X = rows_in(70_000, 2)
    X[-1, 0] = np.nan
    for extra in ({}, {"n_public": 70_000}):
        with pytest.raises(NotFinite):
            PrivateKMeans(
                2, epsilon=1, domain=Box.unit(2), method=method, ledger=ledger, **extra
            ).fit(X)
    assert ledger.totals() == []


@every
def test_the_order_of_rows_and_the_size_of_blocks_change_nothing(method):
    X = rows_in(3_000, 2)
    settings = {"epsilon": 1, "domain": Box.unit(2), "method": method, "random_state": 4}
    one, other = (PrivateKMeans(3, **settings).fit(rows) for rows in (X, X[::-1].copy()))
    assert np.array_equal(one.cluster_centers_, other.cluster_centers_)
