"""Draw the picture of README.md and of the docs' front page: the demo's map, from a seeded run."""

from pathlib import Path

from shoal.cli.inputs.demo_results import make_demo
from shoal.cli.verbs.demo import STUDENTS
from shoal.data.made_up import MADE_UP
from shoal.pages.demo import map_pair
from shoal.privacy import PureDP
from shoal.randomness import Randomness

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SEED = 7


def demo_pictures() -> dict[str, str]:
    """Return the pictures by the name of their file."""
    rng, example = Randomness(SEED), MADE_UP["school"]
    students = example.table(STUDENTS, rng.seed())
    demo = make_demo(students, example.domain, rng, PureDP(1), seed=SEED)
    return {"demo-map.svg": map_pair(demo).svg()}


if __name__ == "__main__":
    for name, svg in demo_pictures().items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
        print(PICTURES / name)
