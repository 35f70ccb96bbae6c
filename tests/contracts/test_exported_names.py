"""Parts that could leave any day import exported names of other packages only."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
FACES = ("collector", "experiments", "spark_ml", "studio")
# Beside packages, these modules say in `__all__` what others may use.
MODULES = {"arrays", "documents", "errors", "estimator", "randomness"}
# A package that loads its names when they are used would take these thirty lines along.
FACADES = ("shoal._lazy", "names_when_used")


def imported(text):
    """Yield each module of ours that a file imports from, and the name it takes."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shoal":
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.split(".")[0] == "shoal")


def is_exported(module, name):
    """Whether a package, or a module beside the packages, has the name in its ``__all__``."""
    home = import_module(module)
    is_facade = hasattr(home, "__path__") or module.removeprefix("shoal.") in MODULES
    is_package = (
        hasattr(home, "__path__") and (SOURCE.parent / module.replace(".", "/") / name).is_dir()
    )
    return is_facade and (is_package or name in getattr(home, "__all__", ()))


def violations(part, text):
    """Return what a file of a part imports of other packages and may not."""
    others = [
        (module, name)
        for module, name in imported(text)
        if f"{module}.".split(".")[1] != part and (module, name) != ("shoal", part)
    ]
    return [each for each in others if each != FACADES and not is_exported(*each)]


FILES = [
    (part, path.relative_to(SOURCE).as_posix())
    for part in FACES
    for path in sorted((SOURCE / part).rglob("*.py"))
]


@pytest.mark.parametrize(("part", "file"), FILES)
def test_a_part_that_could_leave_imports_exported_names_only(part, file):
    assert violations(part, (SOURCE / file).read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "from shoal.privacy._exact_numbers import exact_budget",
        "from shoal.cluster.group_sizes import NoiseSum",
        "from shoal.cluster import group_sizes",
        "from shoal.errors import _plain",
        "import shoal.privacy._exact_numbers",
    ],
)
def test_what_is_not_exported_is_seen(line):
    assert violations("collector", line)


@pytest.mark.parametrize(
    "line",
    [
        "from shoal.privacy import exact_budget",
        "from shoal.errors import InvalidSetting",
        "from shoal import evaluate",
        "from shoal.collector._report_batches import who_of",
    ],
)
def test_what_is_exported_or_its_own_is_not(line):
    assert not violations("collector", line)
