"""What is released of mixed tables, against the truth: intervals, synthetic rows, a classifier.

Parts of ``bench/mixed.py``. ``coverage``: how often the intervals of profiles hold the exact size,
share or mean of the group that the released prototypes make, over whole fits of which each draws
its own noise. ``synthetic rows``: how far one- and two-way cells of synthetic rows are from those
of the table, in standard deviations of their release. ``classifier``: income over 50K predicted on
the test part of Adult, learnt from the real training rows, from synthetic ones with and without
income as the target of their tables, and from a table released by ``anonymize`` at k = 10. Tables,
numbers of groups, budgets and seeds were named here before anything was run.
"""

import os
from itertools import product
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
from mixed import ADULT, ADULT_CATEGORIES, SETS, described, read

from shoal.cluster import PrivateKPrototypes
from shoal.cluster.prototypes._group_measurements import GroupSums, NoisyMeasurements
from shoal.engine import rows_of
from shoal.synopsis import MixedSynopsis
from shoal.synopsis.mixed._block_release import Blocks
from shoal.synopsis.mixed._pair_counts import PairCounts

COVERED = (
    ("adult", 4, 1.0), ("adult", 8, 0.1), ("dropout", 4, 1.0), ("oulad", 8, 0.5),
    ("students", 6, 1.0), ("german", 4, 2.0), ("students, 500 rows", 3, 1.0),
)  # fmt: skip
# The seeds from 4001 on, run first, showed that quantiles of 4,000 draws made the intervals of
# sizes too narrow. These were named together with the change to 16,000.
COVERAGE_SEEDS = range(4301, 4331)
SYNTHETIC = (("adult", 1.0), ("adult", 0.1), ("oulad", 1.0), ("students", 1.0), ("dropout", 1.0))
SYNTHETIC_SEEDS = range(4101, 4106)
CLASSIFIER_SEEDS = range(4201, 4204)
TRAIN_ROWS = 32_561


def coverage() -> list[dict[str, Any]]:
    """Rates of intervals that hold the truth, and their mean widths."""
    lines = []
    for name, k, epsilon in COVERED:
        table, schema = SETS[name]()
        held: dict[str, list[Any]] = {}
        for seed in COVERAGE_SEEDS:
            # Few starts: intervals are about the noise, whatever the prototypes are.
            model = PrivateKPrototypes(
                k, epsilon=epsilon, domain=schema, n_init=2, n_synthetic=2000, random_state=seed
            ).fit(table)
            for kind, values in _held(model, table).items():
                held.setdefault(kind, []).extend(values)
        lines.append({"set": "coverage", "table": name, "k": k, "epsilon": epsilon})
        for kind, values in held.items():
            inside, widths = np.array(values).T
            lines[-1][kind] = {
                "intervals": len(values),
                "rate": round(float(inside.mean()), 4),
                "mean width": round(float(widths.mean()), 4),
            }
        print(lines[-1], flush=True)
    return lines


def _held(model: PrivateKPrototypes, table: pa.Table) -> dict[str, list[tuple[bool, float]]]:
    """Whether each interval holds the truth, and how wide it is."""
    (exact,) = rows_of(table, model.domain).sum(GroupSums(model._assignment()))
    columns, profiles = model.columns, model.profiles_
    true = NoisyMeasurements(columns, exact, 1.0, np.ones(len(columns.numbers)))
    n, limits = exact[:, 0], profiles.intervals
    made = {"sizes": _within(n, limits.sizes_low, limits.sizes_high)}
    if not profiles.measured:
        return made
    some = n > 0  # a group without rows has no shares to hold
    for i, number in enumerate(columns.numbers):
        mean = number.unscaled(true.sums()[0][some, i] / n[some])
        ends = limits.centers_low[some, i], limits.centers_high[some, i]
        width = number.unscaled(1) - number.unscaled(-1)
        means = [(inside, wide / width) for inside, wide in _within(mean, *ends)]
        made.setdefault("means", []).extend(means)
    for i, (low, high) in enumerate(zip(profiles.shares_low, profiles.shares_high, strict=True)):
        # The counts as they are: of the count coordinate and the histogram, without noise.
        counts = _exact_histogram(exact, true, i)[some]
        share = counts / n[some, None]
        made.setdefault("shares", []).extend(
            _within(share.ravel(), low[some].ravel(), high[some].ravel())
        )
    return made


def _exact_histogram(exact: Any, true: NoisyMeasurements, i: int) -> Any:
    place, size = true.places[i], true.columns.categories[i].size
    if size > 2:
        return exact[:, place]
    second = (exact[:, [0]] + exact[:, place]) / 2
    return np.hstack([exact[:, [0]] - second, second])


def _within(values: Any, low: Any, high: Any) -> list[tuple[bool, float]]:
    slack = 1e-9  # of rounding
    inside = (low - slack <= values) & (values <= high + slack)
    return list(zip(inside.tolist(), (high - low).tolist(), strict=True))


def synthetic_rows() -> list[dict[str, Any]]:
    """Mean absolute error of cells over the standard deviation of their release."""
    lines = []
    for name, epsilon in SYNTHETIC:
        table, schema = SETS[name]()
        ratios: dict[str, list[float]] = {"one-way": [], "two-way": [], "modelled pairs": []}
        for seed in SYNTHETIC_SEEDS:
            made = MixedSynopsis(epsilon=epsilon, domain=schema, random_state=seed).fit(table)
            rows = made.sample(table.num_rows, seed)
            for kind, value in _cell_errors(made, table, rows, epsilon).items():
                ratios[kind].append(value)
        shown = {kind: round(float(np.mean(v)), 3) for kind, v in ratios.items() if v}
        lines.append({"set": "synthetic rows", "table": name, "epsilon": epsilon} | shown)
        lines[-1] |= {"pairs": len(made.pairs_), "runs": len(SYNTHETIC_SEEDS)}
        print(lines[-1], flush=True)
    return lines


def _cell_errors(made: MixedSynopsis, table: Any, rows: Any, epsilon: float) -> dict[str, float]:
    columns, bins, d = made.columns, made.bins_, made.columns.d
    every = tuple((i, j) for i in range(d) for j in range(i + 1, d))
    kernel = PairCounts(columns, bins, every)
    true, drawn = (
        kernel.unpacked(rows_of(each, made.domain).sum(kernel)[0]) for each in (table, rows)
    )
    whole = d + 3.0 * len(made.pairs_)
    blocks = Blocks(columns.sizes(bins), (1,) * d)
    deviations = blocks.deviations(0.98 * epsilon * d / whole)
    apart = np.abs(np.concatenate(true.one_ways) - np.concatenate(drawn.one_ways))
    errors = {"one-way": float(np.mean(apart / deviations))}
    measured = {tuple(sorted(pair)) for pair in made.pairs_}
    for kind, pairs in (("two-way", measured), ("modelled pairs", {*every} - measured)):
        if pairs and measured:
            cells = [np.abs(true.tables[pair] - drawn.tables[pair]).ravel() for pair in pairs]
            errors[kind] = float(np.concatenate(cells).mean()) / made.table_deviation_
    return errors


def classifier() -> list[dict[str, Any]]:
    """Accuracy and AUC on the test part of Adult, by what a model was trained on."""
    table, schema = described(read("adult/adult.csv"), ADULT, (*ADULT_CATEGORIES, "income"))
    income = [text.strip().rstrip(".") for text in table["income"].to_pylist()]
    place = table.column_names.index("income")
    table = table.set_column(place, "income", pa.array(income))
    columns = schema.to_dict()["columns"] | {"income": {"values": sorted({*income})}}
    schema = type(schema).of({"version": 1, "columns": columns})
    train, test = table.slice(0, TRAIN_ROWS), table.slice(TRAIN_ROWS)
    lines = [_scored("real rows", train, test)]
    for target, epsilon in product((None, "income"), (0.1, 1.0, 3.0)):
        scores = []
        for seed in CLASSIFIER_SEEDS:
            made = MixedSynopsis(epsilon=epsilon, domain=schema, target=target, random_state=seed)
            scores.append(_scored("", made.fit(train).sample(TRAIN_ROWS, seed), test))
        mean = {
            key: round(float(np.mean([s[key] for s in scores])), 4) for key in ("accuracy", "auc")
        }
        name = f"synthetic, epsilon {epsilon:g}" + (f", target {target}" if target else "")
        lines.append({"set": "classifier", "trained on": name} | mean)
        print(lines[-1], flush=True)
    lines += _anonymized(train, test)
    common = max(income[TRAIN_ROWS:].count(value) for value in {*income}) / test.num_rows
    lines.append({"set": "classifier", "trained on": "nothing", "accuracy": round(common, 4)})
    return lines


def _anonymized(train: pa.Table, test: pa.Table) -> list[dict[str, Any]]:
    """The same from a release at k = 10, with new rows under the labels of its groups."""
    from shoal.anonymize import TopDownSpecialization
    from shoal.anonymize._new_row_labels import LabelFinder

    attributes: dict[str, Any] = {
        name: {"role": "quasi", "type": "int", "domain": list(bounds),
               "hierarchy": {"kind": "interval", "width": width}}
        for (name, bounds), width in zip(ADULT.items(), (5, 2, 10), strict=True)
    }  # fmt: skip
    for name in ADULT_CATEGORIES:
        values = sorted({*train[name].to_pylist(), *test[name].to_pylist()})
        attributes[name] = {"role": "quasi", "hierarchy": {"tree": {"*": values}}}
    attributes["income"] = {"role": "sensitive"}
    policy = {"version": 1, "attributes": attributes, "privacy": {"k": 10, "suppression": 0.02}}
    lines = []
    for recoding in ("global", "local"):
        content = policy | {"search": {"recoding": recoding}}
        released = TopDownSpecialization(policy=content).fit_transform(train)
        labelled = LabelFinder(content, released).transform(test)
        if "income" not in labelled.column_names:
            labelled = labelled.append_column("income", test["income"])
        lines.append(_scored(f"anonymize, k = 10, {recoding}", released, labelled))
    return lines


def _scored(name: str, train: pa.Table, test: pa.Table) -> dict[str, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import accuracy_score, roc_auc_score
    from sklearn.preprocessing import OrdinalEncoder

    names = [*ADULT, *ADULT_CATEGORIES]
    known = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    words = [name for name in names if not pa.types.is_floating(_number(train[name]).type)]
    X, Z = ([each[name].to_pylist() for name in words] for each in (train, test))
    codes = known.fit_transform(np.array(X, dtype=str).T)
    new = known.transform(np.array(Z, dtype=str).T)
    plain = [name for name in names if name not in words]
    left, right = (
        np.column_stack([c, *(_number(each[name]).to_numpy() for name in plain)])
        for c, each in ((codes, train), (new, test))
    )
    model = HistGradientBoostingClassifier(random_state=0)
    y = np.array(train["income"].to_pylist()) == ">50K"
    model.fit(left, y)
    truth = np.array(test["income"].to_pylist()) == ">50K"
    chances = model.predict_proba(right)[:, 1]
    line = {"set": "classifier", "trained on": name, "rows": train.num_rows}
    line |= {
        "accuracy": round(float(accuracy_score(truth, chances > 0.5)), 4),
        "auc": round(float(roc_auc_score(truth, chances)), 4),
    }
    if name:
        print(line, flush=True)
    return line


def _number(column: Any) -> Any:
    """A column as floats if it holds numbers, else as it is."""
    whole = column.combine_chunks()
    return whole.cast(pa.float64()) if not pa.types.is_string(whole.type) else whole
