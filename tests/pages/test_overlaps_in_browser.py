"""Every kind of page with the ugliest content of real tables: no word lies over another.

Long names of columns, 30 columns, 12 groups, levels of 40 letters, negative coordinates, codes
for categories, names that are written from the right or in Chinese, on screens from 320 to 1600 px.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize._explore import ExploredSetting
from shoal.anonymize.risk import Risk
from shoal.audit import AttributeInference, Linkage, Links, LowerBound, ceiling_of
from shoal.audit.membership._result import Setting, combine_games
from shoal.audit.membership._roc import GameScores
from shoal.cluster import (
    LocalClusterer,
    LocalRounds,
    PrivateKMeans,
    PrivateKPrototypes,
    RoundsModel,
    WaveCluster,
)
from shoal.cluster.local.transcript import AllRounds
from shoal.domain import Box, Schema
from shoal.evaluate import score
from shoal.figures import score_curve
from shoal.mechanisms import LocalGrid
from shoal.pages import (
    Claim,
    Exhibit,
    Reproduction,
    evaluation,
    exploration,
    plan,
    render,
    reproduction_page,
    verdict_page,
)
from shoal.pages import attack as attack_pages
from shoal.pages import audit as audit_pages
from shoal.pages import table as table_pages
from shoal.pages._write_page import build_page, page_findings
from shoal.planning import Band, Curve, Ends, Plan, Range
from shoal.privacy import PureDP
from shoal.randomness import Randomness
from shoal.synopsis import UniformGrid

PROBE = Path(__file__).with_name("overlap_probe.js").read_text(encoding="utf-8")
SCREENS = {320: 700, 390: 844, 1280: 900, 1600: 900}
LONG = "Curricular units 2nd semester (without evaluations, credited)"
ARABIC = "معدل القبول في الجامعة"
CHINESE = "学生在本学期每周学习的平均时间（小时）"
WORD = "Lebensversicherungsgesellschaftsangestellter"
NEW_YORK = Box.geo(latitude=(40.5, 41.0), longitude=(-74.3, -73.7))
UGLY = [LONG, ARABIC, CHINESE, WORD, "gdp", "e_mail_contacts_per_week"]
LEVELS = ["No formal qualification of any kind at all", "Lower than A level", "HE", WORD]
DEPRIVATION = [f"{10 * i}-{10 * i + 10}%" for i in range(10)]


def near(places, n, spread, seed=0):
    centers = np.asarray(places)[np.arange(n) % len(places)]
    return centers + np.random.default_rng(seed).normal(0, spread, centers.shape)


def numbers_model(k=12):
    box = Box.of(UGLY, [-250_000, 0, 0, 0, -4.06, 0], [250_000, 1, 168, 20, 3.51, 1e6])
    places = box.low + (box.high - box.low) * np.random.default_rng(1).uniform(0.1, 0.9, (k, 6))
    rows = box.clip(near(places, 6_000, (box.high - box.low) / 60))
    return PrivateKMeans(k, epsilon=1, domain=box, random_state=1).fit(rows)


def streets():
    places = [(40.75, -73.98), (40.65, -73.78), (40.76, -73.87), (40.69, -74.17), (40.74, -74.16)]
    return NEW_YORK.clip(near(places, 4_000, 0.012))


def oulad_model(epsilon=1):
    """Levels in their order, codes, and a column of thirteen regions."""
    rng, n = np.random.default_rng(0), 6_000
    kind = np.arange(n) % 6
    columns = {
        "gender": {"values": ["M", "F"]},
        "region": {"values": [f"North Western and Scottish Region {i}" for i in range(13)]},
        "highest_education": {"levels": LEVELS},
        "imd_band": {"levels": DEPRIVATION},
        "age_band": {"levels": ["0-35", "35-55", "55<="]},
        "studied_credits": {"low": 30, "high": 655},
        "final_result": {"levels": ["Withdrawn", "Fail", "Pass", "Distinction"]},
    }
    schema = Schema.of({"version": 1, "columns": columns})
    table = {
        name: np.array(listed := each.get("values") or each.get("levels"))[
            np.where(rng.random(n) < 0.7, (kind * (i + 1)) % len(listed), 0)
        ]
        for i, (name, each) in enumerate(columns.items())
        if "low" not in each
    }
    table["studied_credits"] = 60.0 + 90 * kind
    private = {"epsilon": epsilon, "random_state": 1, "n_init": 1, "n_synthetic": 400}
    return PrivateKPrototypes(6, domain=schema, **private).fit(table)


def wide_model():
    """Thirty columns with names from real tables, twelve groups."""
    rng, n, k = np.random.default_rng(2), 6_000, 12
    kind = np.arange(n) % k
    columns = {f"{LONG} {i}": {"low": 0, "high": 20, "unit": "European credits"} for i in range(8)}
    columns |= {f"{CHINESE}{i}": {"levels": LEVELS} for i in range(4)}
    columns |= {f"{ARABIC} {i}": {"values": [0, 1]} for i in range(9)}
    columns |= {f"Mother's occupation {i}": {"values": [WORD, "<other>", "x" * 40]}
                for i in range(9)}  # fmt: skip
    schema = Schema.of({"version": 1, "columns": columns})
    table = {}
    for i, (name, each) in enumerate(columns.items()):
        listed = each.get("values") or each.get("levels")
        at = (kind * (i + 3) + i) % (len(listed) if listed else 20)
        noisy = np.where(rng.random(n) < 0.8, at, 0)
        table[name] = noisy.astype(float) if listed is None else np.array(listed)[noisy]
    private = {"epsilon": 4, "random_state": 1, "n_init": 1, "n_synthetic": 400}
    return PrivateKPrototypes(k, domain=schema, **private).fit(table)


def reports_model():
    mechanism = LocalGrid(NEW_YORK, epsilon=4, cells=8)
    released = mechanism.release(streets(), Randomness(1).noise)
    model = LocalClusterer(5, mechanism=released.mechanism, random_state=1).fit(released)
    model.evidence(released, random_state=1)
    return model


def rounds_model():
    first = LocalRounds(Box.of(UGLY[:3], [-1, 0, 0], [1, 1, 1e6]), n_clusters=3, epsilon=4,
                        n_expected=2_000)  # fmt: skip
    rows = np.random.default_rng(0).random((2_000, 3)) * [2, 1, 1e6] - [1, 0, 0]
    return RoundsModel.of(AllRounds(first, 7).release(rows, Randomness(1).noise))


def public_pages():
    """Pages of models, as they are with real noise: without the line about a simulation."""
    models = {
        "k-means": numbers_model(),
        "k-means on a map": PrivateKMeans(8, epsilon=1, domain=NEW_YORK, random_state=1).fit(
            streets()
        ),
        "ordered levels": oulad_model(),
        "modelled": oulad_model(epsilon=0.05),
        "wide": wide_model(),
        "waves": WaveCluster(epsilon=1, domain=NEW_YORK, random_state=1).fit(streets()),
        "reports": reports_model(),
        "rounds": rounds_model(),
        "summary": UniformGrid(domain=NEW_YORK, cells=12, epsilon=1, random_state=1).fit(streets()),
    }
    return {name: public_page(model) for name, model in models.items()}


def public_page(model):
    built = build_page(model, publish_anyway=True)
    real = replace(built, guarantee=replace(built.guarantee, simulation=False))
    return render(page_findings(real))


def table_page(folder):
    n, rng = 600, np.random.default_rng(0)
    apart = {WORD: ["Married-civ-spouse", "Married-AF-spouse"], "x" * 40: ["Single", "Widowed"]}
    tree = {"*": apart}
    attributes = {
        LONG: {"role": "quasi", "hierarchy": {"tree": tree}},
        ARABIC: {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
        "age": {
            "role": "quasi",
            "type": "int",
            "hierarchy": {"kind": "interval", "width": 10},
            "domain": [0, 120],
        },
        CHINESE: {"role": "sensitive", "l": {"kind": "distinct", "value": 2}},
    }
    content = {"version": 1, "attributes": attributes, "privacy": {"k": 5, "suppression": 0.1},
               "output": {"path": str(folder / "out.csv")}}  # fmt: skip
    leaves = [leaf for under in tree["*"].values() for leaf in under]
    rows = {
        LONG: rng.choice(leaves, n).tolist(),
        ARABIC: rng.choice(["F", "M"], n).tolist(),
        "age": rng.integers(0, 120, n).tolist(),
        CHINESE: rng.choice(["yes", "no", "x" * 40], n).tolist(),
    }
    finished = run_policy(content, rows, overwrite=True)
    made = table_pages.page(finished)
    files = table_pages.page_files(finished, made)
    return {f"table, {path.stem}": text for path, text in files.items() if path.suffix == ".html"}


def membership():
    rng = np.random.default_rng(0)
    games = [GameScores(rng.normal(0.1, 1, 60), rng.normal(0, 1, 60), 0.5) for _ in range(6)]
    how = Setting("likelihood ratios", "own coin")
    return combine_games(games, ceiling_of(PureDP(1), "own coin"), how, PureDP(1))


def linkage():
    links = Links.of(np.array([0, 5, 9, 12])), Links.of(np.array([1, 1, 2]))
    guessed = AttributeInference(0.7, 0.6, 0.65, 0.1, 0.2, 0.0, 40, 8, "x" * 40, 5)
    return attack_pages.linkage_page(
        Linkage(*links, Risk.of([(10, 3)], 5), 5), guessed, Path("student_dropout_released.csv")
    )


def bound(name, epsilon, verdict="consistent"):
    return LowerBound(epsilon=epsilon, claim=1.0, verdict=verdict, event=f"value of {name}",
                      ceiling=5.1, counts=(60, 40, 100), alpha=0.01, draws=2_000,
                      pair="0 against 1", constructed=True)  # fmt: skip


def audit():
    names = ("privtree", "split the wrong way round, d = 10", LONG)
    found = {name: bound(name, 0.5 + i / 3) for i, name in enumerate(names)}
    options = {"epsilon": None, "delta": None, "draws": None, "alpha": 0.01}
    return audit_pages.page(audit_pages.Audit("everything", found, options, 7))


def evaluated():
    true, rows = np.repeat([0, 1], 50), np.repeat([0.0, 1.0], 50)[:, None]
    rows += np.linspace(0, 0.3, 100)[:, None]
    table = score(np.arange(100) % 2, rows, against=true, control=true)
    model = SimpleNamespace(guarantee_=PureDP(1), n_clusters_=2, n_features_in_=1)
    return evaluation.page(
        evaluation.Evaluation(Path("groups_of_students"), model, table, 100, 100, LONG, 1)
    )


def planned():
    bands = (
        Band(0.1, 0.002, 0.03, {"clear": 0.002, "no gaps": 0.03}, Ends(0.01, 0.2),
             Range(1_234.0, None), 0.02, 0.3, 0.8, None),
        Band(1.0, 0.0002, 0.003, {"clear": 0.0002, "no gaps": 0.003}, Ends(0.001, 0.02),
             Range(123.4, 1_000.0), 0.002, 0.03, 0.97, 456.7),
    )  # fmt: skip
    facts = {"n_clusters": 4, "box": Box.of(UGLY[:3], [0] * 3, [1e6] * 3), "n_expected": 10_000}
    facts |= {"within": 0.05, "rows_per_person": 1, "groups": None}
    return plan.page(
        Plan(**facts, curves={"central": Curve("central", bands, Range(0.1, 0.33), 0.33)})
    )


def document():
    words = {"title": "AMI", "value": "AMI", "finding": "It rises", "band": "2 standard errors."}
    line = [(e, min(0.1 * e, 1), 0.02) for e in (0.05, 0.1, 0.5, 1, 2, 5, 9)]
    figure = score_curve({"laplace": line, "piecewise on records": line}, control=0.5, **words)
    claim = Claim("Section 6", LONG, "holds", "0.75", "0.74 ± 0.02", "Why.", "Figure 6.1")
    done = {"title": "A thesis, run again", "lead": "One holds.", "claims": [claim] * 3}
    done |= {"exhibits": [Exhibit("Figure 6.1", LONG, [figure])], "setting": ["Ten draws."]}
    return reproduction_page(Reproduction(**done, again="shoal reproduce thesis"))


def verdict_pages():
    trials = [ExploredSetting(5, s, "local", 0.1 + s, 12, 40, 6, 1 / 6, 1 / 20) for s in (0, 0.1)]
    shown = {
        "membership": attack_pages.membership_page(membership(), "private k-means", 160),
        "linkage": linkage(),
        "audit": audit(),
        "evaluation": evaluated(),
        "exploration": exploration.page(trials),
        "plan": planned(),
    }
    return {name: verdict_page(each.verdicts) for name, each in shown.items()}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    table = table_page(tmp_path_factory.mktemp("table"))
    return public_pages() | table | verdict_pages() | {"document": document()}


@pytest.fixture(scope="module", params=SCREENS)
def answers(request, tmp_path_factory, pages, open_pages):
    screen = {request.param: SCREENS[request.param]}
    return open_pages(tmp_path_factory.mktemp("overlaps"), pages, screen, script=PROBE)


@pytest.mark.heavy
def test_no_word_lies_over_another(answers):
    assert {name: each["overlaps"] for name, each in answers.items() if each["overlaps"]} == {}


@pytest.mark.heavy
def test_words_stay_in_their_card_their_cell_and_their_picture(answers):
    assert {name: each["leaves"] for name, each in answers.items() if each["leaves"]} == {}


@pytest.mark.heavy
def test_no_page_is_wider_than_its_screen(answers):
    assert all(each["texts"] > 20 for each in answers.values())
    assert [name for name, each in answers.items() if each["scroll"] > each["inner"]] == []


@pytest.mark.heavy
def test_the_probe_sees_words_over_one_another(tmp_path, open_pages):
    """Cards as they once were, of places and of levels: an overlap, and what leaves its cell."""
    broken = (
        '<!doctype html><html><head></head><body><div class="card" style="width:200px"><table '
        'style="table-layout:fixed;width:200px"><tr><td style="white-space:nowrap">-74.071 to '
        "-73.896 and on</td><td>-73.978</td></tr></table></div></body></html>"
    )
    former = broken.replace("-74.071 to -73.896 and on", "0.00 of 0 (0-35) to 2 (55&lt;=)")
    former = former.replace("-73.978", "0.31")
    found = open_pages(tmp_path, {"waves": broken, "levels": former}, {320: 700}, script=PROBE)
    assert {name: each["overlaps"] for name, each in found.items()} == {
        "waves 320": ["-74.071 to -73.896 and on / -73.978"],
        "levels 320": ["0.00 of 0 (0-35) to 2 (55<=) / 0.31"],
    }
    assert [len(each["leaves"]) for each in found.values()] == [1, 1]
