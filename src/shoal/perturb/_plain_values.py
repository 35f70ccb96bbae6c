"""Write a mechanism or remap as plain values, for files and to tell collections apart."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.domain import Box, Categories
from shoal.errors import InvalidSetting
from shoal.privacy import exact_budget, exact_text

_BOUNDED = ("Duchi", "Harmony", "Hybrid", "Piecewise", "PrivUnit", "SquareWave", "Staircase")
_LAPLACE = ("NDLaplace", "PlanarLaplace", "SphericalLaplace")
# How files name the parameter `domain` of these classes. Other names would make what was written
# before unreadable, and an unfinished collection another one: it is told by its settings.
_WRITTEN_NAMES = dict.fromkeys((*_BOUNDED, *_LAPLACE), "bounds") | dict.fromkeys(
    ("Clamp", "Restrict", "Snap"), "box"
)


def settings_of(thing: Any) -> dict[str, Any]:
    """Return the class and settings of a frozen dataclass as JSON values.

    Parameters
    ----------
    thing
        A mechanism or a remap.

    Examples
    --------
    >>> from shoal.mechanisms import Piecewise
    >>> settings_of(Piecewise(0.5))
    {'class': 'Piecewise', 'epsilon': '0.5', 'bounds': None, 'clip': False}
    """
    if not is_dataclass(thing) or isinstance(thing, type):
        raise InvalidSetting(
            f"The settings of a {type(thing).__name__} cannot be read.",
            "Make it a frozen dataclass, as all of shoal's mechanisms and remaps are.",
        )
    given = {field.name: getattr(thing, field.name) for field in fields(thing) if field.init}
    # 1, 1.0 and "1" are one budget, as are shares of "1/2" and 0.5.
    if "epsilon" in given:
        given["epsilon"] = exact_budget(given["epsilon"])
    if isinstance(given.get("shares"), Mapping):
        given["shares"] = {name: exact_budget(part) for name, part in given["shares"].items()}
    name = type(thing).__name__
    domain = _WRITTEN_NAMES.get(name, "domain")
    written = {domain if key == "domain" else key: _plain(value) for key, value in given.items()}
    return {"class": name, **written}


def parameters_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the names that their class takes, without the class.

    Parameters
    ----------
    settings
        What ``settings_of`` returned.

    Examples
    --------
    >>> parameters_of({"class": "Piecewise", "epsilon": "0.5", "bounds": None})
    {'epsilon': '0.5', 'domain': None}
    """
    written = _WRITTEN_NAMES.get(settings["class"], "domain")
    named = {"domain" if key == written else key: value for key, value in settings.items()}
    return {key: value for key, value in named.items() if key != "class"}


def _plain(value: Any) -> Any:
    convert = next((each for kinds, each in _CONVERTERS if isinstance(value, kinds)), None)
    if convert is not None:
        return convert(value)
    return settings_of(value) if is_dataclass(value) else str(value)


_CONVERTERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (float, lambda value: int(value) if value.is_integer() else float(value)),  # 1.0 is 1
    (str | bool | int | None, lambda value: value),
    (Fraction, exact_text),
    (Box, Box.to_dict),
    (Categories, lambda listed: {"values": _plain(listed.values), "other": listed.other}),
    (Mapping, lambda named: {str(name): _plain(each) for name, each in named.items()}),
    (tuple | list, lambda values: [_plain(each) for each in values]),
    (np.ndarray | np.generic, lambda values: _plain(values.tolist())),
)
