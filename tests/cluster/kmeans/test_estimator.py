import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal.cluster import PrivateKMeans
from shoal.data import blobs
from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import (
    BudgetExceeded,
    ConflictingSettings,
    DimensionMismatch,
    InvalidBudget,
    InvalidSetting,
    UnknownBounds,
)
from shoal.privacy import Ledger, LocalDP, PureDP
from shoal.synopsis import AdaptiveGrid, UniformGrid

rng = np.random.default_rng(10)
METHODS = ["auto", "adaptive-grid", "uniform-grid", "privtree", "lloyd", "hybrid"]

WEIGHTED = "rows of weight w would need w times the noise: weights are refused"
OWN_WORDS = "what came is refused by a named error in our own words"
EXPECTED_TO_FAIL = {
    "check_sample_weights_pandas_series": WEIGHTED,
    "check_sample_weights_not_an_array": WEIGHTED,
    "check_sample_weights_list": WEIGHTED,
    "check_all_zero_sample_weights_error": WEIGHTED,
    "check_sample_weights_shape": WEIGHTED,
    "check_sample_weights_not_overwritten": WEIGHTED,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTED,
    "check_n_features_in_after_fitting": OWN_WORDS,
    "check_complex_data": OWN_WORDS,
    "check_dtype_object": OWN_WORDS,
    "check_fit2d_predict1d": OWN_WORDS,
    "check_estimator_sparse_array": OWN_WORDS,
    "check_estimator_sparse_matrix": OWN_WORDS,
    "check_transformer_data_not_an_array": OWN_WORDS,
    "check_estimators_empty_data_messages": "to raise would tell that there are no rows",
}


def made(n=10_000, d=2, k=5, seed=0, sd=0.04):
    """Rows about some centres of the unit cube, about 6 sd apart, and the box."""
    draw = np.random.default_rng(seed)
    centers, gap = np.empty((0, d)), 6 * sd
    while len(centers) < k:
        one = draw.uniform(0.1, 0.9, d)
        gap *= 0.999
        if not len(centers) or np.linalg.norm(centers - one, axis=1).min() > gap:
            centers = np.vstack([centers, one])
    X = centers[draw.integers(k, size=n)] + draw.normal(0, sd, (n, d))
    return np.clip(X, 0, 1), Box.unit(d)


def inertia(X, centers):
    return ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()


def loss(X, *models):
    """Mean inertia of fits of these models over that of plain k-means."""
    centers = [model.fit(X).cluster_centers_ for model in models]
    plain = KMeans(len(centers[0]), n_init=3, random_state=0).fit(X).inertia_
    return np.mean([inertia(X, each) for each in centers]) / plain


@pytest.mark.heavy
@pytest.mark.parametrize(("d", "most"), [(1, 1.02), (2, 1.02), (5, 1.02), (8, 1.05), (16, 1.1)])
def test_at_epsilon_one_it_is_about_as_good_as_plain_k_means(d, most):
    X, box = made(d=d)
    fits = [PrivateKMeans(5, epsilon=1, domain=box, random_state=seed) for seed in (0, 1)]
    assert loss(X, *fits) < most


@pytest.mark.heavy
@pytest.mark.parametrize("method", METHODS[1:])
def test_the_published_methods_find_clusters_too(method):
    X, box = made()
    model = PrivateKMeans(5, epsilon=2, domain=box, method=method, random_state=3)
    assert loss(X, model) < (9 if method == "lloyd" else 1.3)


@pytest.mark.heavy
def test_the_first_printed_grid_is_available_and_falls_behind_in_eight_columns():
    X, box = made(d=8, k=10)
    settings = {"epsilon": 1, "domain": box, "random_state": 1}
    cells = AdaptiveGrid(consistency=False, negative="zero")
    printed = {"method": cells, "refine": False}
    first, ours = PrivateKMeans(10, **settings, **printed), PrivateKMeans(10, **settings)
    assert loss(X, first) > 3 * loss(X, ours)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")  # at the least of them
def test_more_budget_is_better():
    X, box = made(n=4_000, d=3, k=6)
    losses = [
        loss(X, *(PrivateKMeans(6, epsilon=e, domain=box, random_state=s) for s in range(3)))
        for e in (0.01, 0.1, 1)
    ]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.heavy
def test_expected_errors_tell_what_noise_does():
    """Centres of many fits waver by what each expected of its last release, and a little more."""
    X, box = made(n=4_000, k=4)
    fits = [PrivateKMeans(4, epsilon=1, domain=box, random_state=seed).fit(X) for seed in range(25)]
    centers = np.array([np.sort(fit.cluster_centers_, axis=0) for fit in fits])
    wavers = np.sqrt(((centers - centers.mean(axis=0)) ** 2).sum(axis=2).mean())
    expected = np.sqrt(np.mean([fit.expected_error_**2 for fit in fits])) / 2  # half sides
    assert 0.7 < wavers / expected < 3


def test_sizes_are_close_to_the_number_of_rows():
    X, box = made()
    model = PrivateKMeans(5, epsilon=1, domain=box, random_state=1).fit(X)
    assert abs(model.cluster_sizes_.sum() - 10_000) < 500
    assert abs(model.n_rows_ - 10_000) < 700


@pytest.mark.heavy
@pytest.mark.parametrize("method", METHODS)
def test_weights_add_up_to_the_number_of_rows_at_small_budgets_too(method):
    X, box = made(20_000)
    fits = [
        PrivateKMeans(5, epsilon=0.02, domain=box, method=method, random_state=seed).fit(X)
        for seed in range(8)
    ]
    shares = [fit.cluster_sizes_.sum() / fit.n_rows_ for fit in fits]
    assert np.median(shares) == pytest.approx(1, abs=0.2)
    assert all((fit.cluster_sizes_ >= 0).all() for fit in fits)


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("method", METHODS)
def test_no_error_is_expected_to_exceed_the_box(method):
    X, box = made(300)
    model = PrivateKMeans(20, epsilon=0.05, domain=box, method=method, random_state=1).fit(X)
    assert model.expected_error_.max() <= 2 * np.sqrt(2)


@pytest.mark.heavy
def test_a_synopsis_serves_any_number_of_clusters_at_no_cost():
    X, box = made()
    ledger = Ledger()
    model = PrivateKMeans(5, epsilon=1, domain=box, ledger=ledger, random_state=1).fit(X)
    for k in (2, 5, 9):
        other = PrivateKMeans.from_synopsis(model.synopsis_, k, random_state=2)
        assert other.cluster_centers_.shape == (k, 2)
        assert other.guarantee_ == model.guarantee_
    assert ledger.totals() == [PureDP(1).simulated()]
    chosen = PrivateKMeans.from_synopsis(model.synopsis_, range(2, 9), random_state=2)
    assert chosen.n_clusters_ == 5


@pytest.mark.heavy
def test_several_numbers_of_clusters_are_chosen_among_for_one_budget():
    X, box = made()
    model = PrivateKMeans(range(2, 12), epsilon=1, domain=box, random_state=1).fit(X)
    assert model.n_clusters_ == 5
    assert model.guarantee_ == PureDP(1).simulated()


def test_a_seed_repeats_a_fit_and_marks_it():
    X, box = made(n=2_000)
    model = PrivateKMeans(5, epsilon=1, domain=box, random_state=4)
    assert np.array_equal(model.fit(X).cluster_centers_, clone(model).fit(X).cluster_centers_)
    assert model.guarantee_.simulation
    real = PrivateKMeans(5, epsilon=1, domain=box).fit(X)
    assert not real.guarantee_.simulation
    assert not np.array_equal(real.cluster_centers_, model.cluster_centers_)


@pytest.mark.heavy
def test_people_with_many_rows_are_covered():
    X, box = made(n=3_000)
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "who": np.arange(3_000) % 500})
    domain = Schema.of_box(box, person="who", max_rows_per_person=2)
    model = PrivateKMeans(3, epsilon=1, domain=domain, random_state=1).fit(table)
    assert model.guarantee_ == PureDP(1, rows=2).simulated()
    assert abs(model.n_rows_ - 1_000) < 900


def test_files_and_arrays_give_the_same_centres(tmp_path):
    X, box = made(n=5_000)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x0": X[:, 0], "x1": X[:, 1]}), path)
    one, other = (
        PrivateKMeans(5, epsilon=1, domain=box, random_state=2).fit(rows) for rows in (X, path)
    )
    assert np.array_equal(one.cluster_centers_, other.cluster_centers_)


def test_weights_of_rows_are_refused_with_a_reason():
    X, box = made(n=10)
    with pytest.raises(InvalidSetting, match="more noise"):
        PrivateKMeans(2, epsilon=1, domain=box).fit(X, sample_weight=np.ones(10))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epsilon": 0}, InvalidBudget),
        ({"epsilon": float("nan")}, InvalidBudget),
        ({"domain": None}, UnknownBounds),
        ({"domain": Box.unit(3)}, DimensionMismatch),
        ({"n_public": 0}, InvalidSetting),
        ({"privacy": PureDP(1)}, ConflictingSettings),
        ({"epsilon": None}, InvalidBudget),
        ({"epsilon": None, "privacy": LocalDP(1)}, InvalidSetting),
        ({"method": AdaptiveGrid(epsilon=1)}, ConflictingSettings),
        ({"n_clusters": 0}, InvalidSetting),
        ({"ledger": Ledger(limit=PureDP(0.5))}, BudgetExceeded),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_anything_is_paid(settings, error):
    X, box = made(n=10)
    chosen = {"n_clusters": 2, "epsilon": 1, "domain": box, **settings}
    with pytest.raises(error):
        PrivateKMeans(**chosen).fit(X)
    assert not (settings.get("ledger") or Ledger()).totals()


def test_it_is_public():
    assert shoal.PrivateKMeans is PrivateKMeans
    assert shoal.choose.k


def test_an_unfitted_model_predicts_nothing():
    with pytest.raises(NotFittedError):
        PrivateKMeans(2, epsilon=1, domain=Box.unit(2)).predict([[0.5, 0.5]])


def test_blobs_of_the_catalogue_can_be_fitted():
    table = blobs(n=3_000, centers=4, seed=1)
    names = table.column_names[:2]
    box = Box.of(names, [-12, -12], [12, 12])
    model = PrivateKMeans(4, epsilon=1, domain=box, random_state=1).fit(table)
    assert box.contains(model.cluster_centers_).all()


class AnyWidth(PrivateKMeans):
    """For scikit-learn's checks, whose tables have all widths: a box as wide as what comes."""

    def __init__(self, n_clusters=2, *, random_state=1):
        super().__init__(n_clusters, epsilon=1, domain=None, random_state=random_state)

    @property
    def domain(self):
        return vars(self).get("_box")

    @domain.setter
    def domain(self, value):
        assert value is None

    def fit(self, X, y=None, sample_weight=None):
        width = (X if hasattr(X, "shape") else np.asarray(X)).shape[-1]
        names = getattr(X, "columns", [f"x{i}" for i in range(width)])
        self._box = Box.of([str(name) for name in names], [-100] * len(names), [100] * len(names))
        return super().fit(X, y, sample_weight)


NOT_APPLICABLE = {
    "check_array_api_input": "needs SCIPY_ARRAY_API set before SciPy is imported",
}


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")  # a few dozen rows
@parametrize_with_checks(
    [AnyWidth()],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_scikit_learn_estimator(estimator, check, run_check):
    run_check(check, estimator, NOT_APPLICABLE)


@pytest.mark.heavy
def test_a_wide_table_is_read_in_six_passes():
    X = np.random.default_rng(3).normal(0.5, 0.1, (3_000, 20))
    rows, passes = rows_of(X, Box.unit(20)), []
    rows.on_progress(passes.append)  # once a block, and all rows are one
    PrivateKMeans(3, epsilon=20, domain=Box.unit(20), random_state=7).fit(rows)
    assert passes == [3_000] * 6


@pytest.mark.heavy
def test_settings_of_the_cells_can_be_searched_through_the_method():
    X, box = made(n=2_000)
    model = PrivateKMeans(
        3, epsilon=2, domain=box, method=AdaptiveGrid(), refine=False, random_state=1
    )
    found = GridSearchCV(
        model, {"epsilon": [1, 4], "method__negative": ["zero", "norm-cut"]}, cv=2
    ).fit(X)
    assert found.best_params_.keys() == {"epsilon", "method__negative"}
    assert clone(model).get_params()["method__consistency"] is True
    model.set_params(method__consistency=False).fit(X)
    assert model.method.consistency is False
    assert model.method.domain is None  # what was given stays as it was


def test_a_synopsis_as_method_comes_back_from_a_folder(tmp_path):
    X, box = made(n=2_000)
    method = UniformGrid(cells=16, negative="norm-sub")
    model = PrivateKMeans(3, epsilon=2, domain=box, method=method, random_state=1).fit(X)
    again = shoal.load_model(model.save(tmp_path / "model"))
    assert isinstance(again.method, UniformGrid)
    assert (again.method.cells, again.method.negative) == (16, "norm-sub")
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
