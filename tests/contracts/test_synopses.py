"""What every synopsis keeps, whatever its cells: the promise, silence about rows, no exceptions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.domain import Box, Schema, View
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis.folder import synopsis_kinds

KINDS = {name: (kind, {}) for name, kind in synopsis_kinds().items()} | {
    "UniformGrid, sparse": (shoal.UniformGrid, {"sparse": True}),
    "AdaptiveGrid, sparse": (shoal.AdaptiveGrid, {"sparse": True}),
    "AdaptiveGrid, as printed": (shoal.AdaptiveGrid, {"consistency": False, "negative": "zero"}),
}
every = pytest.mark.parametrize(("kind", "settings"), KINDS.values(), ids=KINDS)
rng = np.random.default_rng(9)


def rows_in(n, d):
    return np.clip(rng.normal(0.4, 0.2, (n, d)), 0, 1)


@every
@pytest.mark.parametrize("d", range(1, 9))
def test_what_mechanisms_receive_is_the_promise_to_the_last_fraction(kind, settings, d):
    table = {f"x{i}": column for i, column in enumerate(rows_in(200, d).T)}
    table = pa.table({**table, "who": np.arange(200) // 3})
    box = Box.unit(d)
    person = {"domain": Schema.of_box(box, person="who", max_rows_per_person=2)}
    epsilon = ("1", "0.1", "1/3")[d % 3]
    for neighbours in ("add-remove", "replace-one"):
        for extra in ({}, {"n_public": 150}, person):
            ledger = Ledger()
            privacy = PureDP(epsilon, neighbours=neighbours)
            shared = {"domain": box, "ledger": ledger, "random_state": 1, **extra}
            fitted = kind(privacy=privacy, **settings, **shared).fit(table)
            rows = 2 if extra is person else 1
            promise = PureDP(Fraction(epsilon), neighbours=neighbours, rows=rows).simulated()
            assert fitted.guarantee_ == promise
            assert ledger.totals() == [promise]


@every
def test_inside_another_method_a_synopsis_spends_its_share_and_no_more(kind, settings):
    X, domain = rows_in(300, 3), Box.unit(3)
    view = View(domain, np.linalg.qr(rng.normal(size=(3, 2))).Q)
    for extra in ({}, {"n_rows": 280}, {"n_rows": 280, "view": view}):
        page = Ledger().open(PureDP(1), by="test")
        synopsis = kind(epsilon=1, domain=domain, **settings)
        rows = rows_of(X, domain)
        synopsis.spend(Spending(rows, page, page.budget / 3, Randomness(1), **extra))
        assert page.total().epsilon == Fraction(1, 3)
        assert synopsis.n_rows_ == extra.get("n_rows", synopsis.n_rows_)


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
@pytest.mark.parametrize("negative", ["norm-cut", "norm-sub", "threshold", "zero"])
def test_no_table_of_finite_rows_raises(kind, settings, X, negative):
    for epsilon in (0.001, 900):
        chosen = {"epsilon": epsilon, **settings, "negative": negative, "random_state": 1}
        chosen |= {"clipping": "accept"}
        fitted = kind(domain=Box.unit(2), **chosen).fit(X)
        cells = fitted.cells_
        assert np.all(cells.weight > 0)
        assert np.all(np.isfinite(cells.weight))
        assert np.all((cells.low >= 0) & (cells.high <= 1) & (cells.low < cells.high))
        assert fitted.sample(3, 0).shape == (3, 2)


@every
def test_nothing_fitted_has_a_row_for_each_person(kind, settings):
    """Released numbers equal, lengths are equal: no attribute follows the number of rows itself."""
    shared = {"epsilon": 1, "domain": Box.unit(2), "random_state": 4, "n_public": 1000, **settings}
    for n in (777, 1313):
        fitted = kind(**shared).fit(np.full((n, 2), 0.3))
        released = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        of_the_domain = {"feature_names_in_", "n_features_in_"}
        own = {"bounds_check_", "cells_", "guarantee_", "n_cells_", "n_rows_", "noise_variance_"}
        assert set(released) - of_the_domain == own | {"view_"}
        assert len(fitted.cells_) not in (n, 0)
        assert fitted.n_rows_ == 1000


@every
def test_rows_are_read_once_a_level(kind, settings):
    rows = rows_of(rows_in(1000, 2), Box.unit(2))
    passes = []
    rows.on_progress(passes.append)
    kind(epsilon=1, domain=Box.unit(2), **settings).fit(rows)
    most = {"UniformGrid": 2, "AdaptiveGrid": 3}.get(kind.__name__, 5)
    assert len(passes) <= most  # one block a pass


@every
def test_a_real_fit_is_no_simulation_and_no_two_are_alike(kind, settings):
    X = rows_in(300, 2)
    fits = [kind(epsilon=1, domain=Box.unit(2), **settings).fit(X) for _ in range(2)]
    assert not fits[0].guarantee_.simulation
    told = [(fit.n_rows_, fit.cells_.noisy_count.tolist()) for fit in fits]
    assert told[0] != told[1]


@every
def test_cells_come_sorted_by_key(kind, settings):
    fitted = kind(epsilon=1, domain=Box.unit(2), random_state=1, **settings).fit(rows_in(500, 2))
    assert np.all(np.diff(fitted.cells_.key) > 0)
