"""Do numbers hold on tables that no rule was tuned on? Intervals, titles and plans.

    SHOAL_DATA=folder python bench/fresh_tables.py intervals|titles|plan [seconds]

The tables were named in ``docs/decisions/intervals.md`` and committed before any was run; each
part is run once, with the final rules, and goes on where it stopped, in
``results/fresh-tables.json``.
Columns of real tables have their least and greatest values as bounds, a stand-in for public ones.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
import pyarrow as pa
from pyarrow import csv
from sklearn.cluster import KMeans

import shoal
from shoal.cluster.intervals._half_widths import match_centers
from shoal.cluster.prototypes._profiles import named_differences
from shoal.domain import Schema

RESULTS = Path(__file__).parent / "results" / "fresh-tables.json"
FITS, STARTS, SEED = 8, 20, 71_000
MOST_PLAIN = 60_000  # rows that plain k-means is run on with all its starts


class Setting(NamedTuple):
    """A table, how many groups, which budget; whether its groups are clear."""

    rows: Callable[[np.random.Generator], np.ndarray]
    k: int
    epsilon: float
    whole: bool = False
    clear: bool = False


def real(name: str, *columns: str) -> Callable[[np.random.Generator], np.ndarray]:
    """Columns of a public table."""

    def rows(rng: np.random.Generator) -> np.ndarray:
        table = read(name).select(columns)
        made = np.column_stack([column.to_numpy() for column in table.columns]).astype(float)
        return np.asarray(made[np.isfinite(made).all(axis=1)])

    return rows


def read(name: str) -> pa.Table:
    """A table of the data folder."""
    folder = Path(os.environ["SHOAL_DATA"])
    path = folder / (name if name.endswith(".gz") else f"{name}.csv")
    return csv.read_csv(path)


def sklearn_table(name: str, columns: list[int]) -> Callable[[np.random.Generator], np.ndarray]:
    """Columns of a table that scikit-learn brings."""

    def rows(rng: np.random.Generator) -> np.ndarray:
        from sklearn import datasets

        settings = {"scaled": False} if name == "diabetes" else {}
        return np.asarray(getattr(datasets, f"load_{name}")(**settings).data[:, columns])

    return rows


def groups(
    n: int, d: int, shares: Any, apart: float
) -> Callable[[np.random.Generator], np.ndarray]:
    """Round groups, so many deviations apart at least in the unit box's middle."""

    def rows(rng: np.random.Generator) -> np.ndarray:
        k, spread = len(shares), 0.03
        centers = [rng.uniform(0.1, 0.9, d)]
        while len(centers) < k:
            place = rng.uniform(0.1, 0.9, d)
            if min(np.linalg.norm(place - other) for other in centers) > apart * spread:
                centers.append(place)
        group = rng.choice(k, n, p=np.array(shares) / np.sum(shares))
        return np.clip(np.array(centers)[group] + spread * rng.normal(size=(n, d)), 0, 1)

    return rows


def counts(rng: np.random.Generator) -> np.ndarray:
    """Visits, children, cars of three kinds of households: small whole numbers."""
    kind = rng.choice(3, 6_000, p=[0.5, 0.3, 0.2])
    means = np.array([[2, 0.2, 0.8], [6, 2.2, 1.6], [14, 0.5, 0.2]])[kind]
    return np.minimum(rng.poisson(means), [30, 8, 5]).astype(float)


def codes(rng: np.random.Generator) -> np.ndarray:
    """Codes that have no order, read as numbers: two kinds that prefer other codes."""
    kind = rng.random(5_000) < 0.4
    liked = np.where(kind[:, None], [2, 5, 7, 1], [6, 1, 3, 4])
    return np.where(rng.random((5_000, 4)) < 0.5, liked, rng.integers(1, 8, (5_000, 4))) * 1.0


def pareto_tails(rng: np.random.Generator) -> np.ndarray:
    """Amounts and minutes with Pareto tails, of two kinds."""
    kind = rng.random(10_000) < 0.3
    scale = np.where(kind[:, None], [300, 20], [60, 90])
    return np.minimum(scale * (1 + rng.pareto(2.2, (10_000, 2))), [5_000, 1_500])


def two_factors(rng: np.random.Generator) -> np.ndarray:
    """Twelve columns that two hidden ones make, in four groups."""
    kind = rng.choice(4, 6_000)
    hidden = np.array([[-1, -1], [1, -0.5], [0, 1.2], [1.5, 1.5]])[kind]
    hidden = hidden + 0.5 * rng.normal(size=(6_000, 2))
    loads = np.random.default_rng(5).normal(size=(2, 12))
    return np.clip(hidden @ loads + 0.3 * rng.normal(size=(6_000, 12)), -6, 6)


def agreement(rng: np.random.Generator) -> np.ndarray:
    """Ten questions on five levels, answered in three styles."""
    style = rng.choice(3, 4_000, p=[0.4, 0.4, 0.2])
    shift = np.random.default_rng(6).normal(size=(3, 10))
    return np.clip(np.rint(3 + shift[style] + 0.9 * rng.normal(size=(4_000, 10))), 1, 5)


def tied_values(rng: np.random.Generator) -> np.ndarray:
    """Half of the rows at three points exactly, the others about them."""
    place = np.array([[0.2, 0.3], [0.7, 0.25], [0.5, 0.8]])[rng.choice(3, 5_000)]
    near = rng.random(5_000) < 0.5
    return np.clip(place + near[:, None] * 0.07 * rng.normal(size=(5_000, 2)), 0, 1)


def far_group(rng: np.random.Generator) -> np.ndarray:
    """Four groups in a corner, and one in 100 rows far away."""
    rows = groups(9_900, 2, [1, 1, 1, 1], 6)(rng) * 0.3
    far = 0.95 + 0.01 * rng.normal(size=(100, 2))
    return np.clip(np.vstack([rows, far]), 0, 1)


def ring(rng: np.random.Generator) -> np.ndarray:
    """A ring about a core, without gaps along it."""
    angle = rng.uniform(0, 2 * np.pi, 6_000)
    core = rng.random(6_000) < 0.25
    far = np.where(core, 0.03, 0.3) + 0.03 * rng.normal(size=6_000)
    return 0.5 + far[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def square(rng: np.random.Generator) -> np.ndarray:
    """An even spread: four groups can be cut in many ways that are equally good."""
    return rng.random((5_000, 2))


LIKERT = ("famrel", "freetime", "goout", "Dalc", "Walc", "health")
TABLES = {
    "r15": Setting(real("shapes/r15", "x", "y"), 15, 4.0, clear=True),
    "lsun": Setting(real("shapes/lsun", "x", "y"), 3, 2.0),
    "flame": Setting(real("shapes/flame", "x", "y"), 2, 2.0),
    "jain": Setting(real("shapes/jain", "x", "y"), 2, 2.0),
    "pathbased": Setting(real("shapes/pathbased", "x", "y"), 3, 4.0),
    "gowalla, 6 groups": Setting(real("geo/gowalla_nyc.csv.gz", "latitude", "longitude"), 6, 1.0),
    "road3d, 4 groups": Setting(
        real("geo/road3d_excerpt", "longitude", "latitude", "altitude"), 4, 1.0
    ),
    "seeds, 7 columns": Setting(
        real("uci/seeds", "area", "perimeter", "compactness", "kernel_length", "kernel_width",
             "asymmetry", "groove_length"), 3, 4.0),
    "heart rates": Setting(real("uci/cardiotocography", "LB", "ASTV", "Mean"), 3, 1.0, whole=True),
    "heart rates, 8 columns": Setting(
        real("uci/cardiotocography", "LB", "ASTV", "ALTV", "Width", "Min", "Max", "Mode", "Median"),
        3, 4.0, whole=True),
    "grades": Setting(real("education/student_por", "G1", "G2", "G3"), 3, 2.0, whole=True),
    "absences": Setting(real("education/student_mat", "absences", "G3"), 3, 4.0, whole=True),
    "free time, 6 questions": Setting(
        real("education/student_por", *LIKERT), 3, 4.0, whole=True),
    "admission": Setting(
        real("education/student_dropout", "Previous qualification (grade)", "Admission grade"),
        4, 1.0),
    "age and schooling": Setting(real("adult/adult", "age", "education-num"), 4, 0.5, whole=True),
    "diabetes, 3 columns": Setting(sklearn_table("diabetes", [2, 3, 8]), 3, 4.0),
    "digits, 8 pixels": Setting(
        sklearn_table("digits", [10, 13, 20, 27, 36, 43, 50, 53]), 4, 4.0, whole=True),
    "clear, 2 columns": Setting(groups(5_000, 2, [1] * 6, 8), 6, 1.0, clear=True),
    "clear, 4 columns": Setting(groups(10_000, 4, [3, 2, 2, 1, 1], 10), 5, 1.0, clear=True),
    "clear, 8 columns": Setting(groups(10_000, 8, [1] * 5, 14), 5, 1.0, clear=True),
    "unequal, 3 columns": Setting(groups(10_000, 3, [50, 20, 5, 1], 10), 4, 1.0, clear=True),
    "touching, 3 columns": Setting(groups(8_000, 3, [1] * 5, 3), 5, 1.0),
    "household counts": Setting(counts, 3, 1.0, whole=True),
    "codes, 4 columns": Setting(codes, 2, 1.0, whole=True),
    "Pareto tails": Setting(pareto_tails, 3, 1.0),
    "two factors, 12 columns": Setting(two_factors, 4, 2.0),
    "agreement, 10 questions": Setting(agreement, 3, 2.0, whole=True),
    "tied values": Setting(tied_values, 3, 1.0, clear=True),
    "far group": Setting(far_group, 5, 1.0, clear=True),
    "ring and core": Setting(ring, 4, 1.0),
    "even square": Setting(square, 4, 1.0),
}  # fmt: skip


def rows_of(name: str) -> tuple[np.ndarray, Schema]:
    """The rows of a setting, and what is public of them."""
    setting = TABLES[name]
    rows = setting.rows(np.random.default_rng(SEED + list(TABLES).index(name)))
    low, high = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
    whole = {"whole": True} if setting.whole else {}
    columns = {
        f"x{i}": {"low": a, "high": b} | whole
        for i, (a, b) in enumerate(zip(low, high, strict=True))
    }
    return rows, Schema.of({"version": 1, "columns": columns})


def plain(rows: np.ndarray, k: int) -> KMeans:
    """Plain k-means of the rows in the box scaled to [0, 1]."""
    starts = STARTS if len(rows) <= MOST_PLAIN else 6
    return KMeans(k, n_init=starts, random_state=0).fit(rows)


def intervals(name: str) -> dict[str, Any]:
    """How many intervals of a table hold, and how many fits are warned."""
    setting = TABLES[name]
    rows, schema = rows_of(name)
    target = plain(schema.box.scale(rows), setting.k)
    centers = schema.box.unscale(target.cluster_centers_)
    lines = []
    for i in range(FITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = shoal.PrivateKMeans(
                setting.k, epsilon=setting.epsilon, domain=schema, random_state=SEED + i
            ).fit(rows)
        start = time.process_time()
        found = model.intervals_
        cpu = time.process_time() - start
        match = match_centers(schema.box.scale(model.cluster_centers_), target.cluster_centers_)
        true, sizes = centers[match], np.bincount(target.labels_, minlength=setting.k)[match]
        held = (found.centers_low <= true) & (true <= found.centers_high)
        size_held = (found.sizes_low <= sizes) & (sizes <= found.sizes_high)
        stable = ~found.unstable
        lines.append({
            "held": int(held[stable].sum()), "given": int(held[stable].size),
            "sizes held": int(size_held[stable].sum()), "sizes given": int(stable.sum()),
            "unstable": float(found.unstable.mean()), "warned": bool(found.has_rivals),
            "cpu": cpu,
        })  # fmt: skip
    total = {key: sum(line[key] for line in lines) for key in lines[0]}
    return {
        "rows": len(rows), "columns": rows.shape[1], "k": setting.k, "epsilon": setting.epsilon,
        "clear": setting.clear, "given": total["given"],
        "centers": _rate(total["held"], total["given"]),
        "sizes": _rate(total["sizes held"], total["sizes given"]),
        "unstable": round(total["unstable"] / FITS, 2), "warned": total["warned"] / FITS,
        "cpu": round(float(np.median([line["cpu"] for line in lines])), 3),
    }  # fmt: skip


def _rate(held: int, given: int) -> float | None:
    return round(held / given, 3) if given else None


# Mixed tables.


def mixed_file(name: str, numbers: str, left_out: str = "") -> Callable[[int, int], pa.Table]:
    """A public table, its numbers named; all other columns are categories."""

    def table(n: int, seed: int) -> pa.Table:
        whole = read(name)
        drop = left_out.split()
        named = [column for column in whole.column_names if column not in drop]
        whole = whole.select(named)
        for i, column in enumerate(named):
            if column not in numbers.split():
                whole = whole.set_column(i, column, whole[column].cast(pa.string()))
        return whole

    return table


def made_up_mixed(kind: str) -> Callable[[int, int], pa.Table]:
    """Made-up records: clinic, survey, skewed, wide, or columns that know nothing of each other."""

    def table(n: int, seed: int) -> pa.Table:
        rng = np.random.default_rng(seed)
        group = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
        strength = {"clinic": 0.75, "survey": 0.3, "skewed": 0.5, "wide": 0.4, "unrelated": 0.0}
        d = {"clinic": 10, "survey": 12, "skewed": 10, "wide": 30, "unrelated": 12}[kind]
        columns: dict[str, Any] = {}
        for i in range(d):
            if i % 4 == 0:
                at = np.random.default_rng(100 + i).uniform(20, 80, 4)[group]
                mixed = np.where(rng.random(n) < strength[kind], at, rng.uniform(0, 100, n))
                columns[f"amount {i}"] = np.clip(mixed + 8 * rng.normal(size=n), 0, 100)
                continue
            size = int(np.random.default_rng(200 + i).integers(2, 9))
            weight = 1 / np.arange(1, size + 1) ** (2 if kind == "skewed" else 0.5)
            usual = rng.choice(size, n, p=weight / weight.sum())
            own = np.random.default_rng(300 + i).integers(0, size, 4)[group]
            code = np.where(rng.random(n) < strength[kind], own, usual)
            columns[f"kind {i}"] = np.array([f"value {c}" for c in range(size)])[code]
        return pa.table(columns)

    return table


MIXED: dict[str, Callable[[int, int], pa.Table]] = {
    "pupils, Portuguese": mixed_file("education/student_por", "age absences G1 G2 G3"),
    "pupils, mathematics": mixed_file("education/student_mat", "age absences G1 G2 G3"),
    "credit, corrected": mixed_file("credit/south_german_credit", "duration amount age"),
    **{kind: made_up_mixed(kind) for kind in ("clinic", "survey", "skewed", "wide", "unrelated")},
}
# Rows of made-up tables, groups, epsilon; each with the seeds below: 344 fits.
REAL_CASES = [(0, 3, 2.0), (0, 3, 5.0), (0, 4, 8.0), (0, 2, 3.0)]
MADE_CASES = [(2_000, 3, 1.0), (3_000, 4, 1.0), (6_000, 4, 1.0), (6_000, 5, 0.5),
              (12_000, 4, 1.0), (12_000, 6, 1.0), (30_000, 4, 1.0)]  # fmt: skip
TITLE_SEEDS = range(SEED + 100, SEED + 108)
LEAST_MOST = 0.45  # a category that so few have is falsely called the group's name


def mixed_schema(table: pa.Table) -> Schema:
    """Bounds and lists as they occur, a stand-in for public ones."""
    columns: dict[str, Any] = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        columns[name] = (
            {"values": sorted(set(values))}
            if isinstance(values[0], str)
            else {"low": float(min(values)), "high": float(max(values))}
        )
    return Schema.of({"version": 1, "columns": columns})


def title_fit(table: pa.Table, schema: Schema, k: int, epsilon: float, seed: int) -> dict[str, Any]:
    """Parts of the titles of a fit, and how many are false of the rows."""
    model = shoal.PrivateKPrototypes(
        k, epsilon=epsilon, domain=schema, n_init=3, n_synthetic=2_000, random_state=seed
    ).fit(table)
    labels, profiles = np.asarray(model.predict(table)), model.profiles_
    parts = false = 0
    for group in range(k):
        own = labels == group
        for each in named_differences(profiles.differences(group)):
            values = table[each.column].to_numpy(zero_copy_only=False)
            if each.value is not None:
                values = values == each.value
            here = float(values[own].mean()) if own.any() else float("nan")
            everyone = float(values.mean())
            right = (here > everyone) == (each.here > each.everyone) and own.any()
            if each.value is not None and each.is_most:
                right = right and here >= LEAST_MOST
            parts, false = parts + 1, false + (not right)
    untitled = sum(title == "Not clear at this budget" for title in profiles.titles)
    return {"level": str(model.level_), "parts": parts, "false": false, "groups": k,
            "untitled": untitled}  # fmt: skip


def titles(name: str) -> list[dict[str, Any]]:
    """Title fits of one table."""
    is_real = name in list(MIXED)[:3]
    lines = []
    for n, k, epsilon in REAL_CASES if is_real else MADE_CASES:
        for seed in TITLE_SEEDS:
            table = MIXED[name](n, seed)
            lines.append(title_fit(table, mixed_schema(table), k, epsilon, seed))
    return lines


def plan_of(name: str) -> dict[str, Any]:
    """What a plan says of a table, and what fits did."""
    from shoal.planning import plan
    from shoal.planning._trial_fits import center_errors

    setting = TABLES[name]
    rows, schema = rows_of(name)
    found = plan(
        setting.k, domain=schema, n_expected=len(rows), epsilons=[setting.epsilon], trust="central"
    )
    band = found.curves["central"].bands[0]
    scaled = schema.box.scale(rows)
    target = plain(scaled, setting.k).cluster_centers_
    errors = []
    for i in range(FITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = shoal.PrivateKMeans(
                setting.k, epsilon=setting.epsilon, domain=schema, random_state=SEED + 50 + i
            ).fit(rows)
        released = schema.box.scale(model.cluster_centers_)
        errors.append(float(np.median(center_errors(released, target))))
    return {"typical": band.typical, "bad case": band.bad,
            "median of fits": float(np.median(errors)),
            "fits above the bad case": float(np.mean(np.array(errors) > band.bad))}  # fmt: skip


PARTS: dict[str, tuple[Any, Callable[[str], Any]]] = {
    "intervals": (TABLES, intervals),
    "titles": (MIXED, titles),
    "plan": (TABLES, plan_of),
}


def run(part: str, seconds: float) -> None:
    """Run what is left of a part, and keep each table as it is done."""
    end = time.monotonic() + seconds
    names, measure = PARTS[part]
    for name in names:
        record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if name in record.get(part, {}):
            continue
        if time.monotonic() > end:
            return
        line = measure(name)
        record.setdefault(part, {})[name] = line
        RESULTS.write_text(json.dumps(record, indent=1) + "\n")
        print(name, json.dumps(line)[:300], flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [part, *rest] if part in PARTS:
            run(part, float(rest[0]) if rest else 1e9)
        case _:
            print(__doc__)
