from pathlib import Path

import numpy as np
import pytest

from shoal.anonymize.risk.reidentification import Risk
from shoal.audit import AttributeInference, Linkage, Links, MembershipInference, ceiling_of
from shoal.audit.membership.result import Setting, combine_games
from shoal.audit.membership.roc import GameScores
from shoal.cli.output import Output
from shoal.domain import Box
from shoal.pages.attack import FOR_YOU, Linked, Membership, finish, rows_of_table
from shoal.privacy import PureDP
from shoal.report import verdict_page


def membership(promise=None, games=6) -> MembershipInference:
    rng = np.random.default_rng(0)
    played = [GameScores(rng.normal(1, 1, 60), rng.normal(0, 1, 60), 0.5) for _ in range(games)]
    ceiling = ceiling_of(promise, "own coin")
    return combine_games(played, ceiling, Setting("likelihood ratios", "own coin"), promise)


def linked(candidates, k=5, guessed=None):
    links = Links.of(np.array(candidates))
    risk = Risk.of([(10, 3)], k)
    return Linked(Path("out.csv"), Linkage(links, Links.of(np.array([1, 1])), risk, k), guessed)


GUESSED = AttributeInference(0.7, 0.6, 0.65, 0.1, 0.2, 0.0, 40, 8, "ill", 5)


def test_rates_that_few_others_cannot_resolve_are_called_so():
    page = Membership("kmeans", membership(), 160).page()
    rows = dict(page.tables[0]["rows"])
    assert list(rows)[:4] == ["Advantage", "TPR", "FPR", "AUC"]
    assert rows["TPR at FPR 0.01"] == "unresolved"
    assert rows["TPR at FPR 0.05"] != "unresolved"


def test_the_ceiling_is_told_and_a_model_above_it_is_violated():
    found = Membership("kmeans", membership(PureDP("0.1")), 160)
    assert found.found.verdict == "violated"
    assert found.lines()[0][1].startswith("violated: advantage")
    assert "at most 0.05" in found.page().tables[0]["note"]
    assert found.document()["attacked"] == "kmeans"


def test_few_games_have_no_interval_and_no_verdict():
    found = Membership("kmeans", membership(PureDP(1), games=2), 160)
    assert found.found.verdict == "too few repeats"
    assert "(" not in dict(found.page().tables[0]["rows"])["Advantage"]


def test_people_with_fewer_records_than_k_are_counted_those_with_none_are_not():
    assert linked([0, 1, 4, 5, 9]).too_few == 2
    assert linked([0, 5, 9]).too_few == 0
    assert "2 people have fewer than 5" in linked([0, 1, 4, 5]).page().lead
    assert "has 5 or more" in linked([0, 5, 9]).page().lead


@pytest.mark.parametrize("candidates", [[], [0, 0]])
def test_where_nobody_is_found_there_is_a_page_without_a_figure(candidates):
    told = linked(candidates)
    page = told.page()
    assert page.details[0].figures == []
    assert "is it about the same people" in page.lead
    assert "Linkage attack on out.csv" in verdict_page(page)


def test_what_is_guessed_is_told():
    told = linked([5, 9], guessed=GUESSED)
    labels = [label for label, _ in told.lines()]
    assert labels == ["Released", "Before", "Guessed", "", "", "Finding"]
    assert told.document()["guessed"]["added"] == pytest.approx(0.05)
    assert any("'ill' of 40 people" in line for line in told.page().details[0].lines)


@pytest.mark.parametrize("told", [Membership("kmeans", membership(), 160), linked([5, 9])])
def test_every_page_of_an_attack_is_marked(told):
    assert told.page().constructed is False
    assert "CURATOR ONLY" in verdict_page(told.page())


def test_whoever_reads_is_told_to_keep_it(capsys):
    finish(linked([5, 9]), Output(), None, False)
    assert " ".join(FOR_YOU.split()) in " ".join(capsys.readouterr().out.split())


def test_rows_are_drawn_and_moved_into_the_box(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n" + "\n".join(["-5", "0.25", "7"] * 100) + "\n")
    drawn = rows_of_table(str(tmp_path / "rows.csv"), Box(x=(0, 1)), 30, seed=1)
    assert drawn.shape == (30, 1)
    assert set(drawn.ravel().tolist()) <= {0.0, 0.25, 1.0}
    assert np.array_equal(drawn, rows_of_table(str(tmp_path / "rows.csv"), Box(x=(0, 1)), 30, 1))
