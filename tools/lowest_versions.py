"""Print the lowest versions that ``pyproject.toml`` allows, as a constraints file.

python tools/lowest_versions.py > lowest.txt
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LOWER_BOUND = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)")


def lowest(requirements: Iterable[str]) -> list[str]:
    """A pin for each requirement with a lower bound; the others are left free.

    Parameters
    ----------
    requirements
        As in ``pyproject.toml``.

    Examples
    --------
    >>> lowest(["numpy>=2", "pyspark[connect]>=4,<5", "pandas<3"])
    ['numpy==2', 'pyspark==4']
    """
    bounds = filter(None, map(LOWER_BOUND.match, requirements))
    return sorted({f"{name}=={number}" for name, number in (bound.groups() for bound in bounds)})


def main() -> None:
    """Print the pins of the package and of its extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    print(
        *lowest([*project["dependencies"], *(each for extra in extras for each in extra)]), sep="\n"
    )


if __name__ == "__main__":
    main()
