import errno
import json
import os
import stat
from html.parser import HTMLParser

import numpy as np
import pytest

from shoal.errors import AlreadyExists, CannotWrite
from shoal.figures import cell_map
from shoal.pages import findings, render, write
from shoal.privacy import (
    KAnonymity,
    LocalDP,
    MetricDP,
    Public,
    PureDP,
    Released,
    Result,
    Unprotected,
)

HOSTILE = [
    "</script><script>alert(1)</script>",
    '" onload="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "\u202eevil\u2066",
    "{{ 7 * 7 }}{% raw %}",
    "x" * 10_000,
]
VOID = {"meta", "br", "path", "img"}


class Outline(HTMLParser):
    """Tags, attributes and levels of headings; and that tags close in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.open, self.levels = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]
        if tag in ("h1", "h2", "h3"):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(words="Title", guarantee=None):
    settings = dict.fromkeys(
        (
            "title",
            "publisher",
            "purpose",
            "method",
            "holder",
            "bounds",
            "noise",
            "evidence",
            "code",
            words,
        ),
        Public(words),
    )
    figure = cell_map(
        np.arange(12).reshape(3, 4), names=[words, words], low=[0, 0], high=[1, 1], title=words
    )
    table = {
        "title": words,
        "columns": [words, words],
        "rows": [[words, words]],
        "note": words,
        "marked": True,
    }
    released = {
        "summary": words,
        "figures": [figure],
        "tables": [table],
        "facts": [{"name": words, "value": words, "detail": words}],
        "errors": [words],
    }
    marked = {name: Released(value) for name, value in released.items()}
    made = Result("test", guarantee or PureDP(1), settings, marked)
    return findings(made, files=[{"name": words, "sha256": "0" * 64}])


@pytest.mark.parametrize(
    "words", HOSTILE, ids=["script", "onload", "onerror", "bidi", "jinja", "long"]
)
def test_hostile_words_come_out_as_words(words):
    page = render(page_of(words))
    plain, outline = Outline(render(page_of())), Outline(page)
    assert sorted(outline.tags) == sorted(plain.tags)
    assert not outline.open
    assert {a[1] for a in outline.attributes} == {a[1] for a in plain.attributes}
    assert not set("\u202e\u2066") & set(page)
    assert ("<h1>{{ 7 * 7 }}{% raw %}</h1>" in page) == words.startswith("{{")


def test_a_page_has_no_script_no_request_and_a_strict_policy():
    page = render(page_of())
    outline = Outline(page)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(outline.tags)
    assert not [a for a in outline.attributes if a[1].startswith("on")]
    assert {a[2] for a in outline.attributes if a[1] in ("href", "src")} == {"#promise"}
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'" in page
    assert "url(" not in page
    assert "@import" not in page
    assert page.count("http") - page.count("http-equiv") == page.count("http://www.w3.org/2000/svg")


def test_a_page_can_be_walked_by_ear():
    page = render(page_of())
    outline = Outline(page)
    assert outline.levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(outline.levels, outline.levels[1:], strict=False))
    assert ("html", "lang", "en") in outline.attributes
    assert {"header", "main", "footer"} <= set(outline.tags)
    svgs = [a for a in outline.attributes if a[0] == "svg"]
    named = sum(a[1:] in (("role", "img"), ("aria-hidden", "true")) for a in svgs)
    assert named == outline.tags.count("svg")
    heads = [a for a in outline.attributes if a[0] == "th" and a[1] == "scope"]
    assert len(heads) == outline.tags.count("th")
    assert outline.tags.count("table") == outline.tags.count("tbody")


def test_ids_on_a_page_are_unique():
    ids = [a[2] for a in Outline(render(page_of())).attributes if a[1] == "id"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "guarantee",
    [
        PureDP(1),
        PureDP(2, neighbours="replace-one"),
        LocalDP(1),
        MetricDP(4, unit="km"),
        KAnonymity(10),
    ],
    ids=str,
)
def test_every_kind_of_promise_has_a_page(guarantee):
    found = page_of(guarantee=guarantee)
    page = render(found)
    assert found["sentences"]["exact"].split("·")[0].strip() in page
    assert "<h2>Does not hold</h2>" in page


def test_a_page_that_promises_nothing_speaks_of_no_promise_and_no_noise():
    settings = {"source": Public("synthetic")}
    page = render(findings(Result("test", Unprotected("The scores are plain ones."), settings)))
    assert "Nothing is promised" in page
    assert "Nothing here was changed to protect anyone." in page
    assert "The promise to you" not in page
    assert "carries noise" not in page.lower()
    assert "carry noise" not in page.lower()


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (PureDP(1), "What you see carries noise"),
        (LocalDP(1), "changed at random one by one"),
        (MetricDP(4, unit="km"), "changed at random one by one"),
        (KAnonymity(10), "grouped, not noisy"),
    ],
    ids=str,
)
def test_what_was_found_is_introduced_by_its_kind_of_promise(guarantee, words):
    page = render(page_of(guarantee=guarantee))
    assert words in page
    assert "The promise to you" in page


def test_a_page_of_a_large_map_stays_under_400_kilobytes():
    counts = np.random.default_rng(0).integers(-3, 300, (100, 100))
    figure = cell_map(counts, names=["a", "b"], low=[0, 0], high=[1, 1], title="t")
    found = findings(Result("test", PureDP(1), {}, {"figures": Released([figure])}))
    assert len(render(found).encode()) < 400_000


def test_a_bare_result_still_makes_a_page():
    assert "What was released" in render(findings(Result("test", PureDP(1))))


def test_a_real_page_says_nothing_of_simulation():
    assert "imulat" not in render(page_of())


def test_a_simulation_is_marked_in_title_banner_and_file_names(tmp_path):
    found = page_of(guarantee=PureDP(1, simulation=True))
    page = render(found)
    assert "<title>SIMULATION ·" in page
    assert "nothing here is protected" in page
    assert "The promise to you<" not in page
    names = [path.name for path in write(found, tmp_path)]
    assert names == ["report-simulation.html", "report-simulation.json"]


def test_the_json_beside_a_page_is_the_findings(tmp_path):
    found = page_of()
    html, data = write(found, tmp_path)
    assert json.loads(data.read_text(encoding="utf-8")) == found
    assert html.read_text(encoding="utf-8") == render(json.loads(data.read_text(encoding="utf-8")))
    assert sorted(os.listdir(tmp_path)) == ["report.html", "report.json"]


def test_an_older_report_is_kept_unless_overwritten(tmp_path):
    write(page_of("one"), tmp_path)
    with pytest.raises(AlreadyExists):
        write(page_of("two"), tmp_path)
    assert "one" in (tmp_path / "report.html").read_text(encoding="utf-8")
    write(page_of("two"), tmp_path, overwrite=True)
    assert "two" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_who_may_read_a_page_is_for_the_umask_to_say(tmp_path, mask):
    before = os.umask(mask)
    try:
        written = write(page_of(), tmp_path)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(os.stat(file).st_mode) for file in written} == {0o666 & ~mask}


def test_a_page_is_on_the_disk_before_it_takes_its_name(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite, match="No space left"):
        write(page_of(), tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_a_named_error(tmp_path):
    with pytest.raises(CannotWrite):
        write(page_of(), tmp_path / "nowhere")
