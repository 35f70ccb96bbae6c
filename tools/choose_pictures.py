"""Draw the pictures of "Choose k" and "How good is it?": curves and scores of made-up rows."""

from pathlib import Path

import numpy as np

import shoal
from shoal import choose
from shoal.cluster._without_data import without_data
from shoal.evaluate import score, score_picture
from shoal.figures import Figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BOX = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
STUDENTS = shoal.students(10_000, seed=1)
ROWS = np.column_stack([STUDENTS[name] for name in BOX.names])


def main() -> None:
    """Four ways to count groups, two settings read off curves, and scores at two budgets."""
    synopsis = shoal.AdaptiveGrid(epsilon=1, domain=BOX, random_state=1).fit(STUDENTS)
    for by in ("simulation", "elbow", "silhouette", "gap"):
        _keep(f"choose-{by}", choose.k(synopsis, by=by, among=range(1, 11)).plot())
    _keep("choose-radius", choose.radius(synopsis).plot())
    _keep("choose-preference", choose.preference(ROWS[:500]).plot())
    for epsilon in ("0.001", "1"):
        model = shoal.PrivateKMeans(4, epsilon=epsilon, domain=BOX, random_state=1).fit(STUDENTS)
        nothing = [without_data(model, random_state=seed) for seed in range(5)]
        table = score(model, ROWS, control=nothing)
        _keep(f"scores-{epsilon}", score_picture(table, f"Scores at epsilon {epsilon}"))


def _keep(name: str, figure: Figure) -> None:
    (PICTURES / f"{name}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
