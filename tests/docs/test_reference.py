"""The API reference lists what packages export, and its entries are complete."""

import ast
import importlib
import importlib.util
import inspect
import re
from inspect import unwrap
from itertools import pairwise
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "reference").glob("[!i]*.md"))
MODULES = [f"shoal.{page.stem}" for page in PAGES]
# Parts that shoal's own faces are made of; nobody is asked to import them.
INTERNAL = {"shoal", "shoal.cli", "shoal.experiments", "shoal.files"}


def exported(module: str) -> dict[str, object]:
    home = importlib.import_module(module)
    return {name: getattr(home, name) for name in home.__all__}


def entries(docstring: str, section: str) -> set[str]:
    """The names that a section of a docstring has an entry for."""
    pattern = rf"^(?:{section})\n-+\n(.*?)(?=\n\n\S[^\n]*\n---|\Z)"
    heads = re.findall(r"^\S.*$", "\n".join(re.findall(pattern, docstring, re.S | re.M)), re.M)
    return {name.strip(" *") for head in heads for name in head.split(":")[0].split(",")}


def parameters(thing: object) -> set[str]:
    return {
        name
        for name in inspect.signature(thing).parameters
        if name not in ("self", "cls", "y") and not name.startswith("_")
    }


def explained(thing: object) -> set[str]:
    """The parameters that a function's or class's docstring explains, or that of a base."""
    docstrings = (
        inspect.cleandoc(base.__doc__ or "") for base in getattr(thing, "__mro__", [thing])
    )
    return set().union(*(entries(text, "Parameters|Attributes") for text in docstrings))


def is_called_by_users(thing: object) -> bool:
    """Whether somebody constructs or calls it: no protocol, exception or plain value."""
    if inspect.isclass(thing):
        return not issubclass(thing, Exception) and not getattr(thing, "_is_protocol", False)
    return inspect.isfunction(thing)


def test_every_package_that_exports_names_has_a_page():
    packages = {
        ".".join(path.parent.relative_to(ROOT / "src").parts)
        for path in (ROOT / "src" / "shoal").rglob("__init__.py")
        if "__all__" in path.read_text()
    }
    tops = {package for package in packages if package.count(".") == 1}
    assert tops - INTERNAL <= set(MODULES)


def test_the_navigation_names_every_page():
    text = (ROOT / "mkdocs.yml").read_text()
    assert [page.stem for page in PAGES if f"reference/{page.name}" not in text] == []


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "guides").glob("*.md")), ids=str)
def test_every_guide_links_to_the_reference(guide):
    assert "../reference/" in guide.read_text()


@pytest.mark.parametrize("module", MODULES)
def test_every_exported_name_explains_each_of_its_parameters(module):
    missing = {}
    for name, thing in exported(module).items():
        if not is_called_by_users(thing):
            continue
        unexplained = parameters(thing) - explained(thing)
        if unexplained:
            missing[name] = sorted(unexplained)
    assert missing == {}


def explained_values(home: Path) -> set[str]:
    """The names that a package or a module assigns, each with a docstring on the next line."""
    names = set()
    for path in home.rglob("*.py") if home.is_dir() else [home]:
        body = ast.parse(path.read_text()).body
        for node, after in pairwise(body):
            target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
            text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if text and isinstance(target, ast.Name):
                names.add(target.id)
    return names


@pytest.mark.parametrize("module", MODULES)
def test_every_exported_value_says_what_it_is(module):
    """Types and functions have docstrings; of plain values, the reference shows what has one."""
    file = Path(importlib.import_module(module).__file__)
    home = file.parent if file.name == "__init__.py" else file
    kinds = (type, FunctionType, ModuleType)
    values = {
        name for name, thing in exported(module).items() if not isinstance(unwrap(thing), kinds)
    }
    assert values - explained_values(home) == set()


@pytest.mark.parametrize("module", MODULES)
def test_no_module_hides_an_exported_function_from_the_reference(module):
    """A generator of references takes a name that a module has for the module's."""
    if not hasattr(importlib.import_module(module), "__path__"):
        return
    things = exported(module).items()
    names = {name for name, thing in things if not isinstance(thing, ModuleType)}
    assert {name for name in names if importlib.util.find_spec(f"{module}.{name}")} == set()
