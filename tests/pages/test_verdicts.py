from html.parser import HTMLParser

import pytest

from shoal.figures import verdict_figure
from shoal.pages import Detail, Verdicts, verdict_page

HOSTILE = [
    "</script><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "\u202eevil\u2066",
    "{{ 7 * 7 }}",
    "x" * 10_000,
]
FIGURE = verdict_figure(verdict="violated", measured=1.31, claim=1.0, ceiling=9.7, title="Audit",
                        unit="epsilon")  # fmt: skip


class Tags(HTMLParser):
    """All tags, and that they close in order."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag


def verdicts(words="words", **more):
    settings = {"title": words, "lead": words, "heading": words, "sub": words, "says": [words],
                "says_not": [words], "constructed": True}  # fmt: skip
    return Verdicts(**settings | more)


def full(words="words", **more):
    table = {"title": words, "columns": [words, "n"], "rows": [[words, words]], "marked": False}
    return verdicts(
        words,
        facts=[{"name": words, "value": words, "detail": words}],
        tables=[table | {"note": words}],
        details=[Detail(words, words, (FIGURE,), [words], open=True), Detail("b", "consistent")],
        reading=words,
        again=words,
        **more,
    )


@pytest.mark.parametrize("made", [verdicts(), full()], ids=["bare", "full"])
def test_a_page_is_well_formed_and_loads_nothing(made):
    tags = Tags(verdict_page(made))
    assert tags.open == []
    assert not [tag for tag, _ in tags.seen if tag in ("script", "img", "link", "iframe")]
    assert not [attrs for _, attrs in tags.seen if "src" in attrs or "href" in attrs]


def test_only_made_up_inputs_may_be_passed_on():
    assert "may be passed on" in verdict_page(full(constructed=True))
    assert "CURATOR" not in verdict_page(full(constructed=True))
    page = verdict_page(full(constructed=False))
    assert "CURATOR ONLY" in page
    assert "may be passed on" not in page


@pytest.mark.parametrize("words", HOSTILE, ids=["script", "image", "bidi", "template", "long"])
def test_words_from_outside_stay_words(words):
    page = verdict_page(full(words))
    tags = Tags(page)
    assert not [tag for tag, _ in tags.seen if tag in ("script", "img")]
    assert "49" not in page.split("<body>")[1].split("<svg")[0]
    assert "\u202e" not in page
    assert "x" * 2_000 not in page


def test_details_are_open_or_closed_as_asked():
    details = [attrs for tag, attrs in Tags(verdict_page(full())).seen if tag == "details"]
    assert ["open" in attrs for attrs in details] == [True, False]


def test_what_is_left_out_leaves_no_empty_place():
    page = verdict_page(verdicts())
    assert "One by one" not in page
    assert "Run it again" not in page
    assert "Run it again" in verdict_page(full())


def test_a_page_says_when_and_with_what_it_was_made():
    assert "shoal 0." in verdict_page(verdicts())
