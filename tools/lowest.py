"""Print a constraints file that pins what pyproject.toml asks for to the lowest versions it allows.

`make lowest` installs shoal with it, so that a bound which is too low fails there and not at a
user's. What has no lower bound is left out.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?.*?>=\s*(?P<version>[\w.]+)")


def lowest(requirements: list[str]) -> Iterator[str]:
    """The lowest version of each requirement that has a lower bound, as a constraint."""
    for bound in filter(None, map(BOUND.match, requirements)):
        yield f"{bound['name']}=={bound['version']}"


def main() -> None:
    """Print the constraints of core and extras, each package once."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    print(*dict.fromkeys(lowest(sum(extras, project["dependencies"]))), sep="\n")


if __name__ == "__main__":
    main()
