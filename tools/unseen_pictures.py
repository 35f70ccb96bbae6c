"""Draw the pictures of "Cluster data you never see": reports, what is learnt, and without data.

The riders are made up, so their true places may be shown; those of people never are.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import shoal
from shoal.evaluate import score, score_picture
from shoal.figures import Figure, cell_map, true_cell_map
from shoal.pages.groups import LocalGroups

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
TOWN = shoal.Box(east_km=(0, 20), north_km=(0, 12))
QUARTERS = np.array([[4, 3], [9, 9], [15, 4], [17, 10]])
PEOPLE = 40_000


def riders() -> np.ndarray:
    """Where made-up riders live: round about four quarters, in equal shares."""
    rng = np.random.default_rng(1)
    return rng.normal(QUARTERS[np.arange(PEOPLE) % len(QUARTERS)], 0.7)


def main() -> None:
    """True rows, reports in two ways, what was learnt from each with and without data, scores."""
    rows = riders()
    for name, figure in true_pictures().items():
        _keep(name, figure)
    grid = shoal.LocalGrid(TOWN, epsilon=1, n_expected=PEOPLE, n_clusters=4)
    noise = shoal.mechanisms.PlanarLaplace(1, domain=TOWN)
    for name, mechanism, words in (
        ("grid", grid, "reports of a cell, LocalDP, epsilon 1"),
        ("laplace", noise, "places with noise, epsilon 1 per km"),
    ):
        reports = mechanism.release(TOWN.clip(rows), shoal.Randomness(1).noise)
        found, nothing = _groups(reports, 4).maps()
        _keep(f"unseen-{name}-found", replace(found, title=f"Learnt from {words}"))
        _keep(f"unseen-{name}-control", replace(nothing, title=f"The same without data, {words}"))
    _keep("unseen-reports", _counted(reports.values, "Reports at epsilon 1 per km", cell_map))
    _keep("unseen-scores", _scores(rows))


def true_pictures() -> dict[str, Figure]:
    """That of true places, by file name: labelled so, for comparison."""
    return {"unseen-true": _counted(riders(), "Made-up riders, true places", true_cell_map)}


def _groups(reports: shoal.Reports, k: int) -> LocalGroups:
    model = shoal.LocalClusterer(k, mechanism=reports.mechanism, random_state=1).fit(reports)
    control = model.control(random_state=1)
    return LocalGroups(model, control, len(reports), protects="a person")


def _scores(rows: np.ndarray) -> Figure:
    grid = shoal.LocalGrid(TOWN, epsilon=1, n_expected=PEOPLE, n_clusters=4)
    reports = grid.release(rows, shoal.Randomness(1).noise)
    model = shoal.LocalClusterer(4, mechanism=grid, random_state=1).fit(reports)
    nothing = [model.control(random_state=seed) for seed in range(5)]
    return score_picture(score(model, TOWN.clip(rows), control=nothing), "Scores in the town")


def _counted(points: np.ndarray, title: str, draw: Callable[..., Figure]) -> Figure:
    sides = list(zip(TOWN.low, TOWN.high, strict=True))
    counts, _, _ = np.histogram2d(*points.T, bins=48, range=sides)
    return draw(counts, names=TOWN.names, low=TOWN.low, high=TOWN.high, title=title)


def _keep(name: str, figure: Figure) -> None:
    (PICTURES / f"{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
