"""What the pages on local mechanisms say is so: sentences are the reports' own."""

import importlib.util
import math
import re
from pathlib import Path

import pytest
import yaml

import shoal
from shoal import mechanisms
from shoal.mechanisms.registry import REGISTRY
from shoal.privacy.wording import promise

DOCS = Path(__file__).parents[2] / "docs"
METHODS = sorted((DOCS / "methods").glob("*.md"))
GUIDE = DOCS / "guides" / "which-mechanism.md"
SNIPPETS = sorted((DOCS / "snippets").glob("*.md"))
TOOL = DOCS.parent / "tools" / "navigation.py"
_spec = importlib.util.spec_from_file_location("navigation", TOOL)
navigation = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(navigation)
LOCAL = [DOCS / page for page in (*navigation.PAGES["local mechanisms"], "methods/remaps.md")]
NEVER = (
    *("anonymous", "anonymised", "cannot be identified", "safe", "safely", "secure", "verified"),
    *(
        "certified",
        "compliant",
        "guarantees your privacy",
        "no risk",
        "strong",
        "noise was removed",
    ),
)


def page_name(page: Path) -> str:
    return page.stem


def words_of(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", LOCAL, ids=page_name)
def test_a_page_has_picture_promise_use_error_example_and_proof(page):
    text = page.read_text()
    for part in ("**In plain words.**", "docs/snippets/noise-", "## When to use", ".proof.md",
                 "## Error to expect", "```python", "# -> "):  # fmt: skip
        assert part in text, part
    assert "-promise.md" in text or "## What is promised, and to whom" in text


def test_every_mechanism_has_a_page():
    for entry in REGISTRY:
        assert f"`{entry.name}" in (DOCS / entry.page).read_text(), entry.name
    titles = " ".join(page.read_text() for page in METHODS)
    for name in {*mechanisms.__all__} - {"Prior", "Reports"}:
        assert f"`{name}" in titles, name


@pytest.mark.parametrize("page", [*LOCAL, GUIDE, *SNIPPETS], ids=page_name)
def test_nothing_on_the_never_list_is_said(page):
    text = words_of(page.read_text().lower())
    assert not [words for words in NEVER if re.search(rf"\b{words}\b", text)]


def test_the_local_promise_is_in_the_words_of_the_reports():
    said = words_of((DOCS / "snippets" / "local-promise.md").read_text())
    words = promise(shoal.LocalDP(1))
    for sentence in (words.lead, *words.more, words.fails[0], words.fails[2]):
        assert sentence in said
    assert words.fails[1].rstrip(".") in said


def test_the_metric_promise_is_in_the_words_of_the_reports():
    said = words_of((DOCS / "snippets" / "metric-promise.md").read_text())
    words = promise(shoal.MetricDP(4, unit="km"), diameter=8, dimensions=2)
    for sentence in (words.lead, words.more[0], words.fails[0], words.fails[1], words.fails[3]):
        assert sentence in said


def test_numbers_in_running_text_are_right():
    E = math.e
    assert round(100 * E / (E + 4)) == 40  # randomised response, five answers, epsilon 1
    assert f"{E + 1:.2f}" == "3.72"  # Duchi's published form
    assert round(math.sqrt(17.5 / 10_000 / 2), 2) == 0.03  # mean of two columns by Piecewise


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.stem.startswith("noise-")],
                         ids=page_name)  # fmt: skip
def test_a_picture_is_there_described_and_small(snippet):
    words, path = re.fullmatch(r"!\[(.*)\]\(\.\./(.*)\)\n", snippet.read_text()).groups()
    picture = (DOCS / path).read_text()
    assert len(words) > 80
    assert words.split(". ")[0].replace("'", "&#x27;") in picture
    assert len(picture) < 120_000


def test_the_navigation_names_every_page_once_and_folds_by_task():
    nav = navigation.filled_in(yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text())["nav"])
    named = [*pages_of(nav)]
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(named) == sorted(page for page in there if not page.startswith("snippets/"))
    assert [*dict.fromkeys(name for part in nav for name in part)] == [
        "Start", "Find groups", "Hand over a table", "Check a claim", "Reference", "How it works"
    ]  # fmt: skip


def pages_of(nav):
    if isinstance(nav, str):
        yield nav
        return
    for part in nav.values() if isinstance(nav, dict) else nav:
        yield from pages_of(part)
