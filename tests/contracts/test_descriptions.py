"""A page is read off a description: once a model was described, no fit is on the path of a page."""

import numpy as np
import pytest

import shoal
from shoal.cluster import PrivateKPrototypes
from shoal.mechanisms import LocalGrid
from shoal.pages._write_page import build_page, page_findings
from shoal.pages.groups import LocalGroups, page
from shoal.privacy import Page
from shoal.randomness import Randomness

BOX = shoal.Box(age=(0, 100), visits=(0, 20))
SEX = {"age": {"low": 0, "high": 100}, "sex": {"values": ["F", "M"]}}
ROWS = BOX.clip(
    np.array([[20, 4], [50, 16], [80, 4]])[np.arange(600) % 3]
    + np.random.default_rng(0).normal(0, [3, 0.6], (600, 2))
)


def local():
    grid = LocalGrid(BOX, epsilon=4, n_expected=600, n_clusters=3)
    model = shoal.LocalClusterer(3, mechanism=grid, random_state=1)
    return model.fit(grid.release(ROWS, Randomness(7).noise))


def prototypes():
    table = {"age": ROWS[:, 0], "sex": np.where(ROWS[:, 1] > 10, "F", "M")}
    domain = shoal.Schema.of({"version": 1, "columns": SEX})
    return PrivateKPrototypes([2, 3], epsilon=2, domain=domain, random_state=1).fit(table)


MODELS = {
    "kmeans": lambda: shoal.PrivateKMeans(3, epsilon=2, domain=BOX, random_state=1).fit(ROWS),
    "several": lambda: shoal.PrivateKMeans((2, 3), epsilon=2, domain=BOX, random_state=1).fit(ROWS),
    "wave": lambda: shoal.WaveCluster(epsilon=2, domain=BOX, random_state=1).fit(ROWS),
    "prototypes": prototypes,
}


@pytest.fixture
def gate(monkeypatch):
    """What passed the gate of a page since, simulated or not."""
    passed, release = [], Page.release

    def counted(page, *arguments, of, **named):
        passed.append(of)
        return release(page, *arguments, of=of, **named)

    monkeypatch.setattr(Page, "release", counted)
    return passed


@pytest.fixture
def no_fits(monkeypatch):
    """Refuse every fit, of ours and of scikit-learn's k-means."""
    from sklearn.cluster import KMeans

    for kind in (
        KMeans,
        shoal.LocalClusterer,
        shoal.PrivateKMeans,
        shoal.WaveCluster,
        PrivateKPrototypes,
    ):
        monkeypatch.setattr(kind, "fit", lambda *_: pytest.fail("a page was made with a fit"))


def content(result):
    """What a page says; how Python writes a bound, 0 or 0.0, is not part of it."""
    return {name: value for name, value in page_findings(result).items() if name != "settings"}


@pytest.mark.parametrize("kind", MODELS)
def test_the_page_of_a_folder_is_made_without_a_fit(kind, tmp_path, gate, request):
    model = MODELS[kind]()
    shoal.describe(model)
    loaded = shoal.load_model(model.save(tmp_path / "model"))
    gate.clear()
    request.getfixturevalue("no_fits")
    of_fit, of_folder = (content(build_page(each)) for each in (model, loaded))
    assert of_fit == of_folder
    assert gate == []


def test_nor_is_that_of_reports_beyond_its_control(request):
    """What the same learner finds without data is the page's own subject, and handed to it."""
    model = local()
    shoal.describe(model)
    control = model.control(600, random_state=0)
    request.getfixturevalue("no_fits")
    assert page(LocalGroups(model, control, 600)).curve is not None


@pytest.mark.parametrize("kind", MODELS)
def test_a_description_takes_no_rows(kind):
    with pytest.raises(TypeError):
        shoal.describe(MODELS[kind](), ROWS)


def test_the_gate_that_is_counted_is_passed_by_refits(gate):
    model = MODELS["kmeans"]()
    paid = len(gate)
    shoal.describe(model)
    assert len(gate) > 10 * paid


def test_a_release_of_many_rows_is_described_where_no_noise_is_small_enough_to_compare():
    model = shoal.PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1).fit(ROWS)
    # Four times the budget, carried over to few made-up rows, is beyond what can be drawn.
    model.n_rows_ = 300_000_000
    assert shoal.describe(model).what_if is None
