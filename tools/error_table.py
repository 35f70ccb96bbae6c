"""Compute the tables of "Which mechanism?" and write them into the page.

    python tools/error_table.py

Errors are exact: each mechanism's own variance, averaged over records spread evenly over
[-1, 1]^d. Every variance here is a straight line in the squares of the columns, each of mean 1/3,
so its value where all columns are sqrt(1/3) is that average.
"""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

import shoal

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "which-mechanism.md"
Error = Callable[[int, float], float]


def nd_laplace(d: int, epsilon: float) -> float:
    """Noise whose metric promise on the box comes to LocalDP(epsilon)."""
    box = shoal.Box.of([f"x{i}" for i in range(d)], np.full(d, -1.0), np.full(d, 1.0))
    noise = shoal.NDLaplace(Fraction(epsilon) / Fraction(box.diameter), domain=box)
    assert math.isclose(noise.guarantee.as_local(box).epsilon, epsilon, rel_tol=1e-5)
    return d * (d + 1) / noise.rate**2  # the mean square of a Gamma(d) radius


def laplace_split(d: int, epsilon: float) -> float:
    """Laplace noise on each column at epsilon / d."""
    return d * nd_laplace(1, epsilon / d)


def piecewise_split(d: int, epsilon: float) -> float:
    """Piecewise on each column at epsilon / d."""
    return d * _of(shoal.mechanisms.Piecewise(epsilon / d), 1)


def staircase_split(d: int, epsilon: float) -> float:
    """Staircase on each column at epsilon / d."""
    return d * _of(shoal.mechanisms.Staircase(epsilon / d), 1)


def _of(mechanism: shoal.mechanisms.Piecewise, d: int) -> float:
    return float(mechanism.variance(np.full(d, math.sqrt(1 / 3))).sum())


def _whole(make: Callable[[float], shoal.mechanisms.Piecewise]) -> Error:
    return lambda d, epsilon: _of(make(epsilon), d)


NUMERIC: dict[str, Error] = {
    "Laplace, split": laplace_split,
    "Staircase, split": staircase_split,
    "`NDLaplace`": nd_laplace,
    "Piecewise, split": piecewise_split,
    "`Piecewise`": _whole(shoal.mechanisms.Piecewise),
    "`Hybrid`": _whole(shoal.mechanisms.Hybrid),
    "`Harmony`": _whole(shoal.mechanisms.Harmony),
    "`Duchi`": _whole(shoal.mechanisms.Duchi),
    "`PrivUnit`": _whole(shoal.mechanisms.PrivUnit),
}
COLUMNS, BUDGETS = (1, 2, 7, 10), (1, 5)
LISTS = [(k, epsilon) for k in (2, 4, 16, 64, 256) for epsilon in (1, 3)]


def numeric_tables() -> str:
    """Mean squared error of one report, all columns together; a table for each budget."""
    return "\n\n".join(
        f"**At epsilon {epsilon}**\n\n{numeric_table(epsilon)}" for epsilon in BUDGETS
    )


def numeric_table(epsilon: float) -> str:
    """At one budget."""
    head = ["", "1 column", *(f"{d} columns" for d in COLUMNS[1:])]
    columns = [_marked([error(d, epsilon) for error in NUMERIC.values()]) for d in COLUMNS]
    return _table(head, list(zip(NUMERIC, *columns, strict=True)))


def category_table(people: int = 10_000) -> str:
    """Standard error of a rare category's share, in points of 100."""
    lines = []
    for k, epsilon in LISTS:
        both = (
            shoal.mechanisms.RandomizedResponse(epsilon, k),
            shoal.mechanisms.UnaryEncoding(epsilon, k),
        )
        errors = [100 * math.sqrt(mechanism.variance() / people) for mechanism in both]
        chosen = type(shoal.mechanisms.frequency_oracle(epsilon, k)).__name__
        lines.append([f"{k}, {epsilon}", *_marked(errors), f"`{chosen}`"])
    head = ["values, epsilon", "`RandomizedResponse`", "`UnaryEncoding`", "`frequency_oracle`"]
    return _table(head, lines)


def _marked(errors: Sequence[float]) -> list[str]:
    """Three digits each, the least in bold."""
    shown = [_three_digits(error) for error in errors]
    least = shown[int(np.argmin(errors))]
    return [f"**{each}**" if each == least else each for each in shown]


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


TABLES = {"numeric": numeric_tables, "categories": category_table}


def with_tables(page: str) -> str:
    """The page with what stands between its markers computed anew."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name}: by tools/error_table.py -->", f"<!-- {name}: end -->"
        new = f"{begin}\n\n{table()}\n\n{end}"
        page, found = re.subn(f"{begin}.*?{end}", lambda _, new=new: new, page, flags=re.DOTALL)
        assert found == 1, f"the page has no place for the table {name}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
