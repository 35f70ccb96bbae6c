"""Pictures of true counts say so, come last, and are of rows that were made up."""

import importlib.util
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
TOOLS = ("cluster_pictures", "unseen_pictures")  # those that count rows without noise
TAB = re.compile(r'^=== "(?P<label>[^"]+)"\n(?P<body>(?:\n|    .*\n)*)', re.MULTILINE)


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def true_pictures():
    """What the tools that draw true counts draw now, by file name."""
    return {n: figure for one in TOOLS for n, figure in tool(one).true_pictures().items()}


def words_in(svg):
    """Title, description and every label of a picture."""
    root = ElementTree.fromstring(svg)
    return [e.text for e in root.iter() if e.tag.split("}")[-1] in ("title", "desc", "text")]


def cells_in(svg):
    root = ElementTree.fromstring(svg)
    return [e.attrib["d"] for e in root.iter() if e.get("class", "").startswith("cells")]


@pytest.mark.parametrize("name", ["cluster-true", "cluster-plain", "unseen-true"])
def test_a_picture_of_true_counts_says_so_and_is_as_the_tool_draws_it(name):
    drawn, kept = true_pictures()[name].svg(), (PICTURES / f"{name}.svg").read_text()
    assert words_in(kept) == words_in(drawn)
    assert "people in a cell, true" in words_in(kept)
    assert "noisy" not in " ".join(words_in(kept))
    assert "Counts are true: for the holder of the rows only." in kept


def test_no_picture_that_shows_true_cells_is_labelled_noisy():
    true = [cells_in(figure.svg()) for figure in true_pictures().values()]
    found = [svg for svg in sorted(PICTURES.glob("*.svg")) if cells_in(svg.read_text()) in true]
    assert {svg.stem for svg in found} == {*true_pictures()}
    assert not [svg.stem for svg in found if "noisy" in " ".join(words_in(svg.read_text()))]


def shown_in(text):
    return re.findall(r"!\[([^\]]*)\]\([^)]*pictures/([\w.-]+)\.svg\)", text)


def test_a_true_picture_stands_in_a_tab_for_comparison_of_made_up_rows():
    tabbed = [tab for page in PAGES for tab in TAB.finditer(page.read_text())]
    by_name = {name: (alt, tab) for tab in tabbed for alt, name in shown_in(tab["body"])}
    for name in true_pictures():
        alt, tab = by_name[name]
        assert "for comparison" in tab["label"], name
        assert "true" in alt.lower(), name
        assert "made-up" in tab["body"], name
        assert "noisy" not in tab.group().lower(), name


def tab_sets(text):
    """Tabs that stand next to each other are one set."""
    sets, end = [], -1
    for tab in TAB.finditer(text):
        if tab.start() != end:
            sets.append([])
        sets[-1].append(tab)
        end = tab.end()
    return sets


def test_what_may_be_published_comes_before_the_truth():
    sets = [tabs for page in PAGES for tabs in tab_sets(page.read_text())]
    orders = [[n in true_pictures() for tab in tabs for _, n in shown_in(tab["body"])]
              for tabs in sets]  # fmt: skip
    with_truth = [order for order in orders if any(order)]
    assert len(with_truth) == 2
    for order in with_truth:
        assert not order[0]
        assert order == sorted(order)
