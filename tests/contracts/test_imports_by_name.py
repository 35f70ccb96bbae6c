"""Modules named in texts, to be imported when a call needs them, obey the table of layers too.

``lint-imports`` sees import statements only: a text that names a module goes round it.
"""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULE = re.compile(r"shoal\.(\w+\.?)*")
# `import shoal` shows what every package exports.
FACADES = {"shoal/__init__.py": {"shoal."}}


def layers():
    """Return each package's number in the contract, from 0 for the one that imports all others."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (rows,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    return {
        name: number for number, row in enumerate(rows) for name in re.findall(r"shoal\.(\w+)", row)
    }


LAYERS = layers()


def texts_not_imported(tree):
    """Yield docstrings, and what names are compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
            yield from node.args


def named_modules(tree):
    """Yield the texts of a file that are the name of a module of ours, or begin with one."""
    left_out = {id(node) for node in texts_not_imported(tree)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    for node in texts:
        is_name = isinstance(node.value, str) and MODULE.fullmatch(node.value)
        if is_name and id(node) not in left_out:
            yield node.value


def exists(name):
    """Whether a text names a module; one that ends with a dot is the beginning of a name."""
    if name.endswith("."):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def violations(path, text):
    """Return the modules that a file names and may not import, given its path below ``src``."""
    own = LAYERS.get(Path(path).with_suffix("").parts[1], 0)
    return [
        name
        for name in named_modules(ast.parse(text))
        # A name that begins with the package alone may go on to any layer.
        if LAYERS.get(name.split(".")[1], -1) < own
        and exists(name)
        and name not in FACADES.get(path, ())
    ]


FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


def test_no_file_names_a_module_that_it_may_not_import():
    found = {file: violations(file, (SOURCE / file).read_text("utf-8")) for file in FILES}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "line",
    [
        'import_module("shoal.pages._page_of_result")',
        'import_module(f"shoal.cluster.{name}")',
        '__import__("shoal.pages")',
        'HOMES = {"PrivateKMeans": "shoal.cluster.kmeans"}',
    ],
)
def test_a_name_of_a_lower_layer_is_seen(line):
    assert violations("shoal/privacy/notebook_html.py", line)


@pytest.mark.parametrize(
    "line", ['import_module("shoal.privacy.wording")', '"""See shoal.pages."""', 'f"plotly.{name}"']
)
def test_a_name_of_the_own_layer_or_in_a_docstring_is_not(line):
    assert not violations("shoal/privacy/notebook_html.py", line)


def test_relative_names_are_not_imported():
    """A dot and a package would go round the texts above."""
    calls = re.compile(r"(import_module|__import__)\(\s*f?[\"']\.")
    assert [f for f in FILES if calls.search((SOURCE / f).read_text("utf-8"))] == []
