"""The names at the top of the package: few, loaded when used, and the same for type checkers."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import shoal


def typed() -> dict[str, str]:
    """Name to package, as the block for type checkers has it."""
    block = next(n for n in ast.parse(inspect.getsource(shoal)).body if isinstance(n, ast.If))
    return {
        alias.asname: node.module.removeprefix("shoal").removeprefix(".")
        for node in block.body
        for alias in node.names
        if alias.asname == alias.name  # `as` is what makes a checker pass it on
    }


def test_type_checkers_see_the_names_that_are_loaded_and_no_others():
    modules = dict.fromkeys(shoal._MODULES, "")
    assert typed() == {**shoal._HOME_OF, **modules}


def test_the_top_is_what_work_begins_with():
    # README, quickstart, demo and page code use all but a few; a name for experts stays below.
    assert len(shoal.__all__) <= 40
    assert sorted(set(shoal.__all__)) == sorted(shoal.__all__) == dir(shoal)


@pytest.mark.parametrize("name", shoal.__all__)
def test_every_name_is_the_one_of_its_package(name):
    home = shoal._HOME_OF.get(name)
    expected = getattr(import_module(f"shoal.{home}"), name) if home else sys.modules
    assert getattr(shoal, name) is (expected if home else expected[f"shoal.{name}"])


def test_a_star_import_brings_exactly_these():
    space = {}
    exec("from shoal import *", space)
    assert set(space) - {"__builtins__"} == set(shoal.__all__)


@pytest.mark.heavy
def test_packages_are_reached_without_an_import_of_their_own():
    names = "shoal.synopsis.Synopsis, shoal.domain.Grid, shoal.perturb.Memo"
    script = f"import shoal; print(*(each.__name__ for each in ({names})))"
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.stdout.split() == ["Synopsis", "Grid", "Memo"], done.stderr


PACKAGES = [found.name for found in pkgutil.walk_packages(shoal.__path__, "shoal.") if found.ispkg]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_of_a_package_can_be_imported(package):
    module = import_module(package)
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("package", ["anonymize", "audit", "cluster", "jobs", "perturb"])
def test_a_package_lists_the_names_that_it_loads_when_used(package):
    module = import_module(f"shoal.{package}")
    assert dir(module) == sorted(module.__all__)


def test_an_unknown_name_is_refused_as_in_any_module():
    with pytest.raises(AttributeError, match="no attribute 'Laplace'"):
        shoal.Laplace  # noqa: B018
    assert not hasattr(shoal, "Piecewise")


def test_the_version_is_the_installed_one():
    assert shoal.__version__
