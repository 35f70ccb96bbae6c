import json

import numpy as np
import pytest

from shoal import Box, LocalDP, PrivateKMeans, PureDP, UniformGrid, WaveCluster
from shoal.audit import neighbour_attack
from shoal.errors import DimensionMismatch, InvalidSetting, TooFewRows
from shoal.mechanisms import Geometric, Piecewise
from shoal.privacy import Protected

ROWS = np.zeros((20, 1))


def sized(epsilon):
    """A model that tells how many rows it was made of, with noise."""

    def fit(rows, rng):
        size = Geometric(PureDP(epsilon)).release(np.array([len(rows)]), rng.noise)
        return lambda asked: np.repeat(size.astype(float), len(asked))

    return fit


def ratio(shown):
    """Of counts 20 and 19: exact up to a factor."""
    return np.abs(shown[:, 0] - 19) - np.abs(shown[:, 0] - 20)


def attack(epsilon, **settings):
    settings = {"guarantee": PureDP(1), "models": 1_000, "random_state": 7, **settings}
    return neighbour_attack(sized(epsilon), ROWS, 0, **settings)


def test_a_kept_promise_is_consistent_and_nearly_reached_by_the_exact_ratio():
    found = attack(1, score=ratio, models=3_000)
    assert found.verdict == "consistent"
    assert 0.5 < float(found) < 1
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5))
    assert found.advantage == pytest.approx(np.tanh(0.5), abs=0.09)  # 5.5 sd: the noise attains it


def test_a_broken_promise_is_violated_also_where_the_ratio_is_learnt():
    found = attack(3)
    assert found.verdict == "violated"
    assert found.advantage > found.ceiling.advantage


def test_another_record_in_its_place_is_a_swap():
    def fit(rows, rng):
        return lambda asked: np.repeat(rows.sum() + rng.noise.normal(), len(asked))

    found = neighbour_attack(fit, ROWS, 0, replacement=[1.0], guarantee=PureDP(1), models=1_000,
                             random_state=7)  # fmt: skip
    assert found.game == "swap"
    assert found.ceiling.epsilon == 2


def test_reports_are_judged_by_a_swap():
    found = neighbour_attack(
        lambda rows, rng: lambda asked: np.repeat(rows.sum(), len(asked)), ROWS, 0,
        replacement=[1.0], mechanism=Piecewise(1, domain=Box(x=(-1, 1))), models=1_000,
        random_state=7,
    )  # fmt: skip
    assert found.guarantee == LocalDP(1)
    assert found.verdict == "consistent"


def test_a_model_that_raises_is_broken_not_consistent():
    def fit(rows, rng):
        raise RuntimeError

    found = neighbour_attack(fit, ROWS, 0, guarantee=PureDP(1), models=1_000, random_state=7)
    assert found.verdict == "broken"


def test_it_becomes_json_a_picture_a_page_and_words():
    found = attack(1)
    assert json.loads(json.dumps(found.to_dict()))["game"] == "own coin"
    assert 'class="band l1"' in found.plot().svg()
    assert "ceiling of the advantage: at most 0.462" in str(found)
    assert all(isinstance(leaf, Protected) for leaf in found.to_result().protected.values())


@pytest.mark.parametrize(
    ("person", "replacement", "error"),
    [(20, None, InvalidSetting), (-1, None, InvalidSetting), (0, [0.0], InvalidSetting),
     (0, [1.0, 2.0], DimensionMismatch)],
)  # fmt: skip
def test_what_makes_no_pair_is_refused(person, replacement, error):
    with pytest.raises(error):
        neighbour_attack(sized(1), ROWS, person, replacement=replacement, models=1_000)


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"models": 0}, TooFewRows), ({"models": 999}, TooFewRows), ({"alpha": 2}, InvalidSetting)],
)
def test_too_little_evidence_is_refused_before_anything_is_fitted(settings, error):
    def never(rows, rng):
        raise AssertionError("fitted")

    with pytest.raises(error):
        neighbour_attack(never, ROWS, 0, **settings)


def test_a_model_that_fails_or_answers_in_words_is_broken_not_consistent():
    def fails(rows, rng):
        raise ValueError(rows)

    for settings in ({"fit": fails}, {"fit": sized(1), "answers": lambda model: ["a"]}):
        fit = settings.pop("fit")
        found = neighbour_attack(fit, ROWS, 0, models=1_000, guarantee=PureDP(1), **settings)
        assert found.verdict == "broken"
        assert found.bound.notes[0].startswith("raised ValueError")


def test_the_finding_says_how_to_find_it_again_and_keeps_no_row():
    bound = attack(1).bound
    assert (bound.seed, bound.pair) == (7, "given by the caller, not kept")


BOX = Box.unit(2)
ALONE = np.vstack([0.3 + 0.1 * np.random.default_rng(0).random((60, 2)), [[0.95, 0.95]]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        UniformGrid(epsilon=1, domain=BOX, cells=4),
        PrivateKMeans(2, epsilon=1, domain=BOX, method="lloyd"),
        PrivateKMeans(2, epsilon=1, domain=BOX, method="uniform-grid"),
        WaveCluster(domain=BOX, epsilon=1, variant="block"),
    ],
    ids=["grid", "lloyd", "uniform-grid", "wave"],
)
def test_someone_alone_in_a_corner_is_kept_as_promised(model):
    found = neighbour_attack(model, ALONE, 60, models=2_000, random_state=7)
    assert found.verdict == "consistent"
    assert found.fpr < 1
