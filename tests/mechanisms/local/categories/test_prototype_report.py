"""PrototypeReport: one question about a mixed record. False-alarm rate of a test: 1e-6."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

from shoal.audit.bound._lower_bound import lower_bound_of
from shoal.errors import DimensionMismatch, InvalidBudget, InvalidSetting, NotAReport
from shoal.mechanisms import RandomizedResponse
from shoal.mechanisms.local.categories._prototype_report import PrototypeReport
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

SIZES = (0, 3, 4)
EACH = ((0,), (1,), (2,))
PAIRS = ((0, 1), (0, 2), (1, 2))
PROTOTYPES = ((-0.5, 0, 0), (0.5, 2, 3))
EXTREME = [[-1.0, 0, 0], [1.0, 2, 3], [0.3, 1, 2], [-0.5, 2, 0]]


def first(epsilon=1.0, questions=PAIRS):
    return PrototypeReport(SIZES, questions, (8,), epsilon=epsilon)


def later(epsilon=1.0, reach=0.6):
    return PrototypeReport(
        SIZES, EACH, (8,), prototypes=PROTOTYPES, reach=(reach,), epsilon=epsilon
    )


def answer_law(mechanism, record, question):
    """The law of the answer, written out: coins for the sides of numbers, else one answer."""
    x = np.array(record, dtype=float)
    label = 0
    if mechanism.prototypes:
        costs = [(x[0] - c[0]) ** 2 + 0.5 * sum(x[1:] != c[1:]) for c in np.array(PROTOTYPES)]
        label = int(np.argmin(costs))
    parts = [{label: 1.0}] if mechanism.prototypes else []
    for column in mechanism.questions[question]:
        if SIZES[column]:
            parts.append({int(x[column]): 1.0})
        elif not mechanism.prototypes:
            parts.append({min(int((x[0] + 1) / 2 * 8), 7): 1.0})
        else:
            way = np.clip((x[0] - PROTOTYPES[label][0]) / mechanism.reach[0], -1, 1)
            parts.append({0: (1 - way) / 2, 1: (1 + way) / 2})
    law = np.zeros(mechanism.answer_sizes(question))
    for combination in itertools.product(*(part.items() for part in parts)):
        place = tuple(value for value, _ in combination)
        law[place] += math.prod(chance for _, chance in combination)
    return law.ravel()


def report_law(mechanism, record):
    """The probability of every report: question by question, as the oracle randomises answers."""
    laws = []
    for question in range(len(mechanism.questions)):
        oracle, shares = mechanism.oracle(question), answer_law(mechanism, record, question)
        if isinstance(oracle, RandomizedResponse):
            yes, no = oracle._chances
            laws.append(no + (yes - no) * shares)
        else:
            laws.append(oracle.chances(shares))
    return [law / len(mechanism.questions) for law in laws]


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("make", [first, later])
def test_the_law_of_reports_of_any_two_records_is_within_the_promise(make, epsilon):
    mechanism = make(epsilon)
    laws = [np.concatenate(report_law(mechanism, record)) for record in EXTREME]
    losses = [np.log(a / b).max() for a, b in itertools.permutations(laws, 2)]
    assert max(losses) == pytest.approx(epsilon, rel=1e-9)
    for law in laws:
        assert law.sum() == pytest.approx(1)


@pytest.mark.parametrize("make", [first, later])
@pytest.mark.parametrize("record", EXTREME[1:3])
def test_drawn_reports_have_that_law(make, record):
    mechanism, n = make(2.0), 60_000
    values = mechanism.release(np.tile(record, (n, 1)), Randomness(3).noise).values
    laws = report_law(mechanism, record)
    drawn = [
        np.bincount(values[values[:, 0] == question, 1], minlength=law.size)
        for question, law in enumerate(laws)
    ]
    counts, expected = np.concatenate(drawn), n * np.concatenate(laws)
    assert chisquare(counts, expected).pvalue > 1e-6


def test_answers_are_right_on_average():
    rng = np.random.default_rng(0)
    records = np.array(EXTREME)[rng.integers(0, 4, 90_000)]
    mechanism = later(3.0)
    reports = mechanism.release(records, Randomness(1).noise)
    for question in range(3):
        found = mechanism.answers(reports, question)
        law = np.mean([answer_law(mechanism, each, question) for each in EXTREME], axis=0)
        error = np.hypot(found.standard_error, math.sqrt(1 / 30_000))
        assert (np.abs(found.value.ravel() - law) < 5 * error.ravel()).all()


def test_a_question_nobody_drew_says_nothing():
    mechanism = first()
    reports = mechanism.release([EXTREME[0]], Randomness(1).noise)
    unknown = [np.isinf(mechanism.answers(reports, i).standard_error).all() for i in range(3)]
    assert sum(unknown) == 2


def test_one_prototype_and_one_answer_send_a_constant():
    mechanism = PrototypeReport((1,), ((0,),), prototypes=((0.0,),), epsilon=1)
    values = mechanism.release(np.zeros((50, 1)), Randomness(1).noise).values
    assert values.tolist() == [[0, 0]] * 50


def test_records_outside_report_too():
    values = later().release([[np.nan, 9, -3], [np.inf, 0, 0]], Randomness(1).noise).values
    assert values.shape == (2, 2)


def drawn(send, n=40_000):
    """What two extreme records send, as one code each."""
    return [send(np.tile(EXTREME[i], (n, 1)), Randomness(i).noise) for i in (0, 1)]


def codes(values):
    return values @ [1000, 1]


def test_the_audit_finds_no_more_than_is_promised():
    for mechanism in (first(), later()):
        pair = drawn(lambda rows, rng, own=mechanism: codes(own.release(rows, rng).values))
        assert lower_bound_of(*pair, claim=LocalDP(1)).verdict == "consistent"


def test_the_audit_catches_the_true_label_beside_a_report():
    """LDPK as published: the column is randomised, the label is not."""

    def send(rows, rng):
        mechanism = later()
        return codes(mechanism.release(rows, rng).values) * 2 + mechanism._nearest(rows)

    assert lower_bound_of(*drawn(send), claim=LocalDP(1)).verdict == "violated"


@pytest.mark.heavy
def test_the_audit_catches_somebody_who_speaks_in_two_rounds():
    def send(rows, rng):
        mechanism = PrototypeReport(
            SIZES, EACH[1:2], (8,), prototypes=PROTOTYPES, reach=(1.0,), epsilon=1
        )
        once, again = (mechanism.release(rows, rng).values[:, 1] for _ in range(2))
        return 6 * once + again

    assert lower_bound_of(*drawn(send, 100_000), claim=LocalDP(1)).verdict == "violated"


def test_the_audit_catches_a_record_that_chooses_its_question():
    def send(rows, rng):
        question = int(rows[0, 0] > 0)
        values = later().release(rows, rng).values[:, 1]
        return question * 1000 + values

    assert lower_bound_of(*drawn(send), claim=LocalDP(1)).verdict == "violated"


@pytest.mark.parametrize(
    ("error", "settings"),
    [
        (InvalidBudget, {"epsilon": 0}),
        (InvalidSetting, {"questions": ()}),
        (InvalidSetting, {"questions": ((3,),)}),
        (InvalidSetting, {"bins": ()}),
        (InvalidSetting, {"sizes": (3, 0, 4)}),
        (InvalidSetting, {"prototypes": PROTOTYPES}),
    ],
)
def test_settings_that_are_none_are_refused(error, settings):
    with pytest.raises(error):
        PrototypeReport(
            **({"sizes": SIZES, "questions": EACH, "bins": (8,), "epsilon": 1} | settings)
        )


def test_records_and_reports_of_another_kind_are_refused():
    with pytest.raises(DimensionMismatch):
        first().release([[1.0, 2.0]], Randomness(1).noise)
    with pytest.raises(NotAReport):
        first().answers(later().release(EXTREME, Randomness(1).noise), 0)
