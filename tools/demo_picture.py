"""Draw the picture of README.md and of the docs' front page: the demo's map, from a seeded run."""

from pathlib import Path
from typing import Any

from shoal.cli.inputs import _demo_results as demo_results
from shoal.cli.verbs._demo import STUDENTS
from shoal.data.made_up import MADE_UP
from shoal.pages.demo import MAP, Demo, map_pair
from shoal.privacy import PureDP
from shoal.randomness import Randomness

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SEED = 7


def demo_pictures() -> dict[str, str]:
    """Return the pictures by the name of their file."""
    rng, example = Randomness(SEED), MADE_UP["school"]
    students = example.table(STUDENTS, rng.seed())
    model = demo_results._fitted(example.domain, PureDP(1), students, random_state=SEED)
    labels, plain = demo_results._plain_groups(example.domain, students, model, rng.seed())
    rows = demo_results._numbers(students, MAP)
    attack: Any = None  # not on the map
    demo = Demo(model, rows, labels, plain[:, :2], {}, (), attack, attack)
    return {"demo-map.svg": map_pair(demo).svg()}


if __name__ == "__main__":
    for name, svg in demo_pictures().items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
        print(PICTURES / name)
