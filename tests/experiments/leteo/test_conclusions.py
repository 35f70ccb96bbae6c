from shoal.experiments._results import Results
from shoal.experiments.leteo._conclusions import conclude


def times(*seconds, draws=2, spread=0.0):
    return Results([{"part": "times", "times": n, "draw": i, "seconds": s + spread * (i % 2)}
                    for n, s in enumerate(seconds, start=1) for i in range(draws)])  # fmt: skip


def verdict_on_time(results):
    claims = conclude(results, False).claims
    return next(c for c in claims if "behaved linearly" in c.quote).verdict


def test_time_is_linear_if_more_rows_take_no_more_than_their_share():
    assert verdict_on_time(times(1.0, 1.9, 2.8, 3.9)) == "holds"
    assert verdict_on_time(times(1.0, 4.0, 9.0, 16.0)) == "does not hold"
    assert verdict_on_time(times(1.0)) == "not judged"


def test_times_are_judged_by_as_many_runs_as_there_were():
    seconds = (1.0, 1.9, 2.8, 3.6)
    assert verdict_on_time(times(*seconds, draws=1)) == "cannot be told here"
    assert verdict_on_time(times(*seconds, draws=2, spread=0.1)) == "cannot be told here"
    assert verdict_on_time(times(*seconds, draws=20, spread=0.1)) == "holds"


def test_less_than_one_in_k_holds_only_where_there_are_more_than_k_equal_records():
    claims = conclude(Results([]), False).claims
    claim = next(c for c in claims if "re-identify the person" in c.quote)
    assert claim.verdict == "holds in part"
    assert "Speaks for it: more than k." in claim.detail


def test_every_figure_of_the_report_has_its_number_on_the_page():
    numbers = [exhibit.number for exhibit in conclude(Results([]), True).exhibits]
    assert numbers[:3] == ["Figure 1", "Figure 2", "Figure 3"]


def test_what_was_run_on_spark_is_shown_beside_what_was_run_here():
    scaled = [{"part": "spark scaling", "data": "blobs 2-D", "times": n, "rows": 100 * n,
               "seconds": float(n), "plain_seconds": 2.0 * n, "ratio": 1.0}
              for n in (1, 10)]  # fmt: skip
    timed = [{"part": "spark times", "times": n, "draw": 0, "seconds": 1.0 * n} for n in (1, 2, 3)]
    page = conclude(Results([*scaled, *timed]), True)
    claim = next(claim for claim in page.claims if "k-means||" in claim.text)
    assert claim.ours == "blobs 2-D, x10 rows: 10.0 and 10.0 times"
    by_number = {exhibit.number: exhibit for exhibit in page.exhibits}
    assert len(by_number["Run time"].figures) == 1
    assert len(by_number["Section 4.1, k-means||"].tables[0]["rows"]) == 2
    nothing = {exhibit.number: exhibit for exhibit in conclude(Results([]), True).exhibits}
    assert "--engine spark" in nothing["Section 4.1, k-means||"].missing
    assert "--only 'spark scaling'" in nothing["Section 4.1, k-means||"].missing
