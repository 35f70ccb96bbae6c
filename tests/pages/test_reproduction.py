import pytest

from shoal.errors import InvalidSetting
from shoal.figures import dots
from shoal.pages import Claim, Exhibit, Reproduction, reproduction_page
from shoal.pages._reproduction import anchor_of

CLAIMS = [
    Claim("Section 6.2", "Laplace beats Piecewise.", "does not hold", "0.75", "0.74 ± 0.02",
          "At equal promise.", "Figure 6.20"),
    Claim("Table 5.1", "k is 4.", "holds"),
    Claim("Hypothesis 1", "Leakage grows.", "cannot be told here", reason="No data."),
    Claim("Section 2", "Tested so.", "holds in part", quote="It <works>.", source="the report",
          margin="0.05 of AMI", detail="Speaks for it: seeds. Against it: heart."),
]  # fmt: skip
EXHIBITS = [
    Exhibit("Figure 6.20", "Heart", [dots(10, 24)]),
    Exhibit("Figure 2.1", "A drawing", missing="a drawing by others"),
]


def page(**changes):
    values = {"title": "A <thesis>", "lead": "Two.", "claims": CLAIMS, "exhibits": EXHIBITS,
              "setting": ["Ten draws."], "again": "shoal reproduce nd-laplace"}  # fmt: skip
    return reproduction_page(Reproduction(**values | changes))


def test_claims_come_before_the_setting_and_the_figures():
    text = page()
    assert text.index('id="claims"') < text.index('id="setting"') < text.index('id="exhibits"')


def test_a_claim_has_the_document_s_number_ours_and_a_link_to_its_figure():
    text = page()
    assert "Document: 0.75. Ours: 0.74 ± 0.02." in text
    assert 'href="#figure-6-20"' in text
    assert 'id="figure-6-20"' in text


def test_a_figure_without_a_counterpart_says_why():
    assert "No counterpart: a drawing by others" in page()


def test_words_of_others_are_escaped_and_nothing_is_loaded():
    text = page()
    assert "A &lt;thesis&gt;" in text
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_only_the_quick_form_says_that_it_is_one():
    assert "The quick form" in page(quick=True)
    assert "The quick form" not in page()


def test_verdicts_are_counted():
    done = Reproduction(title="", lead="", claims=CLAIMS, exhibits=[], setting=[], again="")
    assert done.counts() == {"holds": 1, "holds in part": 1, "does not hold": 1,
                             "cannot be told here": 1}  # fmt: skip


def test_a_claim_shows_the_document_s_own_words_what_was_tested_and_where_it_holds():
    text = page()
    assert "“It &lt;works&gt;.”" in text
    assert "Tested: Tested so. What matters: 0.05 of AMI." in text
    assert "the report, Section 2" in text
    assert "Speaks for it: seeds. Against it: heart." in text


def test_a_verdict_in_other_words_is_refused():
    with pytest.raises(InvalidSetting, match="no verdict"):
        Claim("Section 1", "It works.", "mostly holds")


@pytest.mark.parametrize(
    ("number", "anchor"),
    [("Figure 6.1", "figure-6-1"), ("Tables 5.1, 5.2", "tables-5-1-5-2"), ("Alpha!", "alpha")],
)
def test_an_anchor_is_made_of_letters_and_digits(number, anchor):
    assert anchor_of(number) == anchor
