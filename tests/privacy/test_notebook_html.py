import numpy as np
import pytest

from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace, Reports
from shoal.privacy import (
    ApproxDP,
    KAnonymity,
    LocalDP,
    MetricDP,
    Protected,
    Public,
    PureDP,
    Released,
    Result,
    Unprotected,
)
from shoal.privacy.notebook_html import promise_sentences, summary_html

GUARANTEES = (
    PureDP(1),
    PureDP(1, "replace-one"),
    ApproxDP(1, "1e-6"),
    LocalDP(2),
    MetricDP(2),
    KAnonymity(5),
    Unprotected("a test <b>"),
)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_a_guarantee_shows_itself_in_words(guarantee):
    shown = guarantee._repr_html_()
    assert type(guarantee).__name__ in shown
    assert "<p>" in shown
    assert "<b>" not in shown


def test_a_promise_is_shown_as_what_a_guess_can_become():
    assert "at most 24 in 100" in PureDP(1)._repr_html_()


def test_a_simulation_says_first_that_it_protects_nobody():
    sentences = promise_sentences(PureDP(1, simulation=True))
    assert sentences[0].startswith("Simulation.")
    assert sentences[1].startswith("With real noise: If someone")


def test_a_result_shows_what_may_be_seen_and_names_the_rest():
    result = Result(
        "private <k-means>",
        PureDP(1),
        {"k": Public(3)},
        {"centers": Released(np.array([[1.5, 2.5]]))},
        {"inertia": Protected(8675309.5)},
    )
    shown = result._repr_html_()
    assert "private &lt;k-means&gt;" in shown
    assert "[[1.5 2.5]]" in shown
    assert "not shown: inertia." in shown
    assert "8675309" not in shown


def test_reports_show_how_many_there_are_and_what_they_promise():
    grid = LocalGrid(Box(age=(0, 100)), epsilon=2, cells=4)
    shown = Reports(np.array([1, 2, 3]), grid)._repr_html_()
    assert "<td>3</td>" in shown
    assert "at most 46 in 100" in shown
    many = Reports(np.zeros((5, 2)), NDLaplace(1), simulation=True)._repr_html_()
    assert "Simulation." in many


def test_long_values_are_cut():
    assert len(summary_html("Long", {"text": "w" * 10_000})) < 300
