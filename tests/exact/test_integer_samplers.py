"""The law of every integer sampler, computed from its code without chance.

A sampler reads random bits until they decide, so it is a tree: each leaf is a range of bit strings
that gives one outcome. The leaves are enumerated by feeding the code the words at both ends of
each; their masses are whole multiples of 2**-128. What 128 bits leave undecided is at most 2**-128
for each threshold. The law of the proof is computed apart, as brackets in fractions: Taylor's
series of e^-s on s / 2**n, squared n times, rounded outwards at 2**-320.
"""

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np
import pytest
from randomgen import UserBitGenerator

from shoal.mechanisms import Choices, Exponential, Splits, TreeSplits
from shoal.mechanisms.central import _tree_splits as tree_splits
from shoal.mechanisms.central._exponential import _decided, _masses
from shoal.mechanisms.exact._coins import Coin, fair_bits, random_subsets
from shoal.mechanisms.exact._discrete_laplace import GeometricLaw, geometric_law, skip_law
from shoal.mechanisms.exact._inversion import exp_minus
from shoal.privacy import PureDP

WORD, HALF = 2**64, 2**48
CLOSE = Fraction(1, 2**100)  # every leaf's mass agrees with the law to 100 bits
RESTARTS = 3


# The law, in fractions.


class Bracket:
    """Two fractions that a real number lies between; results are rounded outwards."""

    def __init__(self, low, high=None):
        high = low if high is None else high
        scale = 2**320
        self.low = Fraction(math.floor(low * scale), scale)
        self.high = Fraction(math.ceil(high * scale), scale)

    def __mul__(self, other):
        return Bracket(self.low * other.low, self.high * other.high)  # of numbers from 0 up

    def __truediv__(self, other):
        return Bracket(self.low / other.high, self.high / other.low)

    def __add__(self, other):
        return Bracket(self.low + other.low, self.high + other.high)

    def __sub__(self, other):
        return Bracket(self.low - other.high, self.high - other.low)

    def holds(self, value, slack=CLOSE):
        return self.low - slack <= value <= self.high + slack


ONE = Bracket(Fraction(1))


@cache
def e_to_minus(exponent):
    """A bracket of e^-exponent."""
    halvings = max(0, math.ceil(exponent).bit_length() + 1)
    x, term, total = exponent / 2**halvings, Fraction(1), Fraction(0)
    for n in range(1, 90):
        total += term
        term = -term * x / n
        term = Fraction(round(term * 2**420), 2**420)  # off by less than 2**-419 in all
    power = Bracket(total - Fraction(1, 2**400), total + Fraction(1, 2**400))
    for _ in range(halvings):
        power = power * power
    return power


def test_brackets_are_narrow_and_hold_known_digits():
    digits = Fraction("0.36787944117144232159552377016146086744581113103176783450783680169746")
    assert e_to_minus(Fraction(1)).high - e_to_minus(Fraction(1)).low < Fraction(1, 2**300)
    assert abs(e_to_minus(Fraction(1)).low - digits) < Fraction(1, 10**66)
    both = e_to_minus(Fraction(3)) * e_to_minus(Fraction(4))
    assert abs(both.low - e_to_minus(Fraction(7)).low) < Fraction(1, 2**300)


# The leaves of a table.


class Script(np.random.Generator):
    """A generator whose next 64-bit words are given."""

    def __init__(self, words):
        super().__init__(np.random.PCG64(0))
        self.words = list(words)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        assert (low, high, dtype) == (0, WORD, np.uint64)
        taken, self.words = self.words[:size], self.words[size:]
        assert len(taken) == size, "the script ran out of words"
        return np.array(taken, dtype=np.uint64)


def outcomes_at(table, words):
    """What the code makes of uniform numbers of which 64 bits decide."""
    prefixes = np.array([word >> 48 for word in words], dtype=np.uint16)
    return table._resolve(prefixes, Script([(word % HALF) << 16 for word in words])).tolist()


def outcome_after_tie(table, word, then):
    """What it makes of 64 bits that agree with a threshold's, followed by 64 others."""
    prefix = np.array([word >> 48], dtype=np.uint16)
    return int(table._resolve(prefix, Script([(word % HALF) << 16, then]))[0])


def leaf_masses(table, ties=100):
    """The mass of every outcome of a table as its code draws it, and what 128 bits leave open.

    Only the first ``ties`` thresholds are read on to 128 bits by the code; of the others the
    code's own 128-bit numbers are taken.
    """
    table._certified = lru_cache(maxsize=8)(type(table)._certified.__get__(table))  # time alone
    masses = defaultdict(Fraction)
    every_prefix = np.arange(2**16, dtype=np.uint16)
    undecided = np.flatnonzero(table._guide < 0)
    script = Script([*every_prefix.view(np.uint64).tolist(), *[1] * undecided.size, *[1] * 9999])
    first = table.sample(2**16, script)
    for prefix in np.flatnonzero(table._guide >= 0):
        masses[int(first[prefix])] += Fraction(1, 2**16)

    floors, longer = table._floors.tolist(), table._certified(128)
    assert len(set(floors)) == len(floors)
    inside = defaultdict(list)
    for floor in floors:
        inside[floor >> 48].append(floor)
    starts = [start for p, fs in inside.items() for start in (p << 48, *(f + 1 for f in fs))]
    ends = [end for p, fs in inside.items() for end in (*(f - 1 for f in fs), ((p + 1) << 48) - 1)]
    leaves = [leaf for leaf in zip(starts, ends, strict=True) if leaf[0] <= leaf[1]]
    at_start, at_end = (outcomes_at(table, words) for words in zip(*leaves, strict=True))
    assert at_start == at_end  # a leaf: both ends give one outcome
    for outcome, (start, end) in zip(at_start, leaves, strict=True):
        masses[outcome] += Fraction(end - start + 1, WORD)

    for place, (floor, whole) in enumerate(zip(floors, longer, strict=True)):
        tie = whole % WORD
        assert whole >> 64 == floor
        if place < ties:
            below = [outcome_after_tie(table, floor, word) for word in (0, tie - 1)]
            above = [outcome_after_tie(table, floor, word) for word in (tie + 1, WORD - 1)]
            assert below + above == [place, place, place + 1, place + 1]
        masses[place] += Fraction(tie, WORD**2)
        masses[place + 1] += Fraction(WORD - 1 - tie, WORD**2)
    open_mass = Fraction(len(floors), WORD**2)
    assert sum(masses.values()) + open_mass == 1
    return masses, open_mass


# Discrete Laplace and geometric numbers.


class Outcomes:
    """Stands for a table and returns given outcomes."""

    def __init__(self, *rounds):
        self.rounds = list(rounds)

    def sample(self, n, rng):
        drawn = np.array(self.rounds.pop(0), dtype=np.int64)
        assert drawn.size == n
        return drawn


def law_of_code(law, sides):
    """P[value] as the code draws it, up to RESTARTS times past its table's end."""
    top_table = law._two_sided_top if sides == 2 else law._one_sided_top
    end = sides * law._end
    tops, open_mass = leaf_masses(top_table)
    lows = [(Fraction(1), 0)]
    place = 0
    for table, shift in zip(law._low_tables if law._shifts else [], law._shifts, strict=True):
        masses, more = leaf_masses(table, ties=32)
        lows = [(p * q, low | bits << place) for p, low in lows for bits, q in masses.items()]
        open_mass, place = open_mass + more, place + shift
    assert max(tops) == end

    joint = [(p * q, top, low) for top, p in tops.items() if top < end for q, low in lows]
    draw = law.two_sided if sides == 2 else law.one_sided
    values = defaultdict(Fraction)
    for restarts in range(RESTARTS + 1):
        for begin in range(0, len(joint), 2**14):
            block = joint[begin : begin + 2**14]
            again = [[end] * len(block)] * restarts
            stub = Outcomes(*again, [top for _, top, _ in block])
            law._two_sided_top = law._one_sided_top = stub
            law._low_tables = [Outcomes([low for _, _, low in block])]
            shifts, law._shifts = law._shifts, [law._bits] if law._shifts else []
            drawn = draw(len(block), None).tolist()
            law._shifts = shifts
            for value, (p, _, _) in zip(drawn, block, strict=True):
                values[value] += p * tops[end] ** restarts
    return values, open_mass, tops[end] ** (RESTARTS + 1)


def fresh(step):
    """A law of its own, whose tables may be replaced."""
    return GeometricLaw(lambda: exp_minus(step), math.log2(step))


@pytest.mark.heavy
@pytest.mark.parametrize("step", ["2", "1/2", "1/50", "1/300"])
def test_discrete_laplace_numbers_have_exactly_their_law(step):
    """Also zero mass, symmetry, tails, mean and log-ratios, as far as the table is drawn."""
    exponent = Fraction(step)
    values, open_mass, past = law_of_code(fresh(exponent), 2)
    a = e_to_minus(exponent)
    zero = (ONE - a) / (ONE + a)
    assert open_mass < Fraction(1, 2**100)
    assert past < e_to_minus(Fraction(36)).high
    assert zero.holds(values[0])
    mass, farthest = zero, max(values)
    assert set(values) >= set(range(-farthest, farthest + 1))
    for k in range(1, farthest + 1):
        mass = mass * a
        assert mass.holds(values[k]), k
        assert mass.holds(values[-k]), k
    assert abs(sum(k * p for k, p in values.items())) < Fraction(1, 2**40)  # cut at one end
    beyond = 1 - sum(values.values())
    assert 0 <= beyond <= 2 * past


@pytest.mark.heavy
@pytest.mark.parametrize("step", ["2", "1/2", "1/50"])
def test_log_ratios_hold_far_into_the_tail(step):
    """P[k]/P[k + 1] is e^step to 30 bits, also where P[k] is below 2**-60."""
    values, _, _ = law_of_code(fresh(Fraction(step)), 2)
    ratio = e_to_minus(Fraction(step))
    far = max(k for k, p in values.items() if p > Fraction(1, 2**60))
    for k in (0, 1, far // 2, far - 1):
        for one, two in ((values[k], values[k + 1]), (values[-k], values[-k - 1])):
            assert abs(two / one / ratio.low - 1) < Fraction(1, 2**30)


@pytest.mark.heavy
@pytest.mark.parametrize("step", ["2", "1/2", "1/300"])
def test_geometric_numbers_have_exactly_their_law_and_mean(step):
    values, open_mass, past = law_of_code(fresh(Fraction(step)), 1)
    a = e_to_minus(Fraction(step))
    mass, mean = ONE - a, Fraction(0)
    for k in range(max(values) + 1):
        assert mass.holds(values[k]), k
        mass, mean = mass * a, mean + k * values[k]
    assert open_mass < Fraction(1, 2**100)
    assert abs(mean - (a / (ONE - a)).low) < past * max(values) * 4 + CLOSE


@pytest.mark.heavy
def test_the_law_does_not_depend_on_how_it_is_cut_into_tables():
    """A fast way and a slow one: low bits apart, or all in one table."""
    step = Fraction(1, 100)
    whole, _, _ = law_of_code(fresh(step), 2)
    cut = GeometricLaw(lambda: exp_minus(step), -7.5)
    assert cut._bits == 8
    parts, _, _ = law_of_code(cut, 2)
    for k in range(-200, 201):
        assert abs(whole[k] - parts[k]) < 2 * CLOSE


@pytest.mark.heavy
@pytest.mark.parametrize(("step", "level"), [("1", 3), ("1/2", 9), ("2", 3)])
def test_gaps_between_false_cells_have_exactly_their_law(step, level):
    law = skip_law.__wrapped__(Fraction(step), level)
    values, open_mass, _ = law_of_code(law, 1)
    a = e_to_minus(Fraction(step))
    reach = e_to_minus(Fraction(step) * level) / (ONE + a)
    mass = reach
    assert open_mass < Fraction(1, 2**100)
    for k in range(max(values) // (RESTARTS + 1)):
        assert mass.holds(values[k]), k
        mass = mass * (ONE - reach)


@pytest.mark.heavy
def test_thresholds_of_a_small_step_are_right_to_128_bits():
    """Step 1/100000: the first table of low bits has 4,095 thresholds, the next ones fewer."""
    step = Fraction(1, 100_000)
    law = fresh(step)
    place = 0
    for table, shift in zip(law._low_tables, law._shifts, strict=True):
        ratio = e_to_minus(step * 2**place)
        last = ONE - e_to_minus(step * 2 ** (place + shift))
        power = ONE
        masses, _ = leaf_masses(table, ties=16)
        for outcome in range(2**shift):
            expected = (power - power * ratio) / last
            assert expected.holds(masses[outcome]), outcome
            power = power * ratio
        place += shift


# Coins.


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", ["1/10", "1", "8"])
@pytest.mark.parametrize(
    ("chance", "true"),
    [
        (lambda E: E / (E + 1), lambda a: ONE / (ONE + a)),
        (lambda E: 1 / (E + 1), lambda a: a / (ONE + a)),
        (lambda E: E / (E + 7), lambda a: ONE / (ONE + Bracket(Fraction(7)) * a)),
    ],
)
def test_coins_have_exactly_their_chance(epsilon, chance, true):
    coin = Coin(Fraction(epsilon), chance)
    masses, open_mass = leaf_masses(coin)
    assert open_mass == Fraction(1, 2**128)
    assert true(e_to_minus(Fraction(epsilon))).holds(masses[0])

    prefixes = np.arange(2**16, dtype=np.uint16).view(np.uint64).tolist()
    flipped = coin.flip(2**16, Script([*prefixes, 0, 0, 0]))  # 0: the least of the undecided
    (undecided,) = np.flatnonzero(coin._guide < 0)
    decided = np.delete(np.arange(2**16), undecided)
    assert np.array_equal(flipped[decided], coin._guide[decided] == 0)
    assert flipped[undecided]


def test_fair_bits_are_the_bits_that_were_read():
    class Bytes:
        def bytes(self, n):
            return bytes([0b10110001, 0b01111111][:n])

    assert fair_bits((2, 4), Bytes()).tolist() == [[1, 0, 1, 1], [0, 0, 0, 1]]


# The exponential mechanism.

RADII = [2 ** (i // 2) * (1 + i % 2) for i in range(24)]


@pytest.mark.parametrize("epsilon", ["1/10", "1", "8"])
@pytest.mark.parametrize(
    ("scores", "weights"),
    [([3, 5], [1, 1]), ([0, 1, 7], [5, 1, 2]), ([(7 * i) % 19 for i in range(24)], RADII)],
)
def test_the_exponential_mechanism_changes_its_choice_where_the_law_does(epsilon, scores, weights):
    rate, n = Fraction(epsilon) / 2, len(scores)
    best = max(scores)
    masses = [
        Bracket(Fraction(w)) * e_to_minus(rate * (best - u))
        for u, w in zip(scores, weights, strict=True)
    ]
    total = sum(masses[1:], masses[0])
    for bits in (128, 256):
        ends = [0]
        for mass in _masses(np.array(scores), weights, rate, bits):
            ends.append(ends[-1] + mass)
        widest = Fraction(4 * n + 4, ends[-1])
        below = Bracket(Fraction(0))
        for i in range(n):
            last, first = _gap(lambda u, b=bits, e=ends: _decided(u, b, e), i, 2**bits)
            below = below + masses[i]
            if i < n - 1:
                edge = below / total
                assert Fraction(last, 2**bits) <= edge.high
                assert edge.low <= Fraction(first, 2**bits)
                assert Fraction(first - last, 2**bits) <= widest < Fraction(1, 2 ** (bits - 40))


def _gap(decided, i, end):
    """The end of the numbers that give candidate i or one before, and the start of those after."""

    def first_where(after):
        low, high = 0, end  # the least u at which ``after`` holds, found by halving
        while low < high:
            middle = (low + high) // 2
            place = decided(middle)
            # Undecided numbers lie between i and i + 1, or elsewhere: look beside them.
            around = place if place is not None else _decided_near(decided, middle, i, end)
            low, high = (low, middle) if after(around, place) else (middle + 1, high)
        return low

    last = first_where(lambda around, place: around > i or (around == i and place is None))
    first = first_where(lambda around, place: around > i)
    return last, first


def _decided_near(decided, u, i, end):
    """The candidate below an undecided number: i + 0 inside its own gap."""
    step = 1
    while u - step >= 0:
        place = decided(u - step)
        if place is not None:
            return place
        step *= 2
    return -1


def test_the_code_picks_what_the_leaves_say_and_reads_on_in_a_gap():
    class Bytes:
        def __init__(self, *numbers):
            self.numbers = list(numbers)

        def bytes(self, n):
            return self.numbers.pop(0).to_bytes(n, "little")

    pick, value = Exponential(PureDP(1)), Choices([3, 5, 4], [1, 2, 3])
    ends = [0]
    for mass in _masses(value.scores, value.weights, Fraction(1, 2), 128):
        ends.append(ends[-1] + mass)
    for i in range(2):
        last, first = _gap(lambda u: _decided(u, 128, ends), i, 2**128)
        assert pick.release(value, Bytes(last - 1)) == i
        assert pick.release(value, Bytes(first)) == i + 1
        read_on = Bytes((last + first) // 2, 12345)
        assert pick.release(value, read_on) in (i, i + 1)
        assert read_on.numbers == []


# Whole numbers below a limit, and subsets.


@pytest.mark.parametrize("size", [2, 3, 5, 1000])
def test_whole_numbers_below_a_limit_are_equally_likely(size):
    """Every outcome has as many 32-bit words; a word that would tip the balance is read again."""
    words, read = [], []

    def next_word(_):
        read.append(words[0])
        return words.pop(0)

    rng = np.random.Generator(UserBitGenerator(next_word, 64, next_64=next_word, next_32=next_word))
    rejected = 2**32 % size
    for outcome in {0, 1, size // 2, size - 1}:
        first = -(-outcome * 2**32 // size)  # the least word whose product begins with the outcome
        last = -(-(outcome + 1) * 2**32 // size) - 1
        again = sum((word * size) % 2**32 < rejected for word in range(first, first + 1))
        assert last - first + 1 - again == 2**32 // size
        for word in (first, first + 1, last):
            words[:], read[:] = [word, 2**31 + 12345, 2**31 + 12345], []
            drawn = int(rng.integers(0, size - 1, endpoint=True))
            reads_again = (word * size) % 2**32 < rejected
            assert len(read) == 1 + reads_again
            assert drawn == outcome or reads_again
    assert rejected < size  # of 2**32: the share that is read again


@pytest.mark.parametrize(("d", "k"), [(2, 1), (3, 2), (4, 3), (5, 2), (5, 5)])
def test_every_subset_comes_from_as_many_picks(d, k):
    limits = range(d - k, d)
    picks = np.array(list(product(*(range(limit + 1) for limit in limits)))).T

    class Given:
        def __init__(self):
            self.rows = list(picks)

        def integers(self, low, high, size, endpoint):
            assert (low, endpoint) == (0, True)
            row = self.rows.pop(0)
            assert row.max() == high
            return row

    subsets = random_subsets(picks.shape[1], d, k, Given())
    seen = defaultdict(int)
    for subset in subsets.T:
        seen[frozenset(subset.tolist())] += 1
    assert set(seen) == set(map(frozenset, combinations(range(d), k)))
    assert len(set(seen.values())) == 1


# The split tests of a tree.


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", [64, 200, 640])
def test_trees_have_exactly_their_law(epsilon, monkeypatch):
    """Depth 3, counts 0 to 2: the test's edge, and the mass of the noise beyond it."""
    grow = TreeSplits(PureDP(epsilon))
    step = 1 / (1024 * grow.scale)
    values, _, past = law_of_code(fresh(step), 2)
    decay = int(grow.decay * 1024)
    a = e_to_minus(step)
    probabilities = {}
    for depth, count in product(range(3), range(3)):
        lowered = max(1024 * count - depth * decay, -decay)
        edge = []
        for noise in (-lowered, 1 - lowered):  # the last that does not split, the first that does
            stub = lambda _, noise=noise: Outcomes2(noise)  # noqa: E731
            monkeypatch.setattr(tree_splits, "geometric_law", stub)
            edge.append(bool(grow._test(np.array([count]), depth, None)[0]))
        assert edge == [False, True]
        reaching = sum(p for value, p in values.items() if value >= 1 - lowered)
        power = e_to_minus(step * abs(1 - lowered)) / (ONE + a)
        true = power if lowered <= 1 else ONE - e_to_minus(step * lowered) / (ONE + a)
        assert true.holds(reaching, slack=past + CLOSE)
        assert math.exp(grow._log_probability(lowered, True)) == pytest.approx(
            float(true.low), rel=1e-9
        )
        probabilities[depth, count] = reaching
    assert past < Fraction(1, 2**52)

    def mass(tree, rows):
        """The product of the code's probabilities, for rows that all lie in the first child."""
        product_of = Fraction(1)
        for depth, flags in enumerate(tree.flags):
            for i, flag in enumerate(flags):
                p = probabilities[depth, rows if i == 0 and _first_path(tree, depth) else 0]
                product_of *= p if flag else 1 - p
        return product_of

    trees = [Splits(2)]
    for _ in range(3):
        trees = [
            tree.grown(np.array(flags, dtype=bool))
            for tree in trees
            for flags in product([False, True], repeat=tree.width)
        ]
    for rows in range(3):
        assert sum(mass(tree, rows) for tree in trees) == 1


def _first_path(tree, depth):
    """Whether the first node of a depth is the first child of first children."""
    return all(bool(flags[0]) for flags in tree.flags[:depth])


class Outcomes2:
    """Stands for a law of noise with one value."""

    def __init__(self, noise):
        self.noise = noise

    def two_sided(self, n, rng):
        return np.full(n, self.noise)


# The instrument itself.


@pytest.mark.heavy
def test_a_threshold_that_is_off_by_two_to_the_minus_ninety_is_caught():
    a = e_to_minus(Fraction(1))
    nudged = Coin(Fraction(1), lambda E: E / (E + 1) + Decimal(2) ** -90)
    masses, _ = leaf_masses(nudged)
    assert not (ONE / (ONE + a)).holds(masses[0])


@pytest.mark.heavy
def test_a_guide_entry_that_is_wrong_is_caught():
    table = geometric_law.__wrapped__(Fraction(2))._two_sided_top
    table._guide[12] += 1
    masses, _ = leaf_masses(table)
    a = e_to_minus(Fraction(2))
    assert not ((ONE - a) / (ONE + a)).holds(masses[0])
