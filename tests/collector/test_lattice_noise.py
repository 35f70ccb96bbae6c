"""Noise on a lattice: its coins bit by bit, its law in both languages, and what it promises."""

import json
import math
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from shoal.collector import client

SOURCE = Path(client.__file__)
QUESTION = {
    "mechanism": "nd_laplace",
    "epsilon": "2",
    "columns": [["0", "64"]],
    "radius": "4",
    "unit": "km",
    "units": ["1"],
    "step_bits": 0,
}


def question(d, **changes):
    """A question in so many columns, alike."""
    return {**QUESTION, "columns": [["0", "64"]] * d, "units": ["1"] * d, **changes}


# ---- every random bit, where words are short


class Undecided(Exception):
    """A choice among so many that was not made yet."""


class ChosenWords:
    """Words of few bits, each given; asks for more with an exception."""

    def __init__(self, choices, bits):
        self.choices, self.bits, self.at, self.weight = choices, bits, 0, Fraction(1)

    def below(self, m):
        if self.at == len(self.choices):
            raise Undecided(m)
        self.at, self.weight = self.at + 1, self.weight / m
        return self.choices[self.at - 1]

    def word(self):
        return self.below(2**self.bits)


def outcomes(run, bits, least):
    """The chance of each outcome over all words, and what is left of paths below a chance."""
    chances, left, open_paths = Counter(), Fraction(0), [()]
    while open_paths:
        path = open_paths.pop()
        words = ChosenWords(path, bits)
        try:
            chances[run(words)] += words.weight
        except Undecided as more:
            if words.weight < least:
                left += words.weight
            else:
                open_paths += [(*path, choice) for choice in range(more.args[0])]
    return chances, left


@pytest.fixture
def short_words(monkeypatch):
    """Words of two bits, one of which is for the norm: every branch can be tried."""
    for name, bits in (("_WORD_BITS", 2), ("_NORM_BITS", 1), ("_RATE_BITS", 1)):
        monkeypatch.setattr(client, name, bits)
    return 2


def assert_chance(chances, left, outcome, expected):
    assert left < 1e-3
    assert chances[outcome] - 1e-12 <= expected <= chances[outcome] + left + 1e-12


@pytest.mark.parametrize("part", range(4))
def test_a_coin_of_a_part_has_its_chance_over_all_words(short_words, part):
    run = outcomes(lambda words: client._coin_of_part(part, words), 2, 1e-8)
    assert_chance(*run, True, math.exp(-part / 4))


def test_a_coin_of_e_has_its_chance_over_all_words(short_words):
    assert_chance(*outcomes(client._coin_of_e, 2, 1e-9), True, math.exp(-1))


@pytest.mark.parametrize(
    ("square", "rest"), [(2, 0), (8, 1), (50, 4), (49, 4), (16, 4), (1000, 28)]
)
@pytest.mark.parametrize("j", [1, 2, 5])
def test_a_coin_at_a_root_has_its_chance_over_all_words(short_words, square, rest, j):
    def run(words):
        return client._is_below_root(j, square, rest, words)

    assert_chance(*outcomes(run, 2, 1e-9), True, (math.sqrt(square) - rest) / (4 * j))


@pytest.mark.parametrize("rate", [1, 2, 3, 5])
def test_one_proposal_has_the_law_of_its_proof(short_words, rate, monkeypatch):
    # The coins inside have the chances that were tried above, so each is one choice of two here.
    def weighted(chance, words):
        if words.at == len(words.choices):
            raise Undecided(2)
        is_true = bool(words.choices[words.at])
        words.at += 1
        words.weight *= Fraction(chance if is_true else 1 - chance)
        return is_true

    monkeypatch.setattr(
        client, "_coin_of_part", lambda part, words: weighted(math.exp(-part / 4), words)
    )
    monkeypatch.setattr(client, "_coin_of_e", lambda words: weighted(math.exp(-1), words))
    chances, left = outcomes(lambda words: client._propose(rate, words), 2, 1e-9)
    assert left < 1e-7
    accepted = 1 - chances.pop(None)
    ratio = math.exp(-rate / 4)
    normaliser = (1 + ratio) / (1 - ratio)  # of e^(-rate / 4 |k|) over all whole numbers
    for k in range(-8, 9):
        expected = math.exp(-rate / 4 * abs(k)) / normaliser
        assert float(chances[k] / accepted) == pytest.approx(expected, abs=3e-7)


@pytest.mark.parametrize("noise", [(0,), (3,), (0, 0), (1, 0), (1, -1), (2, 1), (-1, 3), (1, 0, 2)])
def test_a_proposal_is_accepted_as_often_as_it_fell_too_slowly(short_words, noise):
    rate, d = 1, len(noise)
    norm = math.isqrt(4**1 // d)
    run = outcomes(lambda words: client._accepts(list(noise), rate, norm, words), 2, 1e-8)
    length, total = math.hypot(*noise), sum(map(abs, noise))
    assert norm / 2 <= 1 / math.sqrt(d)
    assert_chance(*run, True, math.exp(-(rate / 2) * (length - norm / 2 * total)))


# ---- the law, in both languages

DRAW = """
import { webcrypto } from "node:crypto";
import { latticeNoise, Words, draw } from "./client.mjs";
const { d, rate, n, question, records } = JSON.parse(process.argv[2]);
const pool = webcrypto.getRandomValues(new Uint8Array(65536));
let at = 0;
class Pooled extends Words { // the operating system's words, many at a time
  word() {
    if (at === pool.length) { webcrypto.getRandomValues(pool); at = 0; }
    at += 8;
    return new DataView(pool.buffer).getBigUint64(at - 8);
  }
}
const words = new Pooled(), lines = [];
for (let i = 0; i < n; i++) {
  lines.push(records ? records.map((one) => draw(question, one, words))
    : latticeNoise(d, BigInt(rate), words).map(Number));
}
console.log(JSON.stringify(lines));
"""


def by_twin(folder, **task):
    """What the twin draws in Node."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: apt-get install nodejs")
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "draw.mjs").write_text(DRAW)
    command = ["node", folder / "draw.mjs", json.dumps(task)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(run.stdout)


def noise_of(language, folder, d, rate, n):
    if language == "twin":
        return np.array(by_twin(folder, d=d, rate=str(rate), n=n))
    words = client.WordStream()
    return np.array([client.lattice_noise(d, rate, words) for _ in range(n)])


def law_on_cube(d, rate, reach):
    """Every whole vector of a cube, and its chance; what lies beyond has less than e^-20."""
    sides = np.array(list(product(range(-reach, reach + 1), repeat=d)))
    weights = np.exp(-rate * np.sqrt((sides**2).sum(axis=1)))
    return sides, weights / weights.sum()


def pooled_chisquare(drawn, sides, chances):
    """The p-value of counts on a cube; vectors too rare to count alone are counted together."""
    places = {tuple(side): i for i, side in enumerate(sides.tolist())}
    counts = np.bincount([places.get(tuple(k), 0) for k in drawn.tolist()], minlength=len(sides))
    expected = chances * len(drawn)
    rare = expected < 10
    seen = np.append(counts[~rare], counts[rare].sum())
    hoped = np.append(expected[~rare], expected[rare].sum())
    keep = hoped > 0
    return stats.chisquare(seen[keep], hoped[keep] * seen.sum() / hoped[keep].sum()).pvalue


@pytest.mark.heavy
@pytest.mark.parametrize("language", ["client", "twin"])
@pytest.mark.parametrize(("d", "rate", "reach"), [(1, 0.5, 60), (2, 1.0, 24), (3, 1.5, 16)])
def test_noise_on_a_coarse_lattice_has_the_law_of_the_proof(tmp_path, language, d, rate, reach):
    # False alarm 1e-6 for each of six.
    drawn = noise_of(language, tmp_path, d, int(rate * 2**44), 12_000)
    assert pooled_chisquare(drawn, *law_on_cube(d, rate, reach)) > 1e-6


@pytest.mark.heavy
@pytest.mark.parametrize("language", ["client", "twin"])
@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_noise_on_a_fine_lattice_has_the_radius_and_directions_of_the_law(tmp_path, language, d):
    # False alarm 1e-6 for each of three tests: a fine lattice is the plane to five digits.
    n = 5_000 if d < 7 else 1_500
    drawn = noise_of(language, tmp_path, d, 2**24, n) * 2.0**-20
    radius = np.sqrt((drawn**2).sum(axis=1))
    assert stats.kstest(radius, stats.gamma(d).cdf).pvalue > 1e-6
    share = (drawn[:, 0] / radius) ** 2  # uniform directions: Beta(1/2, (d - 1)/2)
    if d > 1:
        assert stats.kstest(share, stats.beta(0.5, (d - 1) / 2).cdf).pvalue > 1e-6
    positive = int((drawn[:, -1] > 0).sum())
    assert stats.binomtest(positive, int((drawn[:, -1] != 0).sum())).pvalue > 1e-6


def test_a_sampler_that_counts_zero_twice_fails_the_law(monkeypatch):
    def careless(rate, stream):
        k = client._propose(rate, stream)
        return 0 if k is None else k

    monkeypatch.setattr(client, "_discrete_laplace", careless)
    words = client.WordStream()
    drawn = np.array([client.lattice_noise(2, 2**44, words) for _ in range(4_000)])
    assert pooled_chisquare(drawn, *law_on_cube(2, 1.0, 24)) < 1e-6


# ---- the promise


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("bits", [0, 3, 20])
def test_records_within_the_radius_are_never_told_apart_by_more_than_the_level(d, bits):
    asked = question(d, step_bits=bits)
    client.check_question(asked, Fraction(2))
    bounds, rate = [(0.0, 64.0)] * d, Fraction(client.lattice_rate(asked), 2**44)
    rng = np.random.default_rng(d)
    worst = 0.0
    for _ in range(400):
        # Beside the middle of two steps, so that both records are rounded away from each other.
        first = rng.integers(0, 8, d) + 2.0**-bits * (0.5 - 2.0**-30)
        way = np.abs(rng.standard_normal(d))
        second = first + way / np.linalg.norm(way) * (4 - 1e-9)
        second += 2.0**-bits * 2.0**-29 * (rng.random(d) < 0.5)
        distance = np.linalg.norm(second - first)
        places = [client._places(asked, row.tolist(), bounds) for row in (first, second)]
        square = sum((a - b) ** 2 for a, b in zip(*places, strict=True))
        assert rate**2 * square <= (2 * max(1, Fraction(distance) / 4)) ** 2
        worst = max(worst, float(rate) * math.sqrt(square))
    assert worst > {0: 0.9, 3: 1.6, 20: 1.99}[bits]  # so the pairs are among the worst


def certified_epsilon(first, second, scores):
    """A lower bound on epsilon from reports of two records, wrong once in a million."""
    half = len(first) // 2
    edges = np.quantile(scores(first[:half]), [0.5, 0.7, 0.9])
    best = 0.0
    for edge in edges:  # chosen on one half, counted on the other
        hits = [int((scores(reports[half:]) >= edge).sum()) for reports in (first, second)]
        n = len(first) - half
        low = stats.beta.ppf(1e-6 / 6, hits[0], n - hits[0] + 1)
        high = stats.beta.ppf(1 - 1e-6 / 6, hits[1] + 1, n - hits[1])
        best = max(best, math.log(low / high))
    return best


@pytest.mark.heavy
@pytest.mark.parametrize("language", ["client", "twin"])
@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_what_is_certified_of_the_worst_pair_is_most_of_the_level_and_no_more(
    tmp_path, language, d
):
    asked = question(d, step_bits=4)
    apart = 4 / math.sqrt(d)  # across a diagonal, each rounded away from the other
    records = [[30 + 1 / 32 - 1e-9] * d, [30 + 1 / 32 - 1e-9 + apart] * d]
    n = 8_000 if d < 7 else 2_000
    if language == "twin":
        lines = by_twin(tmp_path, question=asked, records=records, n=n)
        first, second = (np.array([line[i] for line in lines], dtype=float) for i in (0, 1))
    else:
        words = client.WordStream()
        first, second = (
            np.array([client.draw(asked, record, words) for _ in range(n)], dtype=float)
            for record in records
        )
    places = np.array([client._places(asked, row, [(0.0, 64.0)] * d) for row in records])

    def scores(reports):
        near, far = (np.linalg.norm(reports - place, axis=1) for place in places)
        return far - near

    certified = certified_epsilon(first, second, scores)
    assert (0.5 if d < 7 else 0.2) < certified <= 2
