import pytest

from shoal.experiments._results import Results
from shoal.experiments.nd_laplace._conclusions import conclude, judge
from shoal.experiments.nd_laplace._statements import CURVES, PRINTED_CURVES


def utility(data, mechanism, amis):
    return [
        {"part": "utility", "data": data, "mechanism": mechanism, "epsilon": float(e), "draw": i,
         "ami": ami + i / 1000, "ari": ami, "silhouette": ami, "chi": ami}
        for e, ami in amis.items() for i in range(3)
    ]  # fmt: skip


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "holds"), (0.2, "does not hold")])
def test_a_printed_curve_holds_if_ours_is_near(off, verdict):
    printed = CURVES["heart-2d", "laplace"]
    rows = utility("heart-2d", "laplace", {e: ami - off for e, ami in printed.items()})
    claim = claim_on(rows, "heart-2d with laplace")
    assert claim.verdict == verdict
    assert claim.where == "Figure 6.20"
    assert "0.75 at 0.5" in claim.document
    assert "result files" in claim.document


def test_noise_that_grows_with_dimension_refutes_the_thesis():
    rows = [{"part": "noise", "d": d, "epsilon": 1.0, "draw": i, "length": d + i / 100,
             "axis_sd": 1.0} for d in (1, 2, 3) for i in range(4)]  # fmt: skip
    claim = claim_on(rows, "length of the noise falls")
    assert claim.verdict == "does not hold"
    assert claim.anchor == "figure-3-8"


def test_every_link_of_a_claim_leads_to_a_figure_of_the_page():
    done = conclude(Results([]), True)
    anchors = {exhibit.anchor for exhibit in done.exhibits}
    from shoal.experiments.nd_laplace._chapter_six import PLACES
    from shoal.pages._reproduction import anchor_of

    figures = {statement.exhibit for statement in PRINTED_CURVES.values()}
    assert {anchor_of(number) for number in (*figures, *PLACES.values())} <= anchors
    assert {claim.anchor for claim in done.claims if claim.anchor} <= anchors


def game(part, data, epsilon, advantage, query="true", mechanism="laplace", error=0.01):
    return {"part": part, "data": data, "mechanism": mechanism, "epsilon": epsilon, "query": query,
            "games": 10, "advantage": advantage, "advantage_error": error, "tpr": 0.5 + advantage,
            "tpr_error": error, "fpr": 0.5, "fpr_error": error, "auc": 0.5, "auc_error": error,
            "roc": [[0, 0], [1, 1]]}  # fmt: skip


def claim_on(rows, words):
    return next(c for c in conclude(Results(rows), False).claims if words in c.text)


def test_printed_rates_are_judged_setting_by_setting_and_by_both_readings():
    near, far = (game("privacy", "seeds-2d", e, a) for e, a in ((0.1, 0.514), (0.5, 0.0)))
    claims = [c for c in judge(Results([near, far]), False) if c.where == "Table 6.2"]
    assert [c.verdict for c in claims] == ["holds in part", "not judged"]
    assert claims[0].detail == "Speaks for it: laplace 0.1. Against it: laplace 0.5."
    noisy = [{**row, "query": "perturbed"} for row in (near, far)]
    claims = [c for c in judge(Results(noisy), False) if c.where == "Table 6.2"]
    assert [c.verdict for c in claims] == ["not judged", "holds in part"]


@pytest.mark.parametrize(("last", "verdict"), [(0.3, "holds"), (0.02, "does not hold")])
def test_leakage_by_shape_must_be_clear_of_three_comparisons(last, verdict):
    rows = [game("shape games", data, 1.0, a, error=0.005)
            for data, a in (("circle", 0.0), ("line", 0.01), ("skewed", last))]  # fmt: skip
    assert claim_on(rows, "Leakage").verdict == verdict
    unsure = [{**row, "advantage_error": 0.2} for row in rows]
    assert claim_on(unsure, "Leakage").verdict == "cannot be told here"


def test_more_nodes_can_help_if_one_setting_says_so():
    def rows(gain):
        return [{"part": "nodes", "data": data, "epsilon": 1.0, "nodes": n, "draw": i,
                 "ami": 0.3 + (gain if n == 48 and data == "seeds-2d" else 0) + i / 1000}
                for data in ("seeds-2d", "heart-2d") for n in (4, 48)
                for i in range(4)]  # fmt: skip

    assert claim_on(rows(0.2), "48 nodes").verdict == "holds"
    assert claim_on(rows(-0.2), "48 nodes").verdict == "does not hold"


def test_utility_by_columns_is_compared_in_every_family():
    rows = [*utility("seeds-2d", "laplace", {1: 0.5}), *utility("seeds-nd", "laplace", {1: 0.2})]
    claim = claim_on(rows, "reports of all columns")
    assert (claim.verdict, claim.ours) == ("does not hold", "higher in 0 of 1 settings")


def test_one_game_has_no_error_and_tells_nothing():
    rows = [game("dimensions", data, 1.0, a, error=None)
            for data, a in (("blobs-2000-2d", 0.0), ("blobs-2000-5d", 0.4))]  # fmt: skip
    assert claim_on(rows, "In the membership game").verdict == "cannot be told here"


def test_an_audit_that_finds_nothing_does_not_make_a_claim_hold():
    row = {"part": "audits", "twin": "resample until inside, distance 1", "bound": 0.4, "claim": 1,
           "verdict": "consistent"}  # fmt: skip
    assert claim_on([row], "Redrawing").verdict == "cannot be told here"


@pytest.mark.parametrize(("lengths", "verdict"), [((1, 2, 3), "does not hold"),
                         ((3, 2, 1), "holds"), ((1,), "not judged")])  # fmt: skip
def test_noise_must_fall_with_every_dimension_to_shrink(lengths, verdict):
    rows = [{"part": "noise", "d": d, "epsilon": 1.0, "draw": i, "length": v + i / 1000,
             "axis_sd": 1.0} for d, v in enumerate(lengths, 1) for i in range(4)]  # fmt: skip
    assert claim_on(rows, "length of the noise falls").verdict == verdict
