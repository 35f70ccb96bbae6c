"""Draw the noise of each local mechanism, at three budgets, with its words for the page.

Clouds and histograms show 200,000 simulated reports of one made-up record, bars the chances of the
proofs. Beside the picture a snippet is written that the page includes, so that a picture and its
description cannot part.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.figures import Figure, noise_bars, noise_histogram, noise_map

DOCS = Path(__file__).parents[1] / "docs"
DRAWS = 200_000
BUDGETS = ("0.5", "1", "4")


def drawn(
    make: Callable[[str], Any], record: Any, budgets: Iterable[str] = BUDGETS
) -> dict[str, Any]:
    """Many reports of one record, by budget."""
    return {
        f"epsilon {epsilon}": np.asarray(
            make(epsilon).release([record] * DRAWS, shoal.Randomness(1).noise)
        )
        for epsilon in budgets
    }


def laplace() -> Figure:
    """A place on a plane, epsilon per kilometre."""
    budgets = ("0.5", "1", "2")
    return noise_map(
        drawn(shoal.mechanisms.PlanarLaplace, (0, 0), budgets),
        truth=(0, 0),
        reach=10.3,
        unit="km",
        title="Planar Laplace noise around one place",
        finding="Reports crowd around the true place and thin out evenly in all directions.",
        rings={f"epsilon {e}": _rings(shoal.mechanisms.PlanarLaplace(e)) for e in budgets},
    )


def restrict() -> Figure:
    """The same, drawn again until inside a box."""
    box = shoal.Box(x=(-5, 5), y=(-5, 5))
    return noise_map(
        drawn(
            lambda e: shoal.mechanisms.Restrict(shoal.NDLaplace(e), box), (-3, -3), ("1", "2", "4")
        ),
        truth=(-3, -3),
        reach=5.6,
        middle=(0, 0),
        box=(box.low, box.high),
        title="Laplace noise redrawn until the report lies in the box",
        finding="All reports lie in the box; near the record they are densest.",
    )


def remaps() -> Figure:
    """One set of reports after each of the three remaps."""
    box = shoal.Box(x=(-5, 5), y=(-5, 5))
    mechanism = shoal.mechanisms.PlanarLaplace(1, domain=box)
    reports = mechanism.release([(-3, 1)] * DRAWS, shoal.Randomness(1).noise)
    after = {
        "clamp": shoal.mechanisms.clamp(box),
        "snap, 11 nodes": shoal.mechanisms.snap(box, nodes=11),
        "Bayes remap": shoal.mechanisms.bayes_remap(_two_towns()),
    }
    return noise_map(
        {name: remap(reports).values for name, remap in after.items()},
        truth=(-3, 1),
        reach=5.6,
        middle=(0, 0),
        box=(box.low, box.high),
        title="Reports at epsilon 1 after each remap",
        finding="Clamped reports pile up on the edge, snapped ones on nodes; with a public prior "
        "of two towns the reports move towards the towns.",
    )


def _two_towns() -> tuple[np.ndarray, np.ndarray]:
    """A made-up public map of where people live: most in one of two towns."""
    axis = np.linspace(-5, 5, 21)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    far = [np.sum((points - town) ** 2, axis=1) for town in ((-3.0, 1.0), (2.5, -2.0))]
    return points, 0.002 + np.exp(-far[0] / 2) + np.exp(-far[1] / 2)


def piecewise() -> Figure:
    """One number."""
    return _one_number(
        drawn(shoal.mechanisms.Piecewise, [0.4]),
        low=-8.4,
        high=8.4,
        title="Piecewise: reports of 0.4",
        finding="A window around the value is likelier than the rest; it narrows as epsilon grows.",
    )


def hybrid() -> Figure:
    """One number."""
    return _one_number(
        drawn(shoal.mechanisms.Hybrid, [0.4]),
        low=-5,
        high=5,
        title="Hybrid: reports of 0.4",
        finding="At epsilon 0.5 two values only; from 0.61 on a window besides them.",
    )


def staircase() -> Figure:
    """One number."""
    return _one_number(
        drawn(shoal.mechanisms.Staircase, [0.4]),
        low=-9.6,
        high=10.4,
        title="Staircase: reports of 0.4",
        finding="The density falls in steps as wide as the range, by a factor e^epsilon each.",
    )


def square_wave() -> Figure:
    """One number."""
    return _one_number(
        drawn(shoal.mechanisms.SquareWave, [0.4]),
        low=-0.45,
        high=1.45,
        name="Report of a value from 0 to 1",
        title="Square Wave: reports of 0.4",
        finding="A block around the value is likelier than the rest of the range.",
    )


def mixed() -> Figure:
    """The numeric column of a record of two columns."""

    def age(epsilon: str) -> Any:
        columns = {"age": (0.0, 110.0), "sex": shoal.Categories(["F", "M"])}
        return shoal.mechanisms.Mixed(epsilon, columns).mechanisms["age"]

    return noise_histogram(
        drawn(age, [40.0], ("1", "2", "8")),
        truth=40,
        low=-195,
        high=305,
        name="Reported age",
        title="Mixed: the age column at half of epsilon",
        finding="The age of a record of two columns, reported through Hybrid at half of epsilon.",
    )


def priv_unit() -> Figure:
    """Two numbers in a ball."""
    return noise_map(
        drawn(shoal.mechanisms.PrivUnit, (0.8, 0.6), ("2", "4", "8")),
        truth=(0.8, 0.6),
        reach=4.4,
        middle=(0, 0),
        box=((-1, -1), (1, 1)),
        title="PrivUnit: reports of (0.8, 0.6)",
        finding="A Gaussian cloud around the centre that leans towards the record.",
    )


def duchi() -> Figure:
    """Two numbers, reported as a corner: own corner e^epsilon to 1 against each of three others."""
    return noise_bars(
        _at_budgets(lambda E: np.array([1, E, 1, 1]) / (E + 3)),
        names=["++", "+−", "−+", "−−"],
        truth=[1],
        title="Duchi: reports of the corner (1, -1)",
        finding="The record's own corner leads; all others are equally likely.",
    )


def harmony() -> Figure:
    """Two numbers, of which one sign is reported."""
    return noise_bars(
        _at_budgets(lambda E: np.array([E, 1, 1, E]) / (2 * (E + 1))),
        names=["1+", "1−", "2+", "2−"],
        truth=[0, 3],
        title="Harmony: reports of (1, -1)",
        finding="Half of the reports are about each column; the true sign leads in both.",
    )


TRIPS = ["bus", "bike", "foot", "car"]


def randomized_response() -> Figure:
    """A category."""
    return noise_bars(
        _at_budgets(lambda E: np.array([E, 1, 1, 1]) / (E + 3)),
        names=TRIPS,
        truth=[0],
        title="Randomised response: reports of one who takes the bus",
        finding="The true answer leads; all others are equally likely.",
    )


def unary_encoding() -> Figure:
    """A category, a bit for each."""
    return noise_bars(
        _at_budgets(lambda E: np.array([1 / 2, *[1 / (E + 1)] * 3])),
        names=TRIPS,
        truth=[0],
        of="a 1 in each place",
        title="Unary encoding: bits of one who takes the bus",
        finding="The true bit is a fair coin; the others are 1 less often the larger epsilon is.",
    )


def local_grid() -> Figure:
    """A cell of a grid of 16 by 16."""
    fits = {}
    for epsilon in BUDGETS:
        ratio, buckets = np.exp(float(epsilon)), _grid(epsilon).oracle.buckets
        fits[f"epsilon {epsilon}"] = [ratio / (ratio + buckets - 1), *[1 / buckets] * 3]
    return noise_bars(
        fits,
        names=["own", "next", "north", "far"],
        truth=[0],
        of="a report that fits each cell",
        title="Local grid: which cells a report fits",
        finding="A report fits many cells; the true one is a little likelier among them.",
    )


def _grid(epsilon: str) -> Any:
    return shoal.LocalGrid(shoal.Box.unit(2), epsilon=epsilon, cells=16)


def _at_budgets(chances: Callable[[float], np.ndarray]) -> dict[str, np.ndarray]:
    """By budget, chances that are a formula of E = e^epsilon."""
    return {f"epsilon {epsilon}": chances(np.exp(float(epsilon))) for epsilon in BUDGETS}


_one_number = partial(noise_histogram, truth=0.4, name="Report of a value from -1 to 1")


def _rings(mechanism: shoal.mechanisms.PlanarLaplace) -> tuple[float, float]:
    return mechanism.error_quantile(0.5), mechanism.error_quantile(0.95)


PICTURES = (
    *(laplace, restrict, remaps, piecewise, hybrid, duchi, harmony, priv_unit),
    *(square_wave, staircase, randomized_response, unary_encoding, local_grid, mixed),
)


if __name__ == "__main__":
    for picture in PICTURES:
        figure, name = picture(), picture.__name__.replace("_", "-")
        (DOCS / "pictures" / f"noise-{name}.svg").write_text(figure.svg())
        words = f"![{figure.alt}](../pictures/noise-{name}.svg)\n"
        (DOCS / "snippets" / f"noise-{name}.md").write_text(words)
