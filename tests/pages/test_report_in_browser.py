"""Every kind of page in a real browser, at a desk and on two phones, light and dark.

One run of the browser opens all pages in frames of their width; each measures itself and tells the
frames' holder. With ``AXE_CORE`` set to a copy of ``axe.min.js``, axe-core looks at them too.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.cluster import LocalClusterer, PrivateKMeans, PrivateKPrototypes, WaveCluster
from shoal.domain import Box, Schema
from shoal.figures import class_sizes, detail_bars
from shoal.mechanisms import LocalGrid
from shoal.pages import Detail, Verdicts, render, verdict_page
from shoal.pages._write_page import build_page, page_findings
from shoal.pages.page import Table
from shoal.privacy import KAnonymity, Public, Released, Result
from shoal.randomness import Randomness
from shoal.synopsis import UniformGrid

AXE = os.environ.get("AXE_CORE")
SCREENS = {1280: 900, 390: 844, 320: 700}  # heights of the first screen
GROUPED = ("k-means", "prototypes", "waves", "reports")
BOX = Box.of(["sessions_per_week", "minutes_per_session"], [0, 0], [30, 120])
SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "sessions_per_week": {"low": 0, "high": 30, "label": "Sessions a week"},
            "stage": {"values": ["primary", "secondary", "vocational"]},
            "device": {"values": ["phone", "school computer", "home computer"]},
            "place": {"values": ["capital", "other towns", "villages"]},
            "evening": {"values": ["yes", "no"]},
        },
    }
)
PROBE = Path(__file__).with_name("page_probe.js").read_text(encoding="utf-8")


def rows(n=2_400):
    near = np.array([[4, 30], [18, 10], [12, 70], [25, 100]])[np.arange(n) % 4]
    return BOX.clip(near + np.random.default_rng(0).normal(0, [1, 4], (n, 2)))


def mixed_rows(n=2_400):
    rng, kind = np.random.default_rng(0), np.arange(n) % 6
    often = np.array([3, 6, 10, 14, 20, 26])[kind] + rng.normal(0, 1, n)
    lists = {name: SCHEMA.categories[name].values for name in SCHEMA.columns[1:]}
    drawn = {
        name: np.array(each)[np.where(rng.random(n) < 0.8, (kind + i) % len(each), 0)]
        for i, (name, each) in enumerate(lists.items())
    }
    return {"sessions_per_week": np.clip(often, 0, 30)} | drawn


def reports():
    mechanism = LocalGrid(BOX, epsilon=3, cells=8)
    released = mechanism.release(rows(4_000), Randomness(1).noise)
    model = LocalClusterer(4, mechanism=released.mechanism, random_state=1).fit(released)
    assert model.evidence(released, random_state=1).is_certain
    return model


def table():
    names = ["sex", "marital-status", "maths_sessions_per_week"]
    figures = [
        class_sizes([[1, 900], [4, 70], [12, 30], [98_765, 1]], k=10, title="Sizes"),
        detail_bars(dict.fromkeys(names, 0.5), title="Kept", axis="Detail kept"),
    ]
    released = {"figures": Released(figures), "outsider": Released(["At most 1 in 10."])}
    return Result("k-anonymous table", KAnonymity(10), {"title": Public("A table")}, released)


def verdicts():
    words = {"title": "Audit", "lead": "It holds.", "heading": "Verdicts", "sub": "Two were tried."}
    lists = {"says": ["One thing."], "says_not": ["Another."], "details": [Detail("a", "holds")]}
    claims = Table("Claims", ["Claim", "Bound"], [["ε = 1", "0.7"]])
    return Verdicts(**words, **lists, constructed=True, tables=[claims.to_dict()])


def models():
    private = {"epsilon": 1, "random_state": 1}
    mixed = PrivateKPrototypes(6, domain=SCHEMA, n_init=1, n_synthetic=400, **private)
    return {
        "k-means": PrivateKMeans(4, domain=BOX, **private).fit(rows()),
        "prototypes": mixed.fit(mixed_rows()),
        "waves": WaveCluster(domain=BOX, **private).fit(rows()),
        "reports": reports(),
        "summary": UniformGrid(domain=BOX, cells=12, **private).fit(rows()),
        "table": table(),
    }


def page_of(model):
    """The page as it is with real noise: without the line about a simulation."""
    built = build_page(model)
    return render(
        page_findings(replace(built, guarantee=replace(built.guarantee, simulation=False)))
    )


@pytest.fixture(scope="module")
def pages():
    return {name: page_of(model) for name, model in models().items()} | {
        "verdicts": verdict_page(verdicts())
    }


@pytest.fixture(scope="module", params=["light", "dark"])
def answers(request, tmp_path_factory, pages, open_pages):
    scheme = f"--blink-settings=preferredColorScheme={1 if request.param == 'light' else 0}"
    folder = tmp_path_factory.mktemp(request.param)
    return open_pages(folder, pages, SCREENS, scheme, script=PROBE)


@pytest.mark.heavy
def test_no_page_is_wider_than_its_screen_or_asks_for_anything(answers):
    assert [name for name, each in answers.items() if each["scroll"] > each["inner"]] == []
    assert {each["requests"] for each in answers.values()} == {0}


@pytest.mark.heavy
def test_nothing_is_too_small_or_too_pale_to_read(answers):
    assert {name: each["small"] for name, each in answers.items() if each["small"]} == {}
    assert {name: each["pale"] for name, each in answers.items() if each["pale"]} == {}


@pytest.mark.heavy
def test_screen_readers_find_their_way(answers):
    """Headings without gaps, names of pictures, heads of tables, landmarks, links that lead."""
    assert {name: each["faults"] for name, each in answers.items() if each["faults"]} == {}


@pytest.mark.heavy
@pytest.mark.parametrize("kind", GROUPED)
@pytest.mark.parametrize("width", [1280, 390])
def test_groups_and_promise_are_on_the_first_screen(answers, kind, width):
    page = answers[f"{kind} {width}"]
    assert page["strip"]["bottom"] <= SCREENS[width]
    assert page["index"]["bottom"] <= SCREENS[width]
    assert page["strip"]["text"].count(" in 100") == 2


@pytest.mark.heavy
@pytest.mark.parametrize("kind", GROUPED)
def test_a_desk_shows_two_whole_cards_on_the_first_screen(answers, kind):
    assert sum(bottom <= SCREENS[1280] for bottom in answers[f"{kind} 1280"]["cards"]) >= 2


@pytest.mark.heavy
@pytest.mark.parametrize("width", SCREENS)
def test_words_in_pictures_keep_apart(answers, width):
    clash = {n: e["clash"] for n, e in answers.items() if n.endswith(str(width)) and e["clash"]}
    assert clash == {}


@pytest.mark.heavy
def test_tables_that_go_on_beyond_the_edge_can_be_scrolled(answers):
    assert {name: each["stuck"] for name, each in answers.items() if each["stuck"]} == {}


@pytest.mark.heavy
@pytest.mark.skipif(AXE is None, reason="AXE_CORE names no copy of axe.min.js")
@pytest.mark.parametrize("scheme", [0, 1])
def test_axe_finds_no_serious_issue(tmp_path, pages, open_pages, scheme):
    look = "axe.run().then(r => parent.postMessage({name: PAGE_NAME, found: r.violations.map("
    look += "v => [v.impact, v.id, v.nodes[0].html])}, '*'))"
    script = Path(AXE).read_text(encoding="utf-8").replace("</script>", "<\\/script>") + ";" + look
    flag = f"--blink-settings=preferredColorScheme={scheme}"
    screens = {width: SCREENS[width] for width in (1280, 390)}
    answers = open_pages(tmp_path, pages, screens, flag, script=script)
    serious = {
        name: grave
        for name, each in answers.items()
        if (grave := [v for v in each["found"] if v[0] in ("serious", "critical")])
    }
    assert serious == {}
