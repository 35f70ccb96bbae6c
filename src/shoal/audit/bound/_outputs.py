"""The outputs of a mechanism as an adversary sees them: numbers or text, and failures.

An exception, NaN, infinity, or another shape or type is an output too. It gets a kind of its own
instead of being skipped, since failing more often on one input reveals that input.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit._draws import Failure
from shoal.errors import DimensionMismatch, InvalidSetting

Values = NDArray[np.generic]
Kinds = NDArray[np.intp]
_FARTHEST = 1e300  # stands in for infinity, so that trees can sort it
_EVEN = 0.2  # least share of outputs on either side of a split worth looking at
_NEVER = 7.0  # standard deviations: by chance with a probability below 2e-11, of 1,000 outputs


@dataclass(frozen=True, eq=False)
class OutputSample:
    """The outputs on one input.

    Attributes
    ----------
    values
        One output a row; NaN where there is none.
    kinds
        For each output 0, or the place in ``names`` of what went wrong with it.
    names
        The names of the kinds; the same for both inputs.
    codes
        A whole number for each different output, the same for both inputs.
    """

    values: Values
    kinds: Kinds
    names: tuple[str, ...]
    codes: Kinds

    def __len__(self) -> int:
        return len(self.values)

    def part(self, lines: slice) -> "OutputSample":
        """Return some of the outputs."""
        return OutputSample(self.values[lines], self.kinds[lines], self.names, self.codes[lines])

    @property
    def is_text(self) -> bool:
        """Whether the outputs are text."""
        return self.values.dtype.kind == "U"

    @property
    def is_constant(self) -> bool:
        """Whether all outputs are equal."""
        return bool(np.ptp(self.codes) == 0)

    @property
    def is_serial(self) -> bool:
        """Whether outputs predict the ones after them, which independent outputs never do."""
        columns = self.codes[:, None] if self.is_text else self.values
        return any(_tells_of_next(column) for column in columns.T)

    def starts_like(self, other: "OutputSample") -> bool:
        """Return whether the first outputs of two samples are equal."""
        return bool(self.codes[0] == other.codes[0])


@dataclass(frozen=True, eq=False)
class _Output:
    """One flattened output with its shape and type in words; or how it failed."""

    form: str
    kind: str
    flat: Values


def samples_of(first: Any, second: Any) -> tuple[OutputSample, OutputSample]:
    """Return the samples of both inputs, with kinds of failure numbered alike.

    Raises
    ------
    InvalidSetting
        If no output can be compared.
    """
    arrays = [_as_array(outputs) for outputs in (first, second)]
    if arrays[0] is not None and arrays[1] is not None:
        return _of_arrays(arrays[0], arrays[1])
    lists = [[_output(each) for each in _as_list(outputs)] for outputs in (first, second)]
    form, kind = _usual_form([each for side in lists for each in side[: len(side) // 2]])
    if not form:
        _refuse_unreadable([*_as_list(first), *_as_list(second)])
    width = max((o.flat.size for side in lists for o in side if o.form == form), default=0)
    named = [_of_outputs(outputs, form, kind, width) for outputs in lists]
    return _number_kinds(*named)


def _as_array(outputs: Any) -> Values | None:
    """Return an array of numbers or text, one output a row, if that is what was given."""
    if isinstance(outputs, Mapping):
        columns = [_as_array(column) for column in outputs.values()]
        good = [c for c in columns if c is not None]
        whole = len(good) == len(columns) and len({len(c) for c in good}) == 1
        return np.hstack(good) if whole and good else None
    if not hasattr(outputs, "__array__") and not _is_uniform_list(outputs):
        return None
    array = np.asarray(outputs)
    if array.ndim and array.dtype.kind in "biufU":
        return array.reshape(len(array), math.prod(array.shape[1:]))
    # Lists may hold whole numbers beyond 64 bits, or objects, which NumPy would convert.
    if isinstance(outputs, list):
        return None
    raise InvalidSetting(
        f"Outputs of type {array.dtype} cannot be compared.",
        "Give an array of numbers or text, one row for each output.",
    )


def _is_uniform_list(outputs: Any) -> bool:
    """Return whether a list holds only numbers, text or arrays of one type and shape."""
    if not isinstance(outputs, list) or not outputs:
        return False
    plain = isinstance(outputs[0], int | float | str | np.generic | np.ndarray)
    if not plain or len(set(map(type, outputs))) > 1:
        return False
    arrays = isinstance(outputs[0], np.ndarray)
    return not arrays or len({(each.shape, each.dtype.kind) for each in outputs}) == 1


def _of_arrays(first: Values, second: Values) -> tuple[OutputSample, OutputSample]:
    if first.shape[1] != second.shape[1]:
        raise DimensionMismatch(
            f"The outputs have {first.shape[1]} numbers for one input and {second.shape[1]} for "
            "the other.",
            "Give arrays of the same width, or lists of single outputs, which may differ.",
        )
    return _number_kinds((first, ["" for _ in first]), (second, ["" for _ in second]))


def _as_list(outputs: Any) -> Sequence[Any]:
    if isinstance(outputs, Sequence) and not isinstance(outputs, str):
        return outputs
    if hasattr(outputs, "__array__"):
        return list(np.asarray(outputs))
    lines = _as_array(outputs)
    if lines is not None:
        return list(lines)
    raise InvalidSetting(
        f"Outputs must be an array or a list; got a {type(outputs).__name__}.",
        "Give an array with one row for each output, or a list of outputs.",
    )


def _output(value: Any) -> _Output:
    if isinstance(value, Failure):
        return _Output("", f"raised {value.name}", np.empty(0))
    try:
        flat = _flat(value)
    except InvalidSetting as unreadable:
        return _Output("", unreadable.message.rstrip("."), np.empty(0))
    shape = np.shape(value) if not isinstance(value, Mapping | tuple | list) else (flat.size,)
    return _Output(f"{shape}", _type_of(flat), flat)


def _flat(value: Any) -> Values:
    """Flatten an array, or several in a tuple, list or mapping, to one row."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        parts = [_flat(each) for each in value]
        return np.concatenate(parts) if parts else np.empty(0)
    flat = np.asarray(value).reshape(-1)
    if flat.dtype.kind in "biufU":
        return flat
    raise InvalidSetting(
        f"An output has an unsupported type: {type(value).__name__}.",
        "Return numbers below 2**63 or text: an array, or several in a tuple. Sets of unequal size "
        "can be text, e.g. ','.join(map(str, sorted(keys))).",
    )


def _refuse_unreadable(outputs: Sequence[Any]) -> None:
    """Raise if no output can be compared, unless all of them are exceptions."""
    for each in outputs:
        if not isinstance(each, Failure):
            _flat(each)


def _type_of(flat: Values) -> str:
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "text"}[flat.dtype.kind]


def _usual_form(outputs: Sequence[_Output]) -> tuple[str, str]:
    """Return the most common shape and type, in the first halves of both inputs together."""
    forms = Counter((each.form, each.kind) for each in outputs if each.form)
    return forms.most_common(1)[0][0] if forms else ("", "")


def _of_outputs(
    outputs: Sequence[_Output], form: str, kind: str, width: int
) -> tuple[Values, list[str]]:
    """Return values of the usual shape, NaN where there is none, and what is unusual about each."""
    alike = [
        each.form == form and bool(form) and (each.kind == "text") == (kind == "text")
        for each in outputs
    ]
    missing = np.full(width, "") if kind == "text" else np.full(width, np.nan)
    lines = [each.flat if keep else missing for each, keep in zip(outputs, alike, strict=True)]
    values = np.stack(lines) if width else np.empty((len(outputs), 0))
    return values, [_describe_unusual(each, form, kind) for each in outputs]


def _describe_unusual(output: _Output, form: str, kind: str) -> str:
    if not output.form:
        return output.kind
    if output.form != form:
        return f"shape {output.form} instead of {form}"
    return "" if output.kind == kind else f"type {output.kind} instead of {kind}"


def _number_kinds(*sides: tuple[Values, list[str]]) -> tuple[OutputSample, OutputSample]:
    sides_kinds = [_with_nonfinite(values, kinds) for values, kinds in sides]
    names = ("", *sorted({kind for kinds in sides_kinds for kind in kinds} - {""}))
    places = {name: place for place, name in enumerate(names)}
    kinds = [np.array([places[kind] for kind in each], dtype=np.intp) for each in sides_kinds]
    values = [_sortable(values) for values, _ in sides]
    codes = _codes(np.concatenate(values), np.concatenate(kinds))
    cut = len(values[0])
    halves = codes[:cut], codes[cut:]
    first, second = (
        OutputSample(own, how, names, code)
        for own, how, code in zip(values, kinds, halves, strict=True)
    )
    return first, second


def _codes(values: Values, kinds: Kinds) -> Kinds:
    """Return a number for each distinct output; as mere names, they may use the second half."""
    codes = kinds
    for column in values.T:
        distinct, places = np.unique(column, return_inverse=True)
        codes = np.unique(codes * distinct.size + places, return_inverse=True)[1]
        if codes.max() == codes.size - 1:  # all differ by now
            break
    return codes


def _tells_of_next(column: Values) -> bool:
    """Return whether being above the middle is correlated with the next one being so."""
    middle = np.sort(column)[len(column) // 2]
    for above in (column > middle, column >= middle):
        share = float(above.mean())
        if _EVEN <= share <= 1 - _EVEN:
            off = above - share
            together = abs(float(off[:-1] @ off[1:]))
            return together > _NEVER * math.sqrt(len(off)) * share * (1 - share)
    return False


def _with_nonfinite(values: Values, kinds: list[str]) -> list[str]:
    """Name NaN and infinity where nothing else went wrong."""
    if values.dtype.kind != "f":
        return kinds
    nan, infinite = np.isnan(values).any(axis=1), np.isinf(values).any(axis=1)
    if not (nan.any() or infinite.any()):
        return kinds
    names = np.where(nan, "NaN", np.where(infinite, "infinite", ""))
    return [kind or str(word) for kind, word in zip(kinds, names, strict=True)]


def _sortable(values: Values) -> Values:
    if values.dtype.kind != "f" or not np.isinf(values).any():
        return values
    return np.clip(values, -_FARTHEST, _FARTHEST)
