"""Whatever noise was drawn, what a page says is plain JSON: no NumPy types, no NaN, no infinity.

A verb prints a page's values after it has paid and written; an internal error there is too late.
So every kind of page is built here, those of noisy results over many seeds and tiny tables.
"""

import inspect
import json
import math
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace

import numpy as np
import pytest

import shoal.pages
from shoal.anonymize import recount, run_policy
from shoal.anonymize._explore import ExploredSetting
from shoal.anonymize.risk._reidentification import Risk
from shoal.anonymize.utility import ClassificationReport, _ModelScore
from shoal.audit import AttributeInference, Linkage, Links, LowerBound, ceiling_of
from shoal.audit.membership._result import Setting, combine_games
from shoal.audit.membership._roc import GameScores
from shoal.audit.twins import twins
from shoal.cli._output import Output
from shoal.cli.inputs import _demo_results as demo_results
from shoal.cluster import (
    LocalClusterer,
    LocalRounds,
    PrivateKMeans,
    PrivateKPrototypes,
    RoundsModel,
    WaveCluster,
)
from shoal.cluster.local.transcript import AllRounds
from shoal.cluster.registry import REGISTRY
from shoal.data.made_up import MADE_UP
from shoal.documents import json_text
from shoal.domain import Box, Schema
from shoal.evaluate import score
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.pages import _synopsis as synopsis
from shoal.pages import (
    attack,
    audit,
    demo,
    evaluation,
    exploration,
    findings,
    groups,
    plan,
    table,
    table_utility,
    verification,
)
from shoal.planning import Band, Curve, Ends, Plan, Range
from shoal.privacy import PureDP
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid
from shoal.verify import verify_folder

BOX = Box(age=(0, 100), visits=(0, 20))
MIXED = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "level": {"values": ["basic", "higher"]},
            "town": {"values": ["harbour", "hills", "plain"]},
        },
    }
)
TREES = {"sex": {"*": ["F", "M"]}, "town": {"*": {"n": ["Ahl", "Boll"], "s": ["Calw"]}}}


def points(seed, n):
    rng = np.random.default_rng(seed)
    centers = np.array([[20, 4], [70, 15]])
    return BOX.clip(centers[rng.integers(2, size=n)] + rng.normal(0, [8, 2], (n, 2)))


def mixed_rows(seed, n):
    rng = np.random.default_rng(seed)
    older = rng.random(n) < 0.4
    return {
        "age": np.clip(np.where(older, 75, 25) + rng.normal(0, 5, n), 0, 100),
        "level": np.where(older, "higher", "basic"),
        "town": rng.choice(["harbour", "hills", "plain"], n),
    }


def kmeans_page(seed):
    n, epsilon = (30, 0.1) if seed % 2 else (400, 2)
    return groups.page(
        PrivateKMeans(2, epsilon=epsilon, domain=BOX, random_state=seed).fit(points(seed, n))
    )


def prototypes_page(seed):
    n, epsilon = (40, 0.2) if seed % 4 == 3 else (600, 2)
    settings = {"n_init": 1, "n_synthetic": 100, "random_state": seed}
    model = PrivateKPrototypes(2, epsilon=epsilon, domain=MIXED, **settings)
    return groups.page(model.fit(mixed_rows(seed, n)))


def wave_page(seed):
    n, epsilon = (30, 0.1) if seed % 2 else (400, 2)
    model = WaveCluster(epsilon=epsilon, domain=BOX, cells=16, random_state=seed)
    return groups.page(model.fit(points(seed, n)))


def local_page(seed):
    mechanism = LocalGrid(BOX, epsilon=3, cells=6) if seed % 2 else NDLaplace(3, domain=BOX)
    reports = mechanism.release(points(seed, 200), Randomness(seed).noise)
    model = LocalClusterer(2, mechanism=reports.mechanism, random_state=seed).fit(reports)
    learnt = groups.LocalGroups(model, model.control(random_state=seed), 200)
    return groups.page(learnt, table="reports.csv", n_clusters=(2,))


def rounds_page(seed):
    first = LocalRounds(BOX, n_clusters=2, epsilon=0.1 if seed % 2 else 4, n_expected=200)
    transcript = AllRounds(first, seed).release(points(seed, 200), Randomness(seed).noise)
    return groups.page(RoundsModel.of(transcript))


def synopsis_page(seed):
    kind = (AdaptiveGrid, PrivTree, UniformGrid)[seed % 3]
    model = kind(epsilon=0.5, domain=BOX, random_state=seed).fit(points(seed, 60))
    return synopsis.page(model)


@cache
def finished(folder):
    rng = np.random.default_rng(1)
    quasi = {name: {"role": "quasi", "hierarchy": {"tree": of}} for name, of in TREES.items()}
    content = {
        "version": 1,
        "attributes": {**quasi, "ill": {"role": "sensitive", "l": {"value": 2}, "t": {"value": 1}}},
        "privacy": {"k": 3, "suppression": 0.3},
        "output": {"path": str(folder / "out.csv")},
    }
    rows = {
        "sex": rng.choice(["F", "M"], 60).tolist(),
        "town": rng.choice(["Ahl", "Boll", "Calw"], 60, p=[0.6, 0.35, 0.05]).tolist(),
        "ill": rng.choice(["flu", "cold"], 60).tolist(),
    }
    return run_policy(content, rows, overwrite=True)


def check_page(folder):
    done = finished(folder)
    achieved = recount(done.paths.table, done.policy)
    return table.check_summary(done.policy, achieved, achieved.broken(done.policy))


def made_plan():
    band = Band(0.1, 0.002, 0.03, {"clear": 0.002}, Ends(0.01, 0.2), Range(1_234.0, None),
                0.002, 0.03, 1.0, None)  # fmt: skip
    curve = Curve("central", (band,), Range(0.1, None), None)
    facts = {"n_clusters": 4, "box": BOX, "n_expected": 10_000, "within": 0.05}
    return Plan(**facts, rows_per_person=1, groups=None, curves={"central": curve})


def audit_page(_):
    settings = {"event": "value 1", "ceiling": 5.1, "counts": (60, 40, 100), "alpha": 0.01}
    bounds = {
        verdict: LowerBound(epsilon=0.5, claim=claim, verdict=verdict, draws=2_000, pair="0, 1",
                            constructed=True, **settings)
        for verdict, claim in (("consistent", 1.0), ("no claim", None), ("broken", 1.0))
    }  # fmt: skip
    measured = {"split": twins["split the wrong way round, d = 10"].run()}
    options = {"epsilon": None, "delta": None, "draws": None, "alpha": 0.01}
    return audit.page(audit.Audit("something", bounds | measured, options, 7))


def membership_page(_):
    rng, promise = np.random.default_rng(0), PureDP(1)
    games = [GameScores(rng.normal(1, 1, 60), rng.normal(0, 1, 60), 0.5) for _ in range(6)]
    settings = Setting("likelihood ratios", "own coin")
    played = combine_games(games, ceiling_of(promise, "own coin"), settings, promise)
    return attack.membership_page(played, "kmeans", 160)


def linkage_page(_):
    links = Linkage(
        Links.of(np.array([0, 1, 5])), Links.of(np.array([1, 1])), Risk.of([(10, 3)], 5), 5
    )
    guessed = AttributeInference(0.7, 0.6, 0.65, 0.1, 0.2, 0.0, 40, 8, "ill", 5)
    return attack.linkage_page(links, guessed, Path("out.csv"))


def evaluation_page(_):
    true = np.repeat([0, 1], 50)
    rows = true[:, None] + np.linspace(0, 0.3, 100)[:, None]
    model = SimpleNamespace(guarantee_=PureDP(1), n_clusters_=2, n_features_in_=1)
    scores = score(np.zeros(100, int), rows, against=true, control=np.arange(100) % 2)
    return evaluation.page(
        evaluation.Evaluation(Path("model"), model, scores, 100, 100, "group", 1)
    )


def exploration_page(_):
    tried = ExploredSetting(5, 0.02, "global", 0.31, 12, 40, 6, 1 / 6, 1 / 20)
    return exploration.page([tried, ExploredSetting(999, 0.0, "global", refusal="too few")])


def demo_page(_):
    rng, example = Randomness(3), MADE_UP["school"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FITS": 1, "ATTACKED": 160, "SHADOWS": 8, "ATTACK_GROUPS": 9}.items():
            patch.setattr(demo_results, name, value)
        students = example.table(1_000, rng.seed())
        return demo.page(demo_results.make_demo(students, example.domain, rng, PureDP(1)))


def verification_page(folder):
    grid = UniformGrid(epsilon=1, domain=Box.unit(1), cells=4, random_state=1)
    grid.fit(np.full((100, 1), 0.5)).save(folder / "cells")
    return verification.page(verify_folder(folder / "cells"))


def classification_page(_):
    scores = _ModelScore(0.8, 0.88, 100), _ModelScore(0.7, 0.9, 90)
    return table_utility.classification_summary(ClassificationReport("income", *scores, 0.75, ()))


NOISY = {
    "kmeans": (kmeans_page, 6),
    "prototypes": (prototypes_page, 24),
    "wave": (wave_page, 24),
    "reports": (local_page, 2),
    "rounds": (rounds_page, 2),
    "synopsis": (synopsis_page, 24),
}
SINGLE = {
    table.page: lambda folder: table.page(finished(folder)),
    table.check_summary: check_page,
    table_utility.classification_summary: classification_page,
    plan.page: lambda _: plan.page(made_plan()),
    plan.by_groups: lambda _: plan.by_groups([made_plan()] * 2),
    audit.page: audit_page,
    audit.case_list: lambda _: audit.case_list({"twins": dict(list(twins.items())[:3])}),
    attack.membership_page: membership_page,
    attack.linkage_page: linkage_page,
    evaluation.page: evaluation_page,
    exploration.page: exploration_page,
    verification.page: verification_page,
    demo.page: demo_page,
}


def impurities(value, where="values"):
    """Places of whatever JSON does not have, or has in another type."""
    if type(value) is dict:
        yield from (f"{where} has the key {key!r}" for key in value if type(key) is not str)
        for key, each in value.items():
            yield from impurities(each, f"{where}.{key}")
    elif type(value) in (list, tuple):
        for i, each in enumerate(value):
            yield from impurities(each, f"{where}[{i}]")
    elif type(value) is float and not math.isfinite(value):
        yield f"{where} is {value}"
    elif type(value) not in (bool, int, float, str, type(None)):
        yield f"{where} is a {type(value).__module__}.{type(value).__name__}"


def check(page):
    assert not list(impurities(dict(page.values)))
    assert json.loads(json_text(page.values))
    if hasattr(page, "to_result"):
        shown = findings(page.to_result())
        assert not list(impurities(shown, "findings"))


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("kind", NOISY)
def test_a_noisy_page_is_plain_json_for_every_seed(kind):
    build, seeds = NOISY[kind]
    for seed in range(seeds):
        check(build(seed))


@pytest.mark.parametrize("kind", SINGLE, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_other_page_is_plain_json(kind, tmp_path):
    check(SINGLE[kind](tmp_path))


def test_no_kind_of_page_is_left_out():
    made = set()
    for module in iter_modules(shoal.pages.__path__):
        own = import_module(f"shoal.pages.{module.name}")
        for name, each in inspect.getmembers(own, inspect.isfunction):
            returned = each.__annotations__.get("return")
            kinds = ("Page", "VerdictPage", "Summary")
            if getattr(returned, "__name__", returned) in kinds and not name.startswith("_"):
                made.add(each)
    assert made == {groups.page, synopsis.page, *SINGLE}
    assert {entry.page for entry in REGISTRY} - {None} == {*NOISY} - {"synopsis"}


def test_a_numpy_value_that_slips_in_is_written_and_not_an_error(capsys):
    values = {"clear": np.bool_(True), "sizes": np.arange(2), "mean": np.float32(0.5), 7: np.nan}
    Output(json=True).result(values)
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert shown == {"clear": True, "sizes": [0, 1], "mean": 0.5, "7": None}
