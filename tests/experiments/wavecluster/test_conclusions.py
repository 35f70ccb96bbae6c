import os

import pytest

from shoal.experiments._cells import Cell
from shoal.experiments._results import Results
from shoal.experiments.wavecluster import DOCUMENT
from shoal.experiments.wavecluster._cells import ENDS_OF_AGGREGATION, NO_NOISE, _rows_of
from shoal.experiments.wavecluster._conclusions import conclude


def claim_with(results, words):
    return next(c for c in conclude(results, False).claims if words in c.text)


def test_a_threshold_drawn_without_lengths_is_found_out():
    cell = Cell("audits", {"twin": "PrivTHREM without interval lengths", "draws": 1_000})
    done = DOCUMENT.conclude(
        Results([{"part": "audits", **cell.settings, **row} for row in DOCUMENT.run(cell)]), False
    )
    claim = next(c for c in done.claims if "by their rank" in c.text)
    assert claim.verdict == "does not hold"
    assert claim.ours.endswith("where 0.3 is claimed")


@pytest.mark.parametrize(("score", "verdict"), [(1.0, "holds"), (0.3, "does not hold")])
def test_any_shape_can_be_found_if_one_set_agrees_with_its_groups(score, verdict):
    rows = [{"part": "truth", "data": data, "method": NO_NOISE, "epsilon": 0.0, "best_ari": ari}
            for data, ari in (("moons", 0.2), ("rings", score))]  # fmt: skip
    assert claim_with(Results(rows), "is not round").verdict == verdict


def test_noise_on_points_promises_less_the_wider_the_box_is(monkeypatch):
    from shoal.domain import Box
    from shoal.experiments.wavecluster import _conclusions as conclusions

    monkeypatch.setattr(conclusions, "box_of", lambda ends: Box(x=(0, 30), y=(0, 40)))
    drawn = Results([{"part": "pictures", "picture": "input"}])
    claim = next(c for c in DOCUMENT.judge(drawn, False) if "Laplace noise of" in c.text)
    assert claim.verdict == "does not hold"
    assert float(claim.ours.split()[1]) == pytest.approx(2 * 50, rel=0.01)
    assert claim_with(Results([]), "Laplace noise of").verdict == "not judged"


def test_every_link_of_a_claim_leads_to_a_figure_of_the_page():
    from shoal.experiments.wavecluster._exhibits import AUDITS, CURVES, KNOWN_GROUPS, SWEEP
    from shoal.pages._reproduction import anchor_of

    anchors = {exhibit.anchor for exhibit in conclude(Results([]), True).exhibits}
    assert {anchor_of(name) for name in (AUDITS, CURVES, KNOWN_GROUPS, SWEEP)} <= anchors


def order_rows(**off):
    return [{"part": "order", "data": data, "epsilon": 2.0, "method": method, "draw": i,
             "di": value + i / 100, "di2": 1 - value + i / 100}
            for data in ("moons", "rings") for method, value in off.items()
            for i in range(4)]  # fmt: skip


def test_a_method_beats_another_only_if_every_set_says_so_clearly():
    words = "PrivTHR has a lower dissimilarity than PrivQT"
    for own, other, verdict in (
        (0.1, 0.9, "holds"),
        (0.9, 0.1, "does not hold"),
        (0.2, 0.2, "does not hold"),
    ):
        rows = order_rows(privthr=own, privqt=other)
        assert claim_with(Results(rows), words).verdict == verdict


def test_a_claim_is_judged_by_the_reports_own_index_and_shows_the_other():
    claim = claim_with(
        Results(order_rows(privthr=0.1, privqt=0.9)),
        "PrivTHR has a lower dissimilarity than PrivQT",
    )
    assert claim.verdict == "holds"
    assert "above 0 in 2 of 2, and in 0 where spurious clusters pay too" in claim.reason


def test_the_best_of_three_must_beat_the_better_of_the_others():
    rows = order_rows(privthrem=0.3, privthr=0.1, privqt=0.9)
    assert claim_with(Results(rows), "the better of").verdict == "does not hold"


@pytest.mark.skipif("SHOAL_DATA" not in os.environ, reason="SHOAL_DATA names no folder")
def test_the_stated_ends_of_aggregation_are_those_of_the_file():
    rows = _rows_of("aggregation")
    assert ENDS_OF_AGGREGATION.tolist() == [rows.min(axis=0).tolist(), rows.max(axis=0).tolist()]
