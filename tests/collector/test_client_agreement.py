"""The client and the NumPy mechanisms: one law, one encoding, two readers of randomness."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from shoal.arrays import nearest_centers
from shoal.collector import client
from shoal.collector._campaign import mechanism_of, number_of_reports
from shoal.domain import Box, Grid
from shoal.mechanisms.local.categories._local_hash import LocalHash
from shoal.mechanisms.local.categories._randomized_response import _truth_coin
from shoal.privacy._exact_numbers import exact_budget
from shoal.randomness import Randomness

SHIPPED = Path(client.__file__).with_name("vectors.json")
INDEPENDENT = Path(__file__).with_name("independent_vectors.json")
VECTORS = [
    vector for path in (SHIPPED, INDEPENDENT) for vector in json.loads(path.read_text())["vectors"]
]
NAMES = ["x", "y"]


def replay(question, record, words):
    """The report that the NumPy mechanisms' own parts give for these words, none rejected."""
    words = [int(word) for word in np.frombuffer(words, dtype=">u8")]
    epsilon, oracle = exact_budget(question["epsilon"]), question["oracle"]
    column = 0
    if question["mechanism"] == "category":
        code = record
    else:
        bounds = {
            n: (float(a), float(b)) for n, (a, b) in zip(NAMES, question["columns"], strict=True)
        }
        box = Box(**bounds)
        row = np.array([[x if type(x) in (int, float) else np.nan for x in record]])
        middle = box.low / 2 + box.high / 2
        row = box.clip(np.where(np.isnan(row), middle, row))
        if question["mechanism"] == "local_grid":
            code = int(Grid(box, tuple(question["cells"])).keys(row)[0])
        else:
            sides = mechanism_of(question, NAMES)
            scaled = box.scale(row, -1, 1)
            column = words.pop(0) % 2
            nearest = int(nearest_centers(scaled, sides._scaled)[0])
            way = scaled[0, column] - sides._scaled[nearest, column]
            steps = np.rint((np.clip(way / sides.reach, -1, 1) + 1) * 2**19)
            code = 2 * nearest + (words.pop(0) % 2**20 < steps)
    if oracle["name"] == "randomized_response":
        report = _respond(epsilon, oracle["size"], code, words)
    else:
        hashing = LocalHash(epsilon, oracle["size"])
        assert (hashing.buckets, hashing.digits) == (oracle["buckets"], oracle["digits"])
        function = words.pop(0) % hashing.buckets**hashing.digits
        place = int(hashing._hashed(np.array([function]), np.array([int(code)]))[0])
        report = function * hashing.buckets + _respond(epsilon, hashing.buckets, place, words)
    return column * client.codes_of(question) + report


def _respond(epsilon, k, code, words):
    keep = words.pop(0) < int(_truth_coin(epsilon, k)._floors[0])
    other = words.pop(0) % (k - 1)
    return int(code if keep else other + (other >= code))


@pytest.mark.heavy
def test_the_mechanisms_own_parts_give_the_vectors_reports():
    count = 0
    for vector in VECTORS:
        question, used = vector["question"], bytes.fromhex(vector["random"])[: vector["consumed"]]
        words = 2 + (question["oracle"]["name"] == "local_hash")
        words += 2 * (question["mechanism"] == "residual_sign")
        if vector["consumed"] != 8 * words:
            continue  # a word was thrown away
        assert replay(question, vector["record"], used) == vector["report"]
        count += 1
    assert count > 800


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.1", "1", "2.5", "8", "20"])
@pytest.mark.parametrize("k", [2, 3, 9, 144, 4096, 2**24])
def test_the_threshold_is_the_first_bits_of_the_mechanisms_coin(epsilon, k):
    assert client.keep_threshold(epsilon, k) == int(
        _truth_coin(exact_budget(epsilon), k)._floors[0]
    )


def test_the_questions_of_mechanisms_come_back_as_the_same_mechanisms():
    for vector in VECTORS:
        question = vector["question"]
        if question["mechanism"] == "category" or question["epsilon"] == "3.7":
            continue
        mechanism = mechanism_of(question, NAMES)
        assert number_of_reports(question) == vector["codes"]
        assert mechanism.exact_epsilon == exact_budget(question["epsilon"])


CASES = {
    "response": (
        {
            "mechanism": "category",
            "epsilon": "1",
            "oracle": {"name": "randomized_response", "size": 9},
        },
        4,
    ),
    "hash": (
        {
            "mechanism": "category",
            "epsilon": "2",
            "oracle": {"name": "local_hash", "buckets": 7, "digits": 2, "size": 49},
        },
        37,
    ),
}


def law_of(question, code):
    """The exact law of the report."""
    oracle, ratio = question["oracle"], math.exp(float(question["epsilon"]))
    if oracle["name"] == "randomized_response":
        chances = np.full(oracle["size"], 1 / (ratio + oracle["size"] - 1))
        chances[code] *= ratio
        return chances
    mechanism = LocalHash(float(question["epsilon"]), oracle["size"])
    return mechanism.chances(np.eye(oracle["size"])[code])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_client_and_mechanism_have_the_law_of_the_proof(name):
    # False alarm: 1e-4 for each of the four comparisons.
    question, code = CASES[name]
    expected, n = law_of(question, code), 60_000
    words = client.WordStream()
    drawn = [client.draw(question, code, words) for _ in range(n)]
    mechanism = mechanism_of(question, [])
    released = mechanism.release([code] * n, Randomness(1).noise).values
    for values in (drawn, released):
        counts = np.bincount(values, minlength=expected.size)
        assert stats.chisquare(counts, expected * n).pvalue > 1e-4


@pytest.mark.slow
def test_the_audit_certifies_most_of_the_claim_and_no_more():
    """Two codes, the report that tells them apart best: a bound on epsilon from counts."""
    question = CASES["response"][0]
    words, n = client.WordStream(), 100_000
    hits = [sum(client.draw(question, code, words) == 4 for _ in range(n)) for code in (4, 5)]
    low = stats.beta.ppf(1e-3, hits[0], n - hits[0] + 1)
    high = stats.beta.ppf(1 - 1e-3, hits[1] + 1, n - hits[1])
    assert 0.9 <= math.log(low / high) <= 1
