"""What a fitted model publishes, in a form that is compared bit by bit."""

import dataclasses
from collections.abc import Iterator, Mapping, Set
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from shoal.privacy import Guarantee

Names = Mapping[str, Any]
# Simulated from the other attributes alone, with a seed made of them: equal where these are.
_DERIVED = frozenset({"intervals_"})


def published(result: Any) -> dict[str, Any]:
    """Return everything published, by name, in canonical form.

    Parameters
    ----------
    result
        A fitted model: what ends in an underscore, and what its result marks as released. Anything
        else is published whole.
    """
    if not isinstance(result, BaseEstimator):
        return {"result": canonical(result)}
    attributes = {name: canonical(getattr(result, name)) for name in _fitted_names(result)}
    return attributes | {
        f"to_result, {name}": canonical(leaf.value) for name, leaf in _released_leaves(result)
    }


def different_names(first: Names, second: Names) -> tuple[str, ...]:
    """Return the names of what differs, or is published once only."""
    names = {**first, **second}
    return tuple(
        name
        for name in names
        if name not in first or name not in second or first[name] != second[name]
    )


def canonical(thing: Any) -> Any:
    """Return a nested tuple that is equal for things whose bits are equal, and only for those."""
    if thing is None or isinstance(thing, bool | int | str | bytes | Fraction | type):
        return type(thing).__name__, thing
    if isinstance(thing, float | np.generic | np.ndarray):
        return _bits(np.asarray(thing))
    if isinstance(thing, Guarantee):
        return type(thing).__name__, canonical(thing.to_dict())
    if isinstance(thing, BaseEstimator):
        return type(thing).__name__, tuple(published(thing).items())
    return type(thing).__name__, tuple(_parts(thing))


def _bits(array: np.ndarray) -> Any:
    if array.dtype == object:
        return "array", array.shape, tuple(canonical(each) for each in array.ravel().tolist())
    return "array", array.dtype.str, array.shape, array.tobytes()


def _parts(thing: Any) -> Iterator[Any]:
    """Yield the parts of a container, of an object's fields, or at last its text."""
    if isinstance(thing, Mapping):
        yield from ((canonical(key), canonical(value)) for key, value in thing.items())
    elif isinstance(thing, Set):  # in no order
        yield from sorted((canonical(each) for each in thing), key=repr)
    elif isinstance(thing, list | tuple):
        yield from (canonical(each) for each in thing)
    elif dataclasses.is_dataclass(thing):
        yield from (canonical(getattr(thing, field.name)) for field in dataclasses.fields(thing))
    elif hasattr(thing, "to_pydict"):  # an Arrow table
        yield canonical(thing.to_pydict())
    elif getattr(thing, "__dict__", None):
        yield canonical(vars(thing))
    else:
        yield repr(thing)


def _fitted_names(model: BaseEstimator) -> list[str]:
    """Return the names of what was fitted, properties of its class among them."""
    computed = [
        name
        for name in dir(type(model))
        if isinstance(getattr(type(model), name, None), property | cached_property)
    ]
    fitted = {name for name in (*vars(model), *computed) if name.endswith("_")} - _DERIVED
    return sorted(name for name in fitted if not name.startswith("_") and hasattr(model, name))


def _released_leaves(model: BaseEstimator) -> Iterator[tuple[str, Any]]:
    if hasattr(model, "to_result"):
        yield from model.to_result().released.items()
