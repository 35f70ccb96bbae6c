import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from shoal.experiments import DOCUMENTS, document_named
from shoal.experiments._literature import STATEMENTS as LITERATURE
from shoal.experiments._results import Mean, Results, mean_of
from shoal.experiments._verdicts import (
    Effect,
    Judge,
    Statement,
    audited,
    exact,
    lead_of,
    measured,
    near,
    not_run,
    verdict_on,
)
from shoal.experiments.leteo._conclusions import STATEMENTS as LETEO
from shoal.experiments.nd_laplace._statements import STATEMENTS as THESIS
from shoal.experiments.wavecluster._conclusions import STATEMENTS as WAVECLUSTER
from shoal.pages import Claim

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "bench" / "results" / "reproduce"
STATEMENTS = [*THESIS, *WAVECLUSTER, *LETEO, *LITERATURE]
FILES = {"thesis": "001_", "draft": "004_", "first draft": "000_", "wavecluster": "002_",
         "leteo": "003_"}  # fmt: skip
FOR, AGAINST, SAME = exact("for", 0.2), exact("against", -0.2), exact("same", 0.01)
UNCLEAR = Effect("unclear", 0.2, -0.1, 0.5)


@pytest.mark.parametrize(
    ("effects", "verdict"),
    [
        ([FOR, FOR], "holds"),
        ([FOR, SAME], "holds in part"),
        ([FOR, AGAINST], "holds in part"),
        ([FOR, UNCLEAR], "holds in part"),
        ([FOR, UNCLEAR, UNCLEAR], "cannot be told here"),
        ([FOR, AGAINST, AGAINST], "does not hold"),
        ([AGAINST, UNCLEAR, UNCLEAR], "does not hold"),
        ([SAME, SAME], "does not hold"),
        ([SAME, UNCLEAR], "cannot be told here"),
        ([UNCLEAR], "cannot be told here"),
        ([], "cannot be told here"),
    ],
)
def test_the_rule_of_verdicts(effects, verdict):
    assert verdict_on(effects, 0.05) == verdict


def test_a_possibility_holds_if_one_setting_shows_it():
    assert verdict_on([FOR, AGAINST, AGAINST], 0.05, is_possibility=True) == "holds"
    assert verdict_on([SAME, AGAINST], 0.05, is_possibility=True) == "does not hold"


def test_a_possibility_cannot_be_told_while_a_setting_that_may_show_it_is_unclear():
    effects = [AGAINST, AGAINST, UNCLEAR]
    assert verdict_on(effects, 0.05, is_possibility=True) == "cannot be told here"
    assert verdict_on([*effects, FOR], 0.05, is_possibility=True) == "holds"


def test_an_equality_breaks_no_proof():
    assert verdict_on([exact("at most 1/k", 0.0)], 0.0) == "holds"


def test_an_equality_does_not_speak_for_a_strict_statement():
    equal, less = exact("equal", 0.0), exact("less", 0.1)
    assert verdict_on([equal], 0.0, is_strict=True) == "does not hold"
    assert verdict_on([equal, less], 0.0, is_strict=True) == "holds in part"
    assert verdict_on([less], 0.0, is_strict=True) == "holds"


def test_a_difference_too_small_to_matter_refutes_nothing():
    settings = {f"{i}": Mean(0.5, 0.01, 10) for i in range(14)}
    effects = measured(settings | {"s1": Mean(-0.0015, 0.0004, 10)})
    assert verdict_on(effects, 0.02) == "holds in part"


def test_one_draw_tells_nothing_and_more_comparisons_need_clearer_differences():
    assert verdict_on(measured({"a": Mean(9.0, math.nan, 1)}), 0.1) == "cannot be told here"
    one = measured({"a": Mean(0.3, 0.1, 9)})[0]
    many = measured({name: Mean(0.3, 0.1, 9) for name in "abcdefgh"})[0]
    assert one.low > 0 > many.low


@pytest.mark.parametrize("draws", [3, 10])
def test_few_draws_of_equal_means_look_clear_once_in_twenty_groups_at_most(draws):
    rng, groups = np.random.default_rng(0), 2_000
    looks_clear = 0
    for group in rng.normal(size=(groups, 4, draws)):
        effects = measured({f"{i}": mean_of(values) for i, values in enumerate(group)})
        looks_clear += any(effect.low > 0 or effect.high < 0 for effect in effects)
    # The normal quantile gives 0.14 with ten draws and 0.42 with three.
    assert 0.02 < looks_clear / groups < 0.08


def test_an_audit_can_refute_a_promise_and_never_prove_it():
    assert verdict_on([audited("a", claim=1.0, bound=1.2)], 0.0) == "does not hold"
    assert verdict_on([audited("a", claim=1.0, bound=0.98)], 0.0) == "cannot be told here"


def test_a_number_is_near_only_if_its_whole_interval_is():
    aims = {"a": 0.5}
    assert verdict_on(near({"a": Mean(0.52, 0.01, 9)}, aims, 0.1), 0.0) == "holds"
    assert verdict_on(near({"a": Mean(0.59, 0.01, 9)}, aims, 0.1), 0.0) == "cannot be told here"
    assert verdict_on(near({"a": Mean(0.7, 0.01, 9)}, aims, 0.1), 0.0) == "does not hold"


MEASURED = Statement(source="thesis", where="1", quote="q", tested="t", parts=("noise",))


def test_what_was_not_run_is_not_judged_and_says_how_to_run_it():
    claim = Judge("nd-laplace", quick=False).claim(MEASURED, [])
    assert claim.verdict == "not judged"
    assert "shoal reproduce nd-laplace --only noise" in claim.reason


def test_a_part_of_two_words_is_quoted_for_the_shell():
    assert "--only 'shape games'." in not_run("nd-laplace", "shape games")


def test_a_statement_without_effects_is_not_judged_even_if_no_part_measures_it():
    calculated = Statement(source="thesis", where="1", quote="q", tested="t")
    for quick in (False, True):
        assert Judge("nd-laplace", quick).claim(calculated, []).verdict == "not judged"


def test_a_quick_run_shows_numbers_and_no_verdict():
    claim = Judge("nd-laplace", quick=True).claim(MEASURED, [FOR], "0.2")
    assert (claim.verdict, claim.ours) == ("not judged", "0.2")


def test_the_lead_counts_every_verdict():
    claims = [Claim("1", "a", "holds")] * 2 + [Claim("2", "b", "not judged")]
    assert lead_of(claims) == (
        "Of 3 claims 2 hold, 0 hold in part, 0 do not hold and 0 cannot be told here. "
        "1 was not judged."
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_quick_run_gives_no_verdict_that_the_full_run_does_not(name):
    document, results = document_named(name), Results.of_tables(TABLES / name)
    full, quick = document.judge(results, False), document.judge(results, True)
    for one, other in zip(full, quick, strict=True):
        assert other.verdict in ("not judged", one.verdict), one.text
    # What no run can change is judged the same without any.
    for one, other in zip(quick, document.judge(Results([]), True), strict=True):
        assert one.verdict == other.verdict


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_claim_quotes_its_document(name):
    for claim in document_named(name).judge(Results([]), False):
        assert claim.quote
        assert claim.source


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: f"{s.source} {s.where}")
def test_every_quote_is_in_its_document(statement):
    documents = Path(os.environ.get("SHOAL_DATA", "."), "..", "seeds").resolve()
    paths = list(documents.glob(f"{FILES[statement.source]}*.txt"))
    if not paths:
        pytest.skip("the documents are not at hand")
    text = plain(paths[0].read_text(encoding="utf-8"))
    for words in statement.quote.split(" ... "):
        assert plain(words) in text


@pytest.mark.parametrize("page", ["from-the-documents.md", "thesis-questions.md"])
def test_every_quote_of_a_page_is_in_a_document(page):
    documents = Path(os.environ.get("SHOAL_DATA", "."), "..", "seeds").resolve()
    texts = [plain(path.read_text(encoding="utf-8")) for path in documents.glob("*.txt")]
    if not texts:
        pytest.skip("the documents are not at hand")
    words = re.sub("`[^`]*`", "", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    quotes = re.findall(r'"([^"\n]+)"|^> (.+)$', words, re.MULTILINE)
    assert len(quotes) >= 6
    for quote in map("".join, quotes):
        assert any(plain(quote).lower() in text.lower() for text in texts), quote


def plain(text):
    """Words without marks of emphasis and formulas, and without breaks of lines."""
    text = re.sub(r"[*$_\\]", "", text)
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s.proof])
def test_a_proof_that_is_named_exists(statement):
    assert (ROOT / "src" / "shoal" / statement.proof).is_file()


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: f"{s.source} {s.where}")
def test_a_measured_statement_says_what_matters_before_the_run(statement):
    assert bool(statement.margin) or not statement.matters
