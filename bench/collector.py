"""Accuracy of the collector: four trusts, liars, and up to a billion people.

    python bench/collector.py trusts | liars | rounds | scale | small

Each part writes bench/results/collector-PART.csv and docs/snippets/collector-PART.md; ``trusts``
and ``small`` go on where they were stopped. The tables of people are blobs of made-up towns; their
seeds are below, fixed before anything was run.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.cluster import KMeans

from shoal.cluster import LocalRounds, PrivateKMeans
from shoal.collector import client
from shoal.collector._aggregators import count_deviation
from shoal.collector._amplification import shuffled_epsilon
from shoal.collector._campaign import question_of
from shoal.collector._centers_from_counts import cap_counts, centers_of_counts
from shoal.collector._simulation import simulate_sums
from shoal.domain import Box, Grid
from shoal.evaluate import normalised_inertia
from shoal.mechanisms import Geometric, LocalGrid, Reports
from shoal.privacy import PureDP
from shoal.randomness import Randomness

ROOT = Path(__file__).parents[1]
BOX = Box.unit(2)
K = 5
TRUST_SEEDS = (411, 412, 413, 414)
LIAR_SEEDS = (421, 422, 423, 424)
SCALE_SEEDS = (431, 432, 433)
DELTA = 1e-6


def town(seed, k=K, d=2):
    """Middles and spreads of k groups."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(0.1, 0.9, (k, d))
    return middles, rng.uniform(0.02, 0.05, k), rng.dirichlet(np.full(k, 5.0))


def people_of(seed, n, k=K, shares=None, d=2):
    middles, spreads, drawn = town(seed, k, d)
    shares = drawn if shares is None else shares
    rng = np.random.default_rng(seed + 1_000)
    group = rng.choice(k, n, p=shares)
    people = middles[group] + spreads[group, None] * rng.standard_normal((n, d))
    return Box.unit(d).clip(people)


def plain_of(people, k=K):
    return KMeans(k, n_init=4, random_state=0).fit(people[:20_000]).cluster_centers_


def from_counts(counts, shape, deviation, n, seed, k=K):
    return centers_of_counts(counts, BOX, shape, deviation, n, k, Randomness(seed))


def local_counts(people, grid, seed):
    reports = grid.release(people, Randomness(seed).noise)
    return grid.counts(reports).value


def local(people, epsilon, seed):
    n = len(people)
    grid = LocalGrid(BOX, epsilon=epsilon, n_expected=n, n_clusters=K)
    counts = local_counts(people, grid, seed)
    return from_counts(counts, grid.grid.shape, grid.deviation(n), n, seed)


def largest_local(epsilon, n):
    """The largest local epsilon, up to 4, whose shuffled sums are (epsilon, 1e-6)-DP."""
    low, high = epsilon, 4.0
    if shuffled_epsilon(LocalGrid(BOX, epsilon=4.0, n_expected=n, n_clusters=K), n) <= epsilon:
        return 4.0
    while high - low > 0.02:
        middle = round((low + high) / 2, 3)
        grid = LocalGrid(BOX, epsilon=middle, n_expected=n, n_clusters=K)
        low, high = (middle, high) if shuffled_epsilon(grid, n) <= epsilon else (low, middle)
    return round(low, 2)


def two_aggregators(people, epsilon, seed):
    grid = Grid(BOX, 32)
    counts = np.bincount(grid.keys(people), minlength=grid.size)
    for part in range(2):
        noise = Geometric(PureDP(epsilon / 2))
        counts = noise.release(counts, Randomness(2 * seed + part).noise)
    return from_counts(counts, grid.shape, count_deviation(epsilon), len(people), seed)


def central(people, epsilon, seed):
    promise = PureDP(epsilon, neighbours="replace-one")
    model = PrivateKMeans(K, privacy=promise, domain=BOX, random_state=seed).fit(people)
    return model.cluster_centers_


def nothing(people, epsilon, seed):
    return local(np.full_like(people, 0.5), epsilon, seed)


def trusts():
    lines = known("trusts")
    for n in (2_000, 20_000, 200_000):
        for epsilon in (0.5, 1.0, 2.0):
            if any((line[0], line[1]) == (n, epsilon) for line in lines):
                continue
            strong = largest_local(epsilon, n)
            methods = {
                "local": lambda p, s, e=epsilon: local(p, e, s),
                f"shuffled [{strong:g}]": lambda p, s, e=strong: local(p, e, s),
                "two aggregators": lambda p, s, e=epsilon: two_aggregators(p, e, s),
                "central": lambda p, s, e=epsilon: central(p, e, s),
                "no data": lambda p, s, e=epsilon: nothing(p, e, s),
            }
            ratios = {name: [] for name in methods}
            for seed in TRUST_SEEDS:
                people = people_of(seed, n)
                plain = plain_of(people)
                for name, method in methods.items():
                    ratio = normalised_inertia(people, method(people, seed), plain)
                    ratios[name].append(ratio)
            for name, values in ratios.items():
                lines.append([n, epsilon, name, np.mean(values), max(values)])
                print(lines[-1], flush=True)
            write("trusts", ["people", "epsilon", "trust", "mean ratio", "worst"], lines)
    write_side_by_side(lines)


def write_side_by_side(lines):
    """The trusts as a table for the page: a line for each number of people and epsilon."""
    heads = ["people", "epsilon", "local", "shuffled", "two aggregators", "central", "no data"]
    rows = {}
    for n, epsilon, trust, mean, worst in lines:
        name, _, local_epsilon = trust.partition(" [")
        text = f"{mean:.2f} ({worst:.2f})" + (f" [{local_epsilon}" if local_epsilon else "")
        rows.setdefault((n, epsilon), {})[name] = text
    text = [
        [f"{n:,}", f"{epsilon:g}", *(cells[name] for name in heads[2:])]
        for (n, epsilon), cells in rows.items()
    ]
    write_table("trusts", [heads, ["---"] * len(heads), *text])


def liars():
    n, epsilon, lines = 20_000, 2.0, []
    grid = LocalGrid(BOX, epsilon=epsilon, n_expected=n, n_clusters=K)
    shape, deviation = grid.grid.shape, grid.deviation(n)
    for share in (0.0, 0.01, 0.03, 0.1):
        results = {}
        for seed in LIAR_SEEDS:
            people = people_of(seed, n)
            plain = plain_of(people)
            some = int(share * n)
            corner, blob = people.copy(), people.copy()
            corner[:some] = 0.001
            away = np.random.default_rng(seed + 2_000)
            blob[:some] = BOX.clip(0.5 + 0.04 * away.standard_normal((some, 2)))
            picked = local_counts(people, grid, seed)
            ratio = np.exp(epsilon)
            g = grid.oracle.buckets
            picked[0] += some * (ratio + g - 1) / (ratio - 1)  # every liar picks a code of the cell
            ways = {
                "one cell, honest draw": local_counts(corner, grid, seed),
                "one cell, code picked": picked,
                "one cell, code picked, cap": cap_counts(picked, shape, deviation).counts,
                "a group that is not there": local_counts(blob, grid, seed),
            }
            for name, counts in ways.items():
                centers = from_counts(counts, shape, deviation, n, seed)
                value = normalised_inertia(people, centers, plain)
                results.setdefault(name, []).append(value)
        for name, values in results.items():
            lines.append([name, share, np.median(values), max(values)])
            print(lines[-1], flush=True)
    write("liars", ["attack", "share of liars", "median ratio", "worst"], lines)


def picked_reports(mechanism, n, epsilon, seed):
    """What n liars in one corner send who pick their reports: a question that hides nothing."""
    rng = np.random.default_rng(seed)
    question = question_of(mechanism, str(epsilon)) | {"epsilon": "20"}
    words = client.WordStream(rng.bytes(64 * n + 64))
    corner = [0.001] * len(question["columns"])
    codes = np.array([client.draw(question, corner, words) for _ in range(n)], dtype=np.int64)
    if question["mechanism"] == "residual_sign":
        return np.column_stack(np.divmod(codes, client.codes_of(question)))
    return codes


def capped(counts, shape, deviation):
    return cap_counts(counts, shape, deviation).counts


def in_rounds(people, some, adjust, seed):
    """Centres of people and of so many liars, in three rounds."""
    rng, box = Randomness(seed), Box.unit(people.shape[1])
    state = LocalRounds(box, n_clusters=K, epsilon=2.0, n_expected=len(people))
    groups = state.groups(len(people), rng.noise)
    while (mechanism := state.mechanism) is not None:
        honest = mechanism.release(people[groups == state.round], rng.noise).values
        lies = picked_reports(mechanism, some // (2, 4, 4)[state.round], 2.0, seed + 2_000)
        values = np.concatenate([honest, lies.reshape(-1, *honest.shape[1:])])
        reports = Reports(values.astype(honest.dtype), mechanism)
        state = state.advance(reports, random_state=rng.seed(), adjust=adjust)
    return state.cluster_centers


def rounds():
    n, lines = 100_000, []
    for share in (0.0, 0.01, 0.03, 0.1):
        results = {"code picked": [], "code picked, cap": []}
        for seed in LIAR_SEEDS:
            people = people_of(seed, n, d=4)
            plain = plain_of(people)
            for name, adjust in zip(results, (None, capped), strict=True):
                centers = in_rounds(people, int(share * n), adjust, seed)
                results[name].append(normalised_inertia(people, centers, plain))
        for name, values in results.items():
            lines.append([name, share, np.median(values), max(values)])
            print(lines[-1], flush=True)
    write("rounds", ["attack", "share of liars", "median ratio", "worst"], lines)


def masses_of(town, grid):
    """The chance of every cell under a town's law, people outside moved to the edge."""
    middles, spreads, shares = town
    edges = np.linspace(0, 1, grid.shape[0] + 1)
    total = np.zeros(grid.shape)
    for middle, spread, share in zip(middles, spreads, shares, strict=True):
        cuts = [norm.cdf(np.r_[-np.inf, edges[1:-1], np.inf], m, spread) for m in middle]
        total += share * np.outer(*[np.diff(cut) for cut in cuts])
    return total.ravel() / total.sum()


def simulated_ratio(seed, grid, n, k, is_even=False):
    """How well centres learnt from the sums of n people fit 20,000 people of the same town."""
    rng = np.random.default_rng(seed + 3_000)
    middles, spreads, shares = town(seed, k)
    shares = np.full(k, 1 / k) if is_even else shares
    counts = rng.multinomial(n, masses_of((middles, spreads, shares), grid.grid))
    sums = simulate_sums(grid.oracle, counts, rng)
    cells = grid.counts_from_tally(sums).value
    centers = from_counts(cells, grid.grid.shape, grid.deviation(n), n, seed, k)
    people = people_of(seed, 20_000, k, shares)
    return normalised_inertia(people, centers, plain_of(people, k))


def scale():
    lines = []
    for k in (5, 20):
        for epsilon in (0.1, 0.5, 1.0):
            grid = LocalGrid(BOX, epsilon=epsilon, cells=32)
            for n in (10**6, 10**7, 10**8, 10**9):
                ratios = [simulated_ratio(seed, grid, n, k) for seed in SCALE_SEEDS]
                lines.append([k, epsilon, n, np.mean(ratios), max(ratios)])
                print(lines[-1], flush=True)
    write("scale", ["groups", "epsilon", "people", "mean ratio", "worst"], lines)


def small():
    """What small budgets depend on: how many cells there are, and whether groups are as large."""
    lines, epsilon = known("small"), 0.1
    for sizes in ("unequal", "equal"):
        for cells in (32, "auto"):
            for n in (10**6, 10**7, 10**8, 10**9):
                grid = LocalGrid(BOX, epsilon=epsilon, cells=cells, n_expected=n, n_clusters=K)
                side = grid.grid.shape[0]
                name = f"{side} x {side}" + (" (auto)" if cells == "auto" else "")
                if any(line[:3] == [sizes, name, n] for line in lines):
                    continue
                even = sizes == "equal"
                ratios = [simulated_ratio(seed, grid, n, K, even) for seed in SCALE_SEEDS]
                lines.append([sizes, name, n, np.mean(ratios), max(ratios)])
                print(lines[-1], flush=True)
                write("small", ["sizes", "cells", "people", "mean ratio", "worst"], lines)


def shown(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def known(name):
    """The lines of a part that an earlier run left, to go on from there."""
    path = ROOT / f"bench/results/collector-{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [[number(text) for text in line] for line in list(csv.reader(file))[1:]]


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write(name, heads, lines):
    """The results as CSV, and as a table for the page."""
    with (ROOT / f"bench/results/collector-{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([heads, *lines])
    text = [
        [shown(value) for value in line[:-2]] + [f"{v:.3f}" for v in line[-2:]] for line in lines
    ]
    write_table(name, [heads, ["---"] * len(heads), *text])


def write_table(name, rows):
    table = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
    (ROOT / f"docs/snippets/collector-{name}.md").write_text(table + "\n")


if __name__ == "__main__":
    parts = {"trusts": trusts, "liars": liars, "rounds": rounds, "scale": scale, "small": small}
    parts[sys.argv[1]]()
