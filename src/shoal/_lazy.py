"""Packages that load a module when a name of it is first used.

A command answers at once and a worker of a cluster starts quickly, since each loads what it uses.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names_when_used(
    package: str, module_of: Mapping[str, str], exported: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose modules are loaded by need.

    Parameters
    ----------
    module_of
        The module of each name, below the package; an exported name without one is a package.
    exported
        The package's ``__all__``.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in module_of:
            return getattr(import_module(f"{package}.{module_of[name]}"), name)
        if name in exported:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(exported)

    return __getattr__, __dir__
