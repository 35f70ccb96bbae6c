"""Draw the pictures of the documentation: of made-up rows, or of reports that were protected."""

import os
from pathlib import Path

import numpy as np

import shoal
from shoal.engine import Rows
from shoal.figures import cell_map
from shoal.mechanisms.local.laplace._prior import em_prior
from shoal.perturb import Streamed

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def cells() -> None:
    """The made-up students of the guide, at three budgets."""
    box = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
    grid = shoal.domain.Grid(box, 24)
    counts = shoal.rows_of(shoal.students(10_000, seed=1), box).count(grid)
    for epsilon in ("0.1", "1", "5"):
        page = shoal.Ledger().open(shoal.PureDP(epsilon), by="documentation")
        noise = shoal.Randomness(1).noise
        noisy = page.release(
            shoal.mechanisms.Geometric(page.budget), counts, noise, of="cell counts"
        )
        figure = cell_map(
            noisy.reshape(grid.shape),
            names=["Sessions a week", "Minutes a session"],
            low=box.low,
            high=box.high,
            title=f"Made-up students at epsilon {epsilon}",
        )
        (PICTURES / f"cells-{epsilon}.svg").write_text(figure.svg())


NEW_YORK = shoal.Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.6))


def check_ins() -> None:
    """Gowalla in New York: one protected report a person, at three budgets, and what they tell.

    Real noise, and no true row: nothing here comes from anything but reports and the extent.
    """
    data = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "geo" / "gowalla_nyc.csv.gz"
    once = {"person": "user", "max_rows_per_person": 1}
    rows = shoal.rows_of(data, NEW_YORK, outside="refuse", **once)
    for epsilon in ("0.25", "1", "4"):
        reports = _reported(shoal.mechanisms.PlanarLaplace(epsilon, domain=NEW_YORK), rows)
        _map(f"reports-{epsilon}", f"Reports at epsilon {epsilon} per km", reports.values)
        if epsilon == "1":
            prior = em_prior(reports)
            people = prior.weights * len(reports)
            _map("reports-estimated", "Density estimated from them", prior.atoms, people)


def _reported(mechanism: shoal.mechanisms.PlanarLaplace, rows: Rows) -> shoal.Reports:
    page = shoal.Ledger().open(mechanism.guarantee, by="documentation")
    drawn = page.release(Streamed(mechanism), rows, shoal.Randomness().noise, of="reports")
    values = [np.column_stack(batch.columns) for batch in drawn.batches()]
    return shoal.Reports(np.concatenate(values), mechanism)


def _map(name: str, title: str, points: np.ndarray, weights: np.ndarray | None = None) -> None:
    low, high = NEW_YORK.low[::-1], NEW_YORK.high[::-1]  # longitude across
    across = list(zip(low, high, strict=True))
    counts, _, _ = np.histogram2d(*points.T[::-1], bins=48, range=across, weights=weights)
    names = ["Longitude", "Latitude"]
    figure = cell_map(np.rint(counts), names=names, low=low, high=high, title=title)
    (PICTURES / f"{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    cells()
    check_ins()
