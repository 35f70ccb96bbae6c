import pytest

from shoal.experiments.nd_laplace.conclusions import PRINTED, conclude
from shoal.experiments.results import Results


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
    places = set(PRINTED)
    assert places
    from shoal.experiments.nd_laplace.conclusions import FIGURES, PLACES
    from shoal.report.reproduction import anchor_of

    assert {anchor_of(number) for number in (*FIGURES.values(), *PLACES.values())} <= anchors
