import json

import numpy as np
import pytest

from shoal.errors import InvalidSetting, NotPublishable
from shoal.figures import cell_map
from shoal.mechanisms import Geometric
from shoal.pages import findings, render
from shoal.privacy import (
    ApproxDP,
    Ledger,
    LocalDP,
    Protected,
    Public,
    PureDP,
    Released,
    Result,
    Unprotected,
)
from shoal.randomness import Randomness

MAP = cell_map([[4, 1]], names=["a", "b"], low=[0, 0], high=[1, 1], title="t")


def result(guarantee=None, settings=(), released=(), protected=()):
    return Result("test", guarantee or PureDP(1), dict(settings), dict(released), dict(protected))


def test_the_dictionary_is_json_and_names_its_schema():
    released = {
        "figures": Released([MAP]),
        "counts": Released(np.arange(3)),
        "n": Released(np.int64(7)),
    }
    found = findings(result(settings={"title": Public("T")}, released=released))
    again = json.loads(json.dumps(found))
    assert again["schema"] == "shoal.report/1"
    assert again["audience"] == "public"
    assert again["guarantee"]["epsilon"] == "1"
    assert again["result"]["values"] == {"counts": [0, 1, 2], "n": 7}
    assert [f["section"] for f in again["figures"]] == ["promise", "promise", "result"]


@pytest.mark.parametrize(
    "leaf",
    [
        Protected(10_000),
        Released([1, Protected(2)]),
        Released({"deep": {"er": (Protected(3),)}}),
        10_000,
    ],
)
def test_a_protected_or_unmarked_value_is_refused_not_dropped(leaf):
    with pytest.raises(
        NotPublishable, check=lambda error: error.reason == "protected value"
    ) as caught:
        findings(result(released={"rows": leaf}))
    assert "'rows'" in caught.value.message
    assert "10000" not in str(caught.value)


def test_a_released_value_among_the_settings_is_refused():
    with pytest.raises(NotPublishable, check=lambda error: error.reason == "protected value"):
        findings(result(settings={"n": Released(5)}))


def test_the_protected_part_of_a_result_never_reaches_a_public_page():
    found = findings(result(protected={"exact_rows": Protected(987_654)}))
    assert "987654" not in json.dumps(found)
    assert "exact_rows" not in json.dumps(found)


def test_a_result_without_a_promise_is_published_only_if_nobody_is_in_it():
    with pytest.raises(NotPublishable):
        findings(result(Unprotected("Plain.")))
    found = findings(result(Unprotected("Plain."), {"source": Public("synthetic")}))
    assert found["limits"] is None


def test_an_unknown_audience_is_refused():
    with pytest.raises(InvalidSetting):
        findings(result(), "friends")


def test_the_curators_page_shows_what_the_public_one_leaves_out():
    protected = {"lines": Protected(["4711 rows stood alone."])}
    told = Result("test", PureDP(1), {}, {}, protected)
    assert findings(told)["protected"] is None
    assert "4711" not in render(findings(told))
    page = render(findings(told, "curator"))
    assert "4711 rows stood alone." in page
    assert page.index("<title>CURATOR ONLY") < page.index("Contains protected numbers.")


def test_the_label_has_eight_fields_in_one_order_and_admits_gaps():
    label = findings(result())["label"]
    assert [f["name"] for f in label] == [
        "Promise", "Protected", "Compared with", "Who saw the rows", "Bounds", "Noise",
        "All releases so far", "Evidence",
    ]  # fmt: skip
    assert label[3]["value"] == "not stated"


def test_a_simulation_is_marked():
    found = findings(result(PureDP(1, simulation=True)))
    assert found["simulation"] is True
    assert found["banner"].startswith("Simulation.")
    assert findings(result())["banner"] is None


def spent(ledger, *budgets):
    for epsilon in budgets:
        page = ledger.open(PureDP(epsilon), by="test")
        page.release(Geometric(page.budget), np.zeros(3, dtype=int), Randomness().noise, of="x")
    return ledger


def test_the_first_release_from_a_table_shows_one_limit():
    found = findings(result(), ledger=spent(Ledger(limit=PureDP(3)), 1))
    assert found["limits_in_all"] is None
    assert found["label"][6]["value"] == "ε = 1 of a limit of 3"
    assert [(p["part"], p["amount"], p["share"]) for p in found["ledger"]["bar"]] == [
        ("here", "1", 333),
        ("left", "2", 667),
    ]


def test_a_later_release_shows_both_limits():
    found = findings(result(), ledger=spent(Ledger(), "0.5", 1))
    assert found["limits_in_all"]["epsilon"] == "1.5"
    assert found["limits_in_all"]["advantage"] == "64"
    assert [p["part"] for p in found["ledger"]["bar"]] == ["earlier", "here"]


def test_simulations_count_towards_the_limit_and_are_said_to_be_some():
    ledger = spent(Ledger(limit=PureDP(3)), 1)
    page = ledger.open(PureDP("0.5"), by="test")
    page.release(Geometric(page.budget), np.zeros(3, dtype=int), Randomness(7).noise, of="x")
    found = findings(result(), ledger=ledger)
    assert found["label"][6]["value"] == "ε = 1.5 of a limit of 3; ε = 0.5 of it simulated"
    assert found["ledger"]["simulated"] == "0.5"
    assert found["ledger"]["left"] == "1.5"


def test_what_is_left_is_rounded_down_and_what_is_spent_up():
    found = findings(result(PureDP("2/3")), ledger=spent(Ledger(limit=PureDP(1)), "2/3"))
    assert [p["amount"] for p in found["ledger"]["bar"]] == ["about 0.667", "about 0.333"]
    assert found["ledger"]["left"] == "about 0.333"


def test_chances_in_the_lead_are_cut_out_for_colour():
    parts = findings(result())["lead"]
    assert [p["text"] for p in parts if p["role"]] == ["10 in 100", "at most 24 in 100"]
    assert "".join(p["text"] for p in parts) == findings(result())["sentences"]["lead"]
    large = findings(result(PureDP(20)))["lead"]
    assert [p["text"] for p in large if p["role"]] == ["10 in 100", "over 99 in 100"]


def test_small_releases_that_are_large_together_are_called_out():
    small, large = (findings(result(), ledger=spent(Ledger(), e, 1)) for e in ("3.9", 4))
    line = "With all releases counted, a 1 in 100 guess can become 60 in 100."
    assert line in large["sentences"]["fails"]
    assert line not in small["sentences"]["fails"]


def test_a_chance_of_failure_is_on_the_label_and_beside_the_limits():
    told = findings(Result("test", ApproxDP(1, 1e-9)), ledger=Ledger())
    assert told["label"][0]["value"].startswith("ε = 1, δ = 0.000000001")
    assert told["limits"]["but_for"] == "1 in 1,000,000,000"
    assert "may fail with a chance of at most 1 in 1,000,000,000" in render(told)
    assert findings(Result("test", PureDP(1)))["limits"]["but_for"] is None


@pytest.mark.parametrize(
    ("guarantee", "guessed"),
    [
        (PureDP(1), "whether you took part"),
        (PureDP(1, neighbours="replace-one"), "which of two candidates is your true value"),
        (ApproxDP(1, "1e-9", neighbours="replace-one", rows=5), "candidates is your true value"),
        (LocalDP(1), "which of two candidates your answer was"),
    ],
)
def test_what_an_outsider_guesses_is_what_the_promise_hides(guarantee, guessed):
    (line,) = [line for line in render(findings(result(guarantee))).split("<p>")
               if "when someone guesses" in line]  # fmt: skip
    assert guessed in line
