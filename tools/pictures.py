"""Draw the pictures of the documentation, from made-up rows and seeded noise."""

from pathlib import Path

import shoal
from shoal.figures import cell_map

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def cells() -> None:
    """The made-up students of the guide, at three budgets."""
    box = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
    grid = shoal.Grid(box, 24)
    counts = shoal.rows_of(shoal.students(10_000, seed=1), box).count(grid)
    for epsilon in ("0.1", "1", "5"):
        page = shoal.Ledger().open(shoal.PureDP(epsilon), by="documentation")
        noise = shoal.Randomness(1).noise
        noisy = page.release(shoal.Geometric(page.budget), counts, noise, of="cell counts")
        figure = cell_map(
            noisy.reshape(grid.shape),
            names=["Sessions a week", "Minutes a session"],
            low=box.low,
            high=box.high,
            title=f"Made-up students at epsilon {epsilon}",
        )
        (PICTURES / f"cells-{epsilon}.svg").write_text(figure.svg())


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    cells()
