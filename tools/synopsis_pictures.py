"""Draw the pictures of "Publish a synopsis": made-up students, through three synopses.

python tools/synopsis_pictures.py
"""

from pathlib import Path

import shoal

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BOX = shoal.Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120))
KINDS = {
    "uniform": shoal.UniformGrid,
    "adaptive": shoal.AdaptiveGrid,
    "tree": shoal.PrivTree,
}


def main() -> None:
    """A picture for each synopsis, and one of the adaptive grid at a tenth of the budget."""
    students = shoal.students(10_000, seed=1)
    for name, kind in KINDS.items():
        for epsilon in ("1", "0.1") if name == "adaptive" else ("1",):
            synopsis = kind(epsilon=epsilon, domain=BOX, random_state=1).fit(students)
            (PICTURES / f"synopsis-{name}-{epsilon}.svg").write_text(synopsis.plot().svg())


if __name__ == "__main__":
    main()
