from pathlib import Path

import numpy as np
import pytest

from shoal.anonymize.risk._reidentification import Risk
from shoal.audit import AttributeInference, Linkage, Links, MembershipInference, ceiling_of
from shoal.audit.membership._result import Setting, combine_games
from shoal.audit.membership._roc import GameScores
from shoal.pages import verdict_page
from shoal.pages.attack import FOR_YOU, linkage_page, membership_page, too_few_records
from shoal.privacy import PureDP


def membership(promise=None, games=6) -> MembershipInference:
    rng = np.random.default_rng(0)
    played = [GameScores(rng.normal(1, 1, 60), rng.normal(0, 1, 60), 0.5) for _ in range(games)]
    ceiling = ceiling_of(promise, "own coin")
    return combine_games(played, ceiling, Setting("likelihood ratios", "own coin"), promise)


def linked(candidates, k=5, guessed=None):
    return linkage_page(linkage(candidates, k), guessed, Path("out.csv"))


def linkage(candidates, k=5):
    risk = Risk.of([(10, 3)], k)
    return Linkage(Links.of(np.array(candidates)), Links.of(np.array([1, 1])), risk, k)


GUESSED = AttributeInference(0.7, 0.6, 0.65, 0.1, 0.2, 0.0, 40, 8, "ill", 5)


def test_rates_that_few_others_cannot_resolve_are_called_so():
    page = membership_page(membership(), "kmeans", 160)
    rows = dict(page.verdicts.tables[0]["rows"])
    assert list(rows)[:4] == ["Advantage", "TPR", "FPR", "AUC"]
    assert rows["TPR at FPR 0.01"] == "unresolved"
    assert rows["TPR at FPR 0.05"] != "unresolved"


def test_the_ceiling_is_told_and_a_model_above_it_is_violated():
    attack = membership(PureDP("0.1"))
    page = membership_page(attack, "kmeans", 160)
    assert attack.verdict == "violated"
    assert page.lines[0].text.startswith("violated: advantage")
    assert "at most 0.05" in page.verdicts.tables[0]["note"]
    assert page.values["attacked"] == "kmeans"


def test_few_games_have_no_interval_and_no_verdict():
    attack = membership(PureDP(1), games=2)
    assert attack.verdict == "too few repeats"
    rows = membership_page(attack, "kmeans", 160).verdicts.tables[0]["rows"]
    assert "(" not in dict(rows)["Advantage"]


def test_people_with_fewer_records_than_k_are_counted_those_with_none_are_not():
    assert too_few_records(linkage([0, 1, 4, 5, 9])) == 2
    assert too_few_records(linkage([0, 5, 9])) == 0
    assert "2 people have fewer than 5" in linked([0, 1, 4, 5]).verdicts.lead
    assert "has 5 or more" in linked([0, 5, 9]).verdicts.lead


@pytest.mark.parametrize("candidates", [[], [0, 0]])
def test_where_nobody_is_found_there_is_a_page_without_a_figure(candidates):
    verdicts = linked(candidates).verdicts
    assert verdicts.details[0].figures == []
    assert "is it about the same people" in verdicts.lead
    assert "Linkage attack on out.csv" in verdict_page(verdicts)


def test_what_is_guessed_is_told():
    page = linked([5, 9], guessed=GUESSED)
    labels = [line.label for line in page.lines]
    assert labels == ["Released", "Before", "Guessed", "", "", "Finding", "For you"]
    assert page.values["guessed"]["added"] == pytest.approx(0.05)
    assert any("'ill' of 40 people" in line for line in page.verdicts.details[0].lines)


@pytest.mark.parametrize("page", [membership_page(membership(), "kmeans", 160), linked([5, 9])])
def test_every_page_of_an_attack_is_marked(page):
    assert page.verdicts.constructed is False
    assert "CURATOR ONLY" in verdict_page(page.verdicts)
    assert page.lines[-1].text == FOR_YOU
    assert page.values["for_the_holder_alone"] is True


def test_the_first_sentence_and_the_bar_set_what_was_found_beside_what_is_allowed():
    verdicts = membership_page(membership(PureDP(1)), "kmeans", 160).verdicts
    assert verdicts.lead.endswith("; the promise allows 47 in 100.")
    assert verdicts.gauge["limit"] == 0.47
    assert "allowed: 47 in 100" in verdict_page(verdicts)
