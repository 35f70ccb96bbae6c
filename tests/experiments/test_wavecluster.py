from shoal.experiments.cells import Cell
from shoal.experiments.results import Results
from shoal.experiments.wavecluster import DOCUMENT, METHODS


def rows_of(*cells):
    return [{"part": c.part, **c.settings, **row} for c in cells for row in DOCUMENT.run(c)]


def test_every_method_is_compared_with_the_clusters_without_noise():
    cells = [
        Cell("order", {"data": "moons", "epsilon": 2.0, "method": method, "draws": 2})
        for method in METHODS
    ]
    results = Results(rows_of(*cells), ["data", "epsilon", "method"])
    means = {m: results.mean("order", "di2", method=m).mean for m in METHODS}
    assert means["block"] < means["privqt"]
    done = DOCUMENT.conclude(results, True)
    order = done.claims[0]
    assert order.verdict in ("holds", "does not hold")
    assert "of 1 settings" in order.ours


def test_alpha_reaches_the_method():
    cells = [
        Cell(
            "alpha", {"data": "rings", "epsilon": 0.5, "method": "privthr", "alpha": a, "draws": 2}
        )
        for a in (0.1, 0.9)
    ]
    first, second = (rows_of(cell) for cell in cells)
    assert [row["di2"] for row in first] != [row["di2"] for row in second]


def test_a_threshold_drawn_without_lengths_is_found_out():
    cell = Cell("audits", {"twin": "PrivTHREM without interval lengths", "draws": 1_000})
    done = DOCUMENT.conclude(Results(rows_of(cell)), True)
    claim = next(c for c in done.claims if "by its rank" in c.text)
    assert (claim.verdict, claim.document) == ("does not hold", "epsilon 0.3")
