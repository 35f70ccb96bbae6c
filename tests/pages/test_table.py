import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.risk._reidentification import Population, Risk
from shoal.pages._table_risk import chance_text, risk_lines


@given(st.floats(1e-6, 1))
def test_a_chance_is_never_understated(value):
    whole = int(chance_text(value).removeprefix("1 in ").replace(",", ""))
    assert 1 / whole >= value * (1 - 1e-6)
    assert 1 / (whole + 1) < value * (1 + 1e-6)


def test_without_a_population_the_journalist_is_a_prosecutor_and_it_is_said():
    lines = risk_lines(Risk.of([[5, 2]], 5), 5, "rows", None)
    assert lines[1] == (
        "Journalist, who does not know that: 1 in 5 at most. Without a population table this is "
        "the prosecutor's chance."
    )


def test_a_population_changes_the_journalists_line_alone_and_the_marketers():
    people = Population(np.array([5, 5]), np.array([50, 500]))
    with_it = risk_lines(Risk.of([[5, 2]], 5, people), 5, "rows", people)
    without = risk_lines(Risk.of([[5, 2]], 5), 5, "rows", None)
    assert [a == b for a, b in zip(with_it, without, strict=True)] == [True, False, False, True]
    assert "1 in 50 at most" in with_it[1]


@pytest.mark.parametrize(("sizes", "said"), [([[5, 2]], "0 %"), ([[1, 5], [5, 1]], "50 %")])
def test_who_stands_below_k_is_counted(sizes, said):
    assert risk_lines(Risk.of(sizes, 5), 5, "people", None)[-1].startswith(f"{said} of all people")
