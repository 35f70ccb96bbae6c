"""Broken mechanisms that the audit must catch, by name, each with the bound it must exceed.

Every one was published, shipped or drafted by somebody, or is one mistake away from one that was.
All are written from the description of the fault. An audit that stops catching one is broken.

Examples
--------
>>> twins["2-D angle in a quarter circle"].at_least
9.05
>>> twins["rounds not counted"].run(draws=20_000).verdict
'violated'
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, cast

from shoal._lazy import names_when_used
from shoal.audit.case import Cases, Twin

if TYPE_CHECKING:
    from shoal.audit.twins._flawed_mechanisms import (
        FlawedAngles2D,
        FlawedAngles3D,
        FlawedAnglesND,
        FlawedGridRemap,
        FlawedOptimalRemap,
        FlawedPiecewise,
    )

_MODULE_OF = {
    "FlawedAngles2D": "_flawed_mechanisms",
    "FlawedAngles3D": "_flawed_mechanisms",
    "FlawedAnglesND": "_flawed_mechanisms",
    "FlawedGridRemap": "_flawed_mechanisms",
    "FlawedOptimalRemap": "_flawed_mechanisms",
    "FlawedPiecewise": "_flawed_mechanisms",
}

__all__ = [
    "FlawedAngles2D",
    "FlawedAngles3D",
    "FlawedAnglesND",
    "FlawedGridRemap",
    "FlawedOptimalRemap",
    "FlawedPiecewise",
    "twins",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)


def _all() -> dict[str, Twin]:
    """Return the twins of every file of this folder that has any."""
    files = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {name: twin for file in files for name, twin in getattr(file, "twins", {}).items()}


twins = cast("Mapping[str, Twin]", Cases(_all))
"""Every broken twin by name, made when they are first looked at."""
