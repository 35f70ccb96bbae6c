from shoal.experiments.leteo.conclusions import conclude
from shoal.experiments.results import Results


def times(*seconds):
    return Results([{"part": "times", "times": n, "draw": i, "seconds": s}
                    for n, s in enumerate(seconds, start=1) for i in range(2)])  # fmt: skip


def verdict_on_time(results):
    return next(c for c in conclude(results, True).claims if "linear" in c.text).verdict


def test_time_is_linear_if_more_rows_take_no_more_than_their_share():
    assert verdict_on_time(times(1.0, 1.9, 2.8, 3.9)) == "holds"
    assert verdict_on_time(times(1.0, 4.0, 9.0, 16.0)) == "does not hold"
    assert verdict_on_time(times(1.0)) == "cannot be tested here"


def test_every_figure_of_the_report_has_its_number_on_the_page():
    numbers = [exhibit.number for exhibit in conclude(Results([]), True).exhibits]
    assert numbers[:3] == ["Figure 1", "Figure 2", "Figure 3"]
