import pytest

from shoal.experiments._results import Results
from shoal.experiments.nd_laplace._conclusions import PRINTED, conclude


def utility(data, mechanism, amis):
    return [
        {"part": "utility", "data": data, "mechanism": mechanism, "epsilon": float(e), "draw": i,
         "ami": ami + i / 1000, "ari": ami, "silhouette": ami, "chi": ami}
        for e, ami in amis.items() for i in range(3)
    ]  # fmt: skip


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "holds"), (0.2, "does not hold")])
def test_a_printed_curve_holds_if_ours_is_near(off, verdict):
    printed = PRINTED["heart-2d", "laplace"]
    rows = utility("heart-2d", "laplace", {e: ami - off for e, ami in printed.items()})
    claim = conclude(Results(rows, ["data", "mechanism", "epsilon"]), True).claims[0]
    assert claim.verdict == verdict
    assert claim.where == "Figure 6.20"
    assert "0.75 at 0.5" in claim.document


def test_noise_that_grows_with_dimension_refutes_the_thesis():
    rows = [{"part": "noise", "d": d, "epsilon": 1.0, "draw": i, "length": d + i / 100,
             "axis_sd": 1.0} for d in (1, 2, 3) for i in range(4)]  # fmt: skip
    claims = conclude(Results(rows), True).claims
    claim = next(c for c in claims if "shrinks" in c.text)
    assert claim.verdict == "does not hold"
    assert claim.anchor == "figure-3-8"


def test_every_link_of_a_claim_leads_to_a_figure_of_the_page():
    done = conclude(Results([]), True)
    anchors = {exhibit.anchor for exhibit in done.exhibits}
    from shoal.experiments.nd_laplace._chapter_six import PLACES
    from shoal.experiments.nd_laplace._conclusions import FIGURES
    from shoal.pages._reproduction import anchor_of

    assert {anchor_of(number) for number in (*FIGURES.values(), *PLACES.values())} <= anchors


def game(part, data, epsilon, advantage, query="true", mechanism="laplace", error=0.01):
    return {"part": part, "data": data, "mechanism": mechanism, "epsilon": epsilon, "query": query,
            "games": 10, "advantage": advantage, "advantage_error": error, "tpr": 0.5 + advantage,
            "tpr_error": error, "fpr": 0.5, "fpr_error": error, "auc": 0.5, "auc_error": error,
            "roc": [[0, 0], [1, 1]]}  # fmt: skip


def claim_on(rows, words):
    return next(c for c in conclude(Results(rows), False).claims if words in c.text)


def test_printed_rates_are_counted_setting_by_setting():
    near, far = (game("privacy", "seeds-2d", e, a) for e, a in ((0.1, 0.514), (0.5, 0.0)))
    claim = claim_on([near, far], "Members of seeds-2d")
    assert claim.verdict == "does not hold"
    assert claim.ours.endswith("clearly off in 1 of 2")
    assert claim_on([near], "Members of seeds-2d").verdict == "holds"


@pytest.mark.parametrize(("last", "verdict"), [(0.3, "holds"), (0.02, "cannot be tested here")])
def test_leakage_by_shape_must_be_clear_of_three_comparisons(last, verdict):
    rows = [game("shape games", data, 1.0, a)
            for data, a in (("circle", 0.0), ("line", 0.01), ("skewed", last))]  # fmt: skip
    assert claim_on(rows, "privacy leakage").verdict == verdict


def test_more_nodes_help_only_if_every_setting_says_so():
    def rows(gain):
        return [{"part": "nodes", "data": "seeds-2d", "epsilon": 1.0, "nodes": n, "draw": i,
                 "ami": 0.3 + (gain if n == 48 else 0) + i / 1000}
                for n in (4, 48) for i in range(4)]  # fmt: skip

    assert claim_on(rows(0.2), "More cells").verdict == "holds"
    assert claim_on(rows(-0.2), "More cells").verdict == "does not hold"


def test_utility_by_columns_is_counted_over_families():
    rows = [*utility("seeds-2d", "laplace", {1: 0.5}), *utility("seeds-nd", "laplace", {1: 0.2})]
    claim = claim_on(rows, "Utility rises")
    assert (claim.verdict, claim.ours) == ("does not hold",
                                           "rises in 0, falls in 1 of 1 settings")  # fmt: skip


def test_one_game_has_no_error_and_tells_nothing():
    rows = [game("dimensions", data, 1.0, a, error=None)
            for data, a in (("blobs-2000-2d", 0.0), ("blobs-2000-5d", 0.4))]  # fmt: skip
    assert claim_on(rows, "grows with the number").verdict == "cannot be tested here"


def test_an_audit_that_finds_nothing_does_not_make_a_claim_hold():
    row = {"part": "audits", "twin": "resample until inside, distance 1", "bound": 0.4, "claim": 1,
           "verdict": "consistent"}  # fmt: skip
    assert claim_on([row], "Redrawing").verdict == "cannot be tested here"


@pytest.mark.parametrize(("lengths", "verdict"), [((1, 2, 3), "does not hold"),
                         ((3, 2, 1), "holds"), ((1,), "cannot be tested here")])  # fmt: skip
def test_noise_must_fall_with_every_dimension_to_shrink(lengths, verdict):
    rows = [{"part": "noise", "d": d, "epsilon": 1.0, "draw": i, "length": v + i / 1000,
             "axis_sd": 1.0} for d, v in enumerate(lengths, 1) for i in range(4)]  # fmt: skip
    assert claim_on(rows, "shrinks").verdict == verdict
