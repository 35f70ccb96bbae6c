import math

import numpy as np
import pytest

from shoal.audit import Batched, lower_bound, lower_bound_of
from shoal.errors import DimensionMismatch, InvalidSetting, TooFewRows
from shoal.mechanisms import Gaussian, Geometric, NDLaplace, PlanarLaplace, RandomizedResponse
from shoal.privacy import ApproxDP, LocalDP, MetricDP, PureDP, Unprotected

ONES = np.ones(1_000)


def coins(p: float, n: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(n) < p).astype(int)


def test_it_finds_most_of_the_true_epsilon_and_no_more():
    p = math.e / (1 + math.e)
    found = lower_bound_of(coins(p, 200_000, 1), coins(1 - p, 200_000, 2), claim=PureDP(1))
    assert 0.95 < found.epsilon < 1
    assert found.verdict == "consistent"
    assert float(found) == found.epsilon


def test_the_ceiling_is_what_so_many_draws_can_show():
    everything = lower_bound_of(np.zeros(200_000), np.ones(200_000))
    assert everything.ceiling == pytest.approx(9.72, abs=0.01)
    assert everything.epsilon == pytest.approx(everything.ceiling, abs=0.05)
    assert everything.notes[0] == "deterministic"
    assert lower_bound_of(np.zeros(10_000), np.ones(10_000)).ceiling == pytest.approx(
        6.73, abs=0.01
    )


def test_an_event_fixed_in_advance_is_tested_on_all_draws():
    found = lower_bound_of(
        np.random.default_rng(1).normal(0, 1, 20_000),
        np.random.default_rng(2).normal(3, 1, 20_000),
        event=lambda z: z[:, 0] > 1.5,
    )
    assert found.epsilon > 2
    assert found.ceiling == pytest.approx(math.log(20_000 / math.log(400)))
    assert "other way round" in found.event


def test_a_leak_chosen_and_tested_on_the_same_draws_would_be_invented():
    """2,000 equally likely values: the split keeps the bound at 0 though each half fits noise."""
    rng = np.random.default_rng(4)
    assert lower_bound_of(rng.integers(0, 2_000, 8_000), rng.integers(0, 2_000, 8_000)).epsilon == 0


def test_rows_of_several_numbers_are_outputs_too():
    same = np.random.default_rng(5).integers(0, 2, (20_000, 1))
    other = np.random.default_rng(6).integers(0, 2, (20_000, 1))
    tied = np.hstack([same, same])
    free = np.hstack([same, other])
    assert lower_bound_of(free, tied).epsilon > 3


def test_failures_are_outputs_like_any_other():
    A = np.where(np.random.default_rng(7).random(5_000) < 0.5, np.nan, 1.0)
    assert lower_bound_of(A, np.ones(5_000)).epsilon > 3
    text = np.where(np.isnan(A), "NotFinite", "fine")
    assert lower_bound_of(text, np.full(5_000, "fine")).epsilon > 3


def test_equal_constants_show_nothing():
    found = lower_bound_of(np.ones(1_000), np.ones(1_000), claim=1)
    assert (found.epsilon, found.notes, found.verdict) == (0, ("constant",), "broken")


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [(1.0, "violated"), (LocalDP(2), "violated"), (20, "consistent"), (None, "no claim"),
     (Unprotected("a twin"), "no claim"), (ApproxDP(1, "0.5"), "consistent")],
)  # fmt: skip
def test_the_verdict_is_held_against_the_claim(claim, verdict):
    A, B = coins(0.5, 5_000, 1), coins(0.001, 5_000, 2)
    assert lower_bound_of(A, B, claim=claim).verdict == verdict


def test_delta_is_taken_off():
    A, B = coins(0.5, 100_000, 8), coins(0.4, 100_000, 9)
    assert lower_bound_of(A, B, delta=0.2).epsilon == 0
    assert lower_bound_of(A, B).epsilon > 0.1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lower_bound_of(np.ones(999), np.ones(999)), TooFewRows),
        (lambda: lower_bound_of(np.ones((1_000, 2)), np.ones((1_000, 3))), DimensionMismatch),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_001)), DimensionMismatch),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), alpha=0.5), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), alpha=math.nan), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), delta=1), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), claim=MetricDP(1)), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), claim=math.nan), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), claim="1"), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), delta="0"), InvalidSetting),
        (lambda: lower_bound_of([object()] * 1_000, [object()] * 1_000), InvalidSetting),
        (lambda: lower_bound_of(5, 6), InvalidSetting),
        (lambda: lower_bound_of(ONES, np.zeros(1_000), event=lambda z: True), InvalidSetting),
        (lambda: lower_bound_of(ONES, np.zeros(1_000), event=lambda z: z), InvalidSetting),
    ],
)  # fmt: skip
def test_bad_input_gets_a_named_error(call, error):
    with pytest.raises(error):
        call()


def laplace(x, rng):
    """Noise of epsilon 1 for inputs 1 apart, on a lattice: no low bits."""
    return np.rint((x + rng.laplace(size=np.shape(x))) * 2**20) / 2**20


def test_a_mechanism_is_held_against_its_own_guarantee():
    found = lower_bound(RandomizedResponse(1, 8), (0, 1), draws=20_000, random_state=1)
    assert found.guarantee == LocalDP(1)
    assert found.claim == 1
    assert found.verdict == "consistent"
    metric = lower_bound(
        PlanarLaplace(2.0, scale=(10.0, 10.0)), ([0, 0], [30, 40]), draws=1_000, random_state=1
    )
    assert metric.claim == pytest.approx(10, abs=1e-4)
    nothing = lower_bound(NDLaplace(1.0, lattice=None), ([0.0], [1.0]), draws=4_000, random_state=1)
    assert (nothing.verdict, nothing.claim) == ("no claim", None)


def test_another_claim_may_be_given():
    twice = lower_bound(Geometric(PureDP(2)), (5, 6), 1.0, draws=20_000, random_state=1)
    assert twice.verdict == "violated"
    assert twice.guarantee is None


def test_an_approximate_guarantee_brings_its_delta():
    mechanism = Gaussian(ApproxDP(1, "0.05"), sensitivity=100)
    pair = np.array([0]), np.array([100])
    found = lower_bound(mechanism, pair, draws=20_000, random_state=1)
    assert (found.delta, found.verdict) == (0.05, "consistent")
    assert lower_bound(mechanism, pair, 1.0, draws=20_000, random_state=1).epsilon > found.epsilon


def test_continuous_outputs_of_a_function_are_told_apart():
    found = lower_bound(laplace, (0.0, 1.0), 1.0, draws=10_000, random_state=2)
    assert found.verdict == "consistent"
    assert found.epsilon > 0.6
    assert found == lower_bound(laplace, (0.0, 1.0), 1.0, draws=10_000, random_state=2)
    assert lower_bound(laplace, (0.0, 2.0), 1.0, draws=10_000, random_state=2).verdict == "violated"


def test_raw_floats_are_caught_by_their_low_bits():
    raw = Batched(lambda x, n, rng: x + rng.laplace(size=n))
    found = lower_bound(raw, (0.0, 1.0), 1.0, draws=40_000, random_state=3)
    assert found.verdict == "violated"
    assert found.instrument == "lower bound by low bits"
    assert "support: one side never reaches the event" in found.notes
    turned = lower_bound(raw, (1.0, 0.0), 1.0, draws=40_000, random_state=3)
    assert turned.instrument == "lower bound by low bits"
    far = lower_bound(raw, (0.0, 1000.0), 5.0, draws=4_000, random_state=3)
    assert far.verdict == "violated"


def test_a_score_may_be_given():
    batch = Batched(lambda x, n, rng: laplace(np.full((n, 20), x), rng))
    score = lower_bound(
        batch, (0.0, 0.1), draws=20_000, random_state=4, score=lambda z: -z.sum(axis=1)
    )
    assert score.instrument == "lower bound by exact score"
    assert score.epsilon > 0.3


def test_a_seed_does_not_repeat_what_draws_by_itself():
    rng = np.random.default_rng(5)
    found = lower_bound(lambda x: x + rng.integers(0, 9), (0, 1), draws=1_000, random_state=1)
    assert "draws by itself: the seed does not repeat it" in found.notes
    assert found.seed == 1


def always_raises(x):
    raise ValueError


def only_nan(x):
    return math.nan


def not_random(x):
    return 7


def changes_shape(x, rng):
    return np.zeros(rng.integers(1, 4))


def raises_now_and_then(x, rng):
    if rng.random() < 0.01:
        raise OverflowError
    return laplace(x, rng)


def infinite_now_and_then(x, rng):
    return np.inf if rng.random() < 0.01 else laplace(x, rng)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (always_raises, "raised ValueError: 2,000 and 2,000 of 2,000 outputs"),
        (only_nan, "NaN: 2,000 and 2,000 of 2,000 outputs"),
        (not_random, "constant"),
        (changes_shape, "shape (1,)|shape (2,)|shape (3,)"),
        (raises_now_and_then, "raised OverflowError"),
        (infinite_now_and_then, "infinite"),
    ],
)
def test_what_is_broken_is_reported_as_such_and_not_as_consistent(mechanism, said):
    found = lower_bound(mechanism, (0.0, 1.0), 1.0, draws=2_000, random_state=6)
    assert found.verdict == "broken"
    assert any(each in note for each in said.split("|") for note in found.notes)


def test_an_identity_is_violated_not_only_broken():
    found = lower_bound(lambda x: x, (0.0, 1.0), 1.0, draws=1_000)
    assert found.verdict == "violated"
    assert "deterministic" in found.notes
    above = lower_bound(lambda x: x, (0.0, 1.0), 50.0, draws=1_000)
    assert above.verdict == "broken"


def test_an_exception_on_one_input_only_gives_it_away():
    def raises_on_one(x, rng):
        if x and rng.random() < 0.2:
            raise ValueError
        return laplace(0.0, rng)

    found = lower_bound(raises_on_one, (0, 1), 1.0, draws=4_000, random_state=7)
    assert found.verdict == "violated"
    assert "raised ValueError" in found.event


def test_another_number_type_is_odd_and_no_fault():
    found = lower_bound(lambda x, rng: max(0, laplace(x, rng)), (0.0, 0.5), 1.0, draws=4_000)
    assert found.verdict == "consistent"
    assert any(note.startswith("type int instead of float") for note in found.notes)


def test_progress_is_told_from_start_to_end():
    told = []
    lower_bound(
        laplace, (0, 1), draws=1_000, random_state=1, progress=lambda *step: told.append(step)
    )
    assert told[0] == ("drawing", 0.0)
    assert told[-1] == ("looking for the event", 1.0)
    assert [share for _, share in told] == sorted(share for _, share in told)


@pytest.mark.parametrize(
    ("call", "error", "setting"),
    [
        (lambda: lower_bound(laplace, (1, 1)), InvalidSetting, "pair"),
        (lambda: lower_bound(RandomizedResponse(1, 3), (0, 3)), InvalidSetting, "pair"),
        (lambda: lower_bound(laplace, (0, 1), draws=999), TooFewRows, None),
        (lambda: lower_bound(laplace, (0, 1), draws=1e4), TooFewRows, None),
        (lambda: lower_bound(laplace, (0, 1), alpha=0), InvalidSetting, "alpha"),
        (lambda: lower_bound(laplace, (0, 1), delta=1), InvalidSetting, "delta"),
        (lambda: lower_bound(laplace, (0, 1), MetricDP(1, unit="km")), InvalidSetting, None),
        (
            lambda: lower_bound(laplace, (0, 1), draws=1_000, random_state=-1),
            InvalidSetting,
            "random_state",
        ),
    ],
)
def test_bad_audits_get_a_named_error(call, error, setting):
    with pytest.raises(error, check=lambda error: error.setting == setting):
        call()


def test_outputs_may_have_fewer_columns_than_inputs() -> None:
    found = lower_bound(
        lambda x, rng: sum(x) + rng.laplace(0, 0.2),
        ([0.0, 0.0], [0.0, 1.0]),
        1.0,
        draws=2_000,
        random_state=7,
    )
    assert found.verdict == "violated"


def sometimes(other):
    """Laplace noise, and now and then something else, whatever came in."""
    return lambda x, rng: other if rng.random() < 0.1 else float(np.rint(x + rng.laplace(0, 2)))


@pytest.mark.parametrize("other", [None, "none", object(), [1.0, 2.0], np.nan, {1, 2}])
def test_what_changes_its_form_now_and_then_is_broken(other):
    found = lower_bound(sometimes(other), (0, 1), 2.0, draws=2_000, random_state=1)
    assert found.verdict == "broken"
    assert " of 2,000 outputs" in found.notes[0]


def test_a_column_of_nothing_is_broken_and_the_others_are_looked_at():
    def half(x, rng):
        return np.array([np.nan, x + rng.laplace(0, 1)])

    found = lower_bound(half, (0, 1), 9.0, draws=2_000, random_state=1)
    assert found.verdict == "broken"
    assert found.notes[0].startswith("NaN")


@pytest.mark.parametrize("form", [Batched, lambda draw: lambda x, rng: draw(x, 1, rng)])
def test_what_fails_on_one_input_only_is_violated(form):
    def fails(x, n, rng):
        return rng.normal(1 // x, size=n)

    found = lower_bound(form(fails), (1, 0), 1.0, draws=2_000, random_state=1)
    assert found.verdict == "violated"
    assert "raised ZeroDivisionError: 0 and 2,000 of 2,000 outputs" in found.notes


def test_draws_that_depend_on_each_other_certify_nothing():
    class Walk:
        at = 0.0

        def __call__(self, x, rng):
            self.at += rng.normal()
            return self.at

    found = lower_bound(Walk(), (0, 1), 1.0, draws=2_000, random_state=1)
    assert float(found) > 1  # though no input tells of itself here
    assert found.verdict == "broken"
    assert "nothing is certified" in found.notes[0]


def test_who_works_in_place_is_audited_as_if_it_did_not():
    noise = Geometric(PureDP(1))

    def in_place(x, rng):
        x += noise.release(np.zeros(1, dtype=int), rng)
        return x

    pair = np.zeros(1, dtype=int), np.ones(1, dtype=int)
    assert lower_bound(in_place, pair, 1.0, draws=4_000, random_state=1).verdict == "consistent"
    assert pair[0][0] == 0
