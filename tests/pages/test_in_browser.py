"""The page in a real browser: nothing logged, nothing fetched, nothing wider than the screen."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from shoal.figures import (
    before_after,
    cell_map,
    class_sizes,
    detail_bars,
    grouped_bars,
    icicle,
    roc_panels,
    score_curve,
    stage_map,
)
from shoal.pages import Claim, Exhibit, Reproduction, findings, render, reproduction_page
from shoal.privacy import KAnonymity, Public, PureDP, Released, Result

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None and os.environ.get("CI") == "true":
    raise RuntimeError("CI must open pages in a browser: run tools/browser.sh first.")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium found; tools/browser.sh installs it"
)

# A window is at least 500 wide, so a phone's page sits in a frame of its width. It measures itself
# and tells the frame's holder, which --dump-dom shows. The page's own policy forbids scripts; only
# this copy of it allows one.
FRAME = """<!doctype html>
<iframe src="page.html" style="width:{width}px;height:800px;border:0"></iframe>
<script>onmessage = e => document.documentElement.dataset.probe = e.data</script>"""
PROBE = """<script>
const small = [...document.querySelectorAll("body *")].filter(e =>
  e.getClientRects().length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) &&
  !["SCRIPT", "TITLE", "DESC"].includes(e.tagName.toUpperCase()) && drawn(e) < 11);
function drawn(e) {
  const matrix = e.getScreenCTM ? e.getScreenCTM() : {a: 1, b: 0};
  return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(matrix.a, matrix.b) + 0.01;
}
const words = [...document.querySelectorAll("svg > text")].map(e => inked(e)).filter(e => e.wide);
function inked(e) {  // a line is a fifth higher than its letters, above and below
  const box = e.getBoundingClientRect(), air = Math.min(box.width, box.height) / 5;
  return {of: e.parentNode, text: e.textContent, wide: box.width, left: box.left + air,
          right: box.right - air, top: box.top + air, bottom: box.bottom - air};
}
const clash = (a, b) => a.of === b.of && a.left < b.right && b.left < a.right &&
  a.top < b.bottom && b.top < a.bottom;
const sticksOut = e => e.left < e.of.getBoundingClientRect().left ||
  e.right > e.of.getBoundingClientRect().right;
const badly = words.filter((a, i) => sticksOut(a) || words.slice(0, i).some(b => clash(a, b)));
const cut = [...document.querySelectorAll("#result .scroll")].filter(
  e => e.scrollWidth > e.clientWidth);
parent.postMessage([
  badly.map(e => e.text).join(), cut.length,
  document.documentElement.scrollWidth, innerWidth, small.length,
  performance.getEntriesByType("resource").length,
  getComputedStyle(document.body).backgroundColor].join("|"), "*");
</script></body>"""


def a_page(words="Minutes a session"):
    counts = np.random.default_rng(5).integers(-2, 60, (30, 20))
    figure = cell_map(
        counts, names=[words, words], low=[0, 0], high=[30, 120], title=words, centers=[[3, 90]]
    )
    table = {
        "title": words,
        "columns": [words] * 4,
        "rows": [[words, 1, 2, 3]],
        "note": words,
        "marked": True,
    }
    settings = {"title": Public(words), "holder": Public(words), "code": Public(words)}
    released = {"figures": Released([figure]), "tables": Released([table])}
    files = [{"name": "cells.parquet", "sha256": "a" * 64}]
    return render(findings(Result("test", PureDP(1), settings, released), files=files))


def chromium(tmp_path, page, *flags, name="page.html"):
    file = tmp_path / name
    file.write_text(page, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--hide-scrollbars", "--enable-logging=stderr"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    run = [*command, profile, *flags, "--dump-dom", file.as_uri()]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=True)


def probed(tmp_path, page, *flags, width=1280):
    """Words in pictures that overlap or stick out, tables cut, scroll width, inner width, texts
    under 11 px, requests, background colour."""
    page = page.replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'")
    (tmp_path / "page.html").write_text(page.replace("</body>", PROBE), encoding="utf-8")
    frame = FRAME.replace("{width}", str(width))
    wait = "--virtual-time-budget=3000"
    dom = chromium(tmp_path, frame, wait, *flags, name="frame.html").stdout
    return re.search(r'data-probe="([^"]*)"', dom)[1].split("|")


def a_table_page(words):
    leaves = 40
    labels = ["*", *(f"{words} {i}" for i in range(leaves))]
    spans = [(0, leaves), *((i, i + 1) for i in range(leaves))]
    shares = [0.0, *[1 / leaves] * leaves]
    figures = [
        icicle(labels, [-1, *[0] * leaves], spans, shares, title=words),
        icicle([words] * 3, [-1, 0, 0], [(0, 2), (0, 1), (1, 2)], [0, 0.5, 0.5], title=words),
        before_after([words, "F"], [0.9, 0.1], [0.001, 0.999], title=words),
        class_sizes([[s, 10] for s in (1, 3, 7, 15, 30, 70, 150, 900, 2014)], k=5, title=words),
    ]
    released = {"figures": Released(figures)}
    return render(findings(Result("test", KAnonymity(5), {"title": Public(words)}, released)))


@pytest.mark.heavy
@pytest.mark.parametrize("words", ["Married-civ-spouse", "w" * 200])
@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_the_pictures_of_a_table_do_not_collide(tmp_path, width, words):
    badly, _, scroll, _, small, _, _ = probed(tmp_path, a_table_page(words), width=width)
    assert badly == ""
    assert int(scroll) <= width
    assert small == "0"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("width", "words"),
    [(1280, "Minutes a session"), (390, "Minutes a session"), (320, "w" * 10_000)],
    ids=["desk", "phone", "small phone, hostile words"],
)
def test_nothing_is_wider_than_the_screen_or_too_small_to_read(tmp_path, width, words):
    _, _, scroll, inner, small, requests, _ = probed(tmp_path, a_page(words), width=width)
    assert int(inner) == width
    assert int(scroll) <= int(inner)
    assert small == "0"
    assert requests == "0"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("most", "low", "high"),
    [
        (60, [0, 0], [30, 120]),
        (1_234_567, [0, 0], [30, 120]),
        (9_876_543_210, [-74.01, 40.705], [-73.99, 40.725]),
        (60, [1990, 0], [2030, 250_000]),
    ],
    ids=["few", "six digits", "streets, billions", "years, incomes"],
)
@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_a_map_keep_apart_and_its_table_is_whole(tmp_path, most, low, high, width):
    counts = np.random.default_rng(5).integers(-2, most, (30, 20))
    figure = cell_map(counts, names=["Across", "Upwards"], low=low, high=high, title="Map")
    row = ["Area 1", "15 to 18", "108 to 120", f"{most:,}"]
    columns = ["Area", "Sessions a week", "Minutes a session", "Students, about"]
    table = {"title": "Areas", "columns": columns, "rows": [row], "note": "", "marked": True}
    released = {"figures": Released([figure]), "tables": Released([table])}
    page = render(findings(Result("test", PureDP(1), {}, released)))
    assert probed(tmp_path, page, width=width)[:2] == ["", "0"]


@pytest.mark.heavy
def test_the_page_follows_a_dark_screen(tmp_path):
    dark = probed(tmp_path, a_page(), "--blink-settings=preferredColorScheme=0")[-1]
    light = probed(tmp_path, a_page(), "--blink-settings=preferredColorScheme=1")[-1]
    assert (dark, light) == ("rgb(16, 25, 31)", "rgb(246, 248, 248)")


@pytest.mark.heavy
def test_the_console_stays_silent(tmp_path):
    assert "CONSOLE" not in chromium(tmp_path, a_page()).stderr


@pytest.mark.heavy
def test_a_script_that_slipped_in_would_not_run(tmp_path):
    page = a_page().replace("</body>", "<script>document.title = 'ran'</script></body>")
    run = chromium(tmp_path, page)
    assert "<title>ran" not in run.stdout
    assert "CONSOLE" in run.stderr  # the policy says what it refused


def a_page_of_maps(how_many):
    """As private k-means leaves it: maps of pairs of columns, centres, rings, a wide table."""
    rng = np.random.default_rng(3)
    maps = [
        cell_map(
            rng.integers(-2, 300, (48, 48)),
            names=["sessions_per_week", "minutes_per_session"],
            low=[0, 0],
            high=[30, 120],
            title=f"Groups by columns {i} and {i + 1}",
            centers=rng.uniform(0, 30, (12, 2)),
            reach=rng.uniform(0, 9, (12, 2)),
        )
        for i in range(how_many)
    ]
    columns = ["Group", *(f"column_number_{i}" for i in range(10)), "People, about"]
    lines = [[f"Group {i}", *["12.345 ± 0.012"] * 10, "1,234"] for i in range(1, 13)]
    table = {"title": "Centres", "columns": columns, "rows": lines, "marked": True, "note": "±"}
    released = {"figures": Released(maps), "tables": Released([table])}
    return render(findings(Result("private k-means", PureDP(1), {}, released)))


@pytest.mark.heavy
@pytest.mark.parametrize("width", [1280, 1000, 390, 320])
@pytest.mark.parametrize("how_many", [1, 3])
def test_maps_beside_each_other_can_be_read_and_fit(tmp_path, how_many, width):
    page = a_page_of_maps(how_many)
    badly, _, scroll, inner, small, _, _ = probed(tmp_path, page, width=width)
    assert int(scroll) <= int(inner)
    assert small == "0"
    assert badly == "" or width < 390


@pytest.mark.heavy
@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_the_pictures_of_a_table_keep_apart(tmp_path, width):
    sizes = [[1, 900], [4, 70], [12, 30], [99, 8], [4_321, 2], [98_765, 1]]
    names = ["sex", "marital-status", "maths_sessions_per_week"]
    figures = [
        class_sizes(sizes, k=10, title="Sizes"),
        detail_bars(dict.fromkeys(names, 0.5), title="Kept", axis="Detail kept"),
    ]
    table = Result("test", KAnonymity(10), {}, {"figures": Released(figures)})
    page = render(findings(table, "curator"))
    badly, _, scroll, inner, small, *_ = probed(tmp_path, page, width=width)
    assert (badly, small) == ("", "0")
    assert int(scroll) <= int(inner)


def a_document():
    """A page with each kind of figure that documents have, names and budgets as long as theirs."""
    budgets = (0.05, 0.1, 0.5, 1, 2, 3, 5, 7, 9)
    line = [(e, min(0.1 * e, 1), 0.02) for e in budgets]
    names = (
        "laplace",
        "laplace-optimal-truncated",
        "piecewise on records",
        "clamp",
        "snap",
        "bayes",
    )
    words = {"title": "AMI", "value": "AMI", "finding": "It rises", "band": "2 standard errors."}
    bars = {name: {f"{e:g}": (0.4, 0.02) for e in budgets} for name in names}
    panels = {f"optimal {e}": [(0, 0), (0.4, 0.6), (1, 1)] for e in (0.5, 1.5, 2.5, 3.5)}
    points = np.random.default_rng(1).normal(size=(500, 2))
    stages = dict.fromkeys(("data", "noise", "grid remap", "optimal remap"), points)
    figures = [
        score_curve(dict.fromkeys(names, line), control=0.55, **words),
        grouped_bars(bars, across="Budget in raw units", **words),
        roc_panels(panels, notes=dict.fromkeys(panels, "AUC 0.53"), title="ROC", finding="Flat"),
        stage_map(stages, names=["LB", "Min"], within=[[-1, -1], [1, 1]], title="Four",
                  finding="They move"),
    ]  # fmt: skip
    claim = Claim("Section 6", "It holds.", "holds", "0.75", "0.74 ± 0.02", "Why.", "Figure 6.1")
    exhibits = [Exhibit(f"Figure 6.{i}", "One", [each]) for i, each in enumerate(figures, start=1)]
    done = {"title": "A thesis, run again", "lead": "One holds.", "claims": [claim] * 3}
    done |= {"exhibits": exhibits, "setting": ["Ten draws."], "again": "shoal reproduce thesis"}
    return reproduction_page(Reproduction(**done))


@pytest.mark.heavy
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_document_fits_the_screen_and_can_be_read(tmp_path, width):
    badly, _, scroll, inner, small, requests, _ = probed(tmp_path, a_document(), width=width)
    assert (badly, small, requests) == ("", "0", "0")
    assert int(scroll) <= int(inner) == width
