"""A mechanism or remap as plain values: to write beside reports, and to tell collections apart."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.domain import Box, Categories
from shoal.errors import InvalidSetting
from shoal.privacy.exact import exact_budget, plain

__all__ = ["settings_of"]


def settings_of(thing: Any) -> dict[str, Any]:
    """Class and settings of a frozen dataclass, as JSON holds them; epsilon as an exact decimal.

    Examples
    --------
    >>> from shoal.mechanisms import Piecewise
    >>> settings_of(Piecewise(0.5))
    {'class': 'Piecewise', 'epsilon': '0.5', 'bounds': None, 'clip': False}
    """
    if not is_dataclass(thing) or isinstance(thing, type):
        raise InvalidSetting(
            f"A {type(thing).__name__} came whose settings cannot be told.",
            "Make it a frozen dataclass, as all of shoal's mechanisms and remaps are.",
        )
    given = {field.name: getattr(thing, field.name) for field in fields(thing) if field.init}
    # 1, 1.0 and "1" are one budget, as are shares of "1/2" and 0.5.
    if "epsilon" in given:
        given["epsilon"] = exact_budget(given["epsilon"])
    if isinstance(given.get("shares"), Mapping):
        given["shares"] = {name: exact_budget(part) for name, part in given["shares"].items()}
    return {"class": type(thing).__name__, **{name: _plain(value) for name, value in given.items()}}


def _plain(value: Any) -> Any:
    said = next((say for kinds, say in _SAID if isinstance(value, kinds)), None)
    if said is not None:
        return said(value)
    return settings_of(value) if is_dataclass(value) else str(value)


_SAID: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (float, lambda value: int(value) if value.is_integer() else float(value)),  # 1.0 is 1
    (str | bool | int | None, lambda value: value),
    (Fraction, plain),
    (Box, Box.to_dict),
    (Categories, lambda listed: {"values": _plain(listed.values), "other": listed.other}),
    (Mapping, lambda named: {str(name): _plain(each) for name, each in named.items()}),
    (tuple | list, lambda values: [_plain(each) for each in values]),
    (np.ndarray | np.generic, lambda values: _plain(values.tolist())),
)
