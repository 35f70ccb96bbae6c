"""Check and complete the settings of ``WaveCluster`` before any row is read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.cluster._grouped_settings import Options
from shoal.cluster.wave._grouping import (
    SELECTORS,
    Auto,
    Density,
    Mass,
    Percentile,
    Persistence,
    Selector,
)
from shoal.cluster.wave._release_methods import (
    METHODS,
    Block,
    Method,
    Plain,
    PrivTHR,
    PrivTHREM,
    ThresholdMethod,
)
from shoal.cluster.wave._scale import cells_an_axis
from shoal.cluster.wave._segmentation import Connectivity
from shoal.cluster.wave._transform import filter_length
from shoal.domain import Box, Grid
from shoal.errors import ConflictingSettings, InvalidSetting, Text, setting
from shoal.privacy import exact, whole_number

Cells = int | Sequence[int] | NDArray[np.integer] | Literal["auto"]
MethodName = Literal["block", "privqt", "privthr", "privthrem", "baseline"]
SelectorName = Literal["auto", "persistence", "percentile", "density", "mass"]
Group = TypeVar("Group", bound=Options)

MOST_DENSE = 2**24  # most cells of a full grid; a larger grid is sparse
# Both limits of the automatic selector: docs/decisions/wave-selector.md.
_MOST_AUTO = 2**18  # most cells of a grid that the automatic selector divides by itself
_AUTO_UP_TO = 5  # columns up to which it does: with more, each axis would have too few cells
_FULL_UP_TO = 4  # columns up to which cells touch by corners unless told otherwise
_MOST_FULL = 12  # columns: a cell has 3**d - 1 neighbours by corners


@dataclass(frozen=True)
class Settings:
    """The checked settings of one estimator, with defaults filled in.

    Parameters
    ----------
    method
        The method, its own settings checked; ``Plain`` where nothing is promised.
    cells
        Cells along each axis, or "auto".
    is_sparse
        Whether the grid has too many cells to make them all, so that only those that stand out are.
    """

    method: Method
    cells: tuple[int, ...] | Literal["auto"]
    level: int
    wavelet: str
    is_sparse: bool
    selector: Selector
    min_cells: int
    connectivity: Connectivity

    @classmethod
    def of(cls, model: Any, box: Box) -> "Settings":
        """Check the settings of an estimator whose rows lie in this box."""
        method, selector = _resolve_method(model), _resolve_selector(model)
        _check_choice("connectivity", model.connectivity, (None, "full", "faces"))
        cells = _check_cells(model, box)
        is_sparse = _is_sparse(model, method, selector, cells, box.d)
        selector = selector or _default_selector(method, is_sparse)
        _check_together(model, method, selector, is_sparse)
        return cls(
            method=_check_method(method),
            cells=cells,
            level=model.level,
            wavelet=model.wavelet,
            is_sparse=is_sparse,
            selector=_check_selector(selector),
            min_cells=_whole("min_cells", model.min_cells, 1),
            connectivity=_connectivity(model.connectivity, box.d),
        )

    @property
    def is_private(self) -> bool:
        """Whether anything carries noise."""
        return not isinstance(self.method, Plain)

    @property
    def needs_row_count(self) -> bool:
        """Whether the number of rows is needed before cells are counted."""
        return self.cells == "auto" or self.is_sparse or self.method.needs_row_count

    @property
    def percentile(self) -> Percentile:
        """The selector of a method that releases a threshold."""
        assert isinstance(self.selector, Percentile)  # checked together with the method
        return self.selector

    @property
    def p(self) -> Fraction:
        """The quantile of a percentile selector."""
        return Fraction(self.percentile.p)

    def grid(self, box: Box, n_rows: int, epsilon: float) -> Grid:
        """Return the grid of the given cells, or one as fine as rows and budget allow."""
        if not isinstance(self.cells, str):
            return Grid(box, self.cells)
        # Both rules: docs/decisions/wave-selector.md.
        if isinstance(self.selector, Auto):
            rule, most = cells_an_axis(n_rows, epsilon, box.d), _most_cells_an_axis(box.d)
        else:
            rule, most = 1.5 * (n_rows * min(epsilon, 4) / 10) ** (1 / box.d), 256
        fewest = max(_fewest(box), 2**self.level)
        return Grid(box, int(np.clip(round(rule), fewest, max(fewest, most))))


def option_name(options: Options) -> str:
    """Return the short form of a method or selector: ``"privthr"`` for ``PrivTHR()``.

    Examples
    --------
    >>> option_name(Persistence(z=2))
    'persistence'
    """
    names = {kind: name for name, kind in (METHODS | SELECTORS).items()}
    return names[type(options)]


def _resolve_method(model: Any) -> Method:
    method = _resolve("variant", model.variant, METHODS)
    if model.is_private:
        return method
    if not isinstance(method, Block):
        message = setting("variant", option_name(method)) + " needs a privacy budget"
        _conflict(message, "Give one: " + setting("epsilon", 1.0))
    return Plain()


def _resolve_selector(model: Any) -> Selector | None:
    return None if model.selector is None else _resolve("selector", model.selector, SELECTORS)


def _resolve(name: str, value: Any, kinds: Mapping[str, type[Group]]) -> Group:
    """Return the options that a short name stands for, or the options given."""
    if isinstance(value, str) and value in kinds:
        return kinds[value]()
    for kind in kinds.values():
        if type(value) is kind:
            return value
    shown = ", ".join(map(repr, kinds))
    classes = ", ".join(kind.__name__ for kind in kinds.values())
    allowed = f"must be one of {shown}, or an instance of {classes}"
    raise InvalidSetting.of(name, allowed, next(iter(kinds)), value)


def _is_sparse(
    model: Any,
    method: Method,
    selector: Selector | None,
    cells: tuple[int, ...] | Literal["auto"],
    d: int,
) -> bool:
    """Tell whether only cells that stand out are made; public settings alone decide."""
    if not isinstance(cells, str):
        return d > 3 or math.prod(cells) > MOST_DENSE
    chosen = selector or _default_selector(method, is_sparse=False)
    by_itself = isinstance(method, Block | Plain) and isinstance(chosen, Auto)
    return d > (_AUTO_UP_TO if by_itself and model.level == 0 else 3)


def _most_cells_an_axis(d: int) -> int:
    """Return the most cells along an axis of a grid for the automatic selector."""
    return min(128 if d <= 2 else 64, math.floor(math.pow(_MOST_AUTO, 1 / d) + 1e-9))


def _default_selector(method: Method, is_sparse: bool) -> Selector:
    if isinstance(method, Block):
        return Density() if is_sparse else Auto()
    return Percentile()


def _check_method(method: Method) -> Method:
    """Return the method with its numbers checked and exact."""
    if not isinstance(method, ThresholdMethod):
        return method
    _check_choice("noise", method.noise, ("laplace", "geometric"))
    if isinstance(method, PrivTHR | PrivTHREM):
        return type(method)(_share("alpha", method.alpha), noise=method.noise)
    return method


def _check_selector(selector: Selector) -> Selector:
    """Return the selector with its numbers checked and exact."""
    match selector:
        case Persistence():
            return Persistence(_positive("z", selector.z, 3), smooth=_width(selector.smooth))
        case Percentile():
            _check_choice("rule", selector.rule, ("threshold", "posterior"))
            p: Any = _share("p", selector.p)
            _check_choice("strict", selector.strict, (False, True))
            return Percentile(
                p, rule=selector.rule, context=selector.context, strict=selector.strict
            )
        case Density():
            times = selector.times
            return Density(None if times is None else _positive("times", times, 1))
        case Mass():
            return Mass(float(_share("share", selector.share)))
    return selector


def _check_together(model: Any, method: Method, selector: Selector, is_sparse: bool) -> None:
    if isinstance(method, ThresholdMethod) and not isinstance(selector, Percentile):
        given = setting("selector", option_name(selector))
        message = given + " does not go with " + setting("variant", option_name(method))
        _conflict(message, "Use " + setting("selector", "percentile"))
    if isinstance(selector, Percentile):
        _check_posterior(model, method, selector, is_sparse)
    if is_sparse:
        _check_sparse(model, method, selector)


def _check_posterior(model: Any, method: Method, selector: Percentile, is_sparse: bool) -> None:
    _check_choice("context", selector.context, (False, True))
    if selector.context and selector.rule != "posterior":
        _conflict(
            setting("context") + " needs the posterior",
            "Add " + setting("rule", "posterior"),
        )
    fits = isinstance(method, Block) and not is_sparse and _is_haar(model)
    if selector.rule == "posterior" and not fits:
        _conflict(
            "The posterior needs whole noisy counts on a full grid",
            "Use it with epsilon, "
            + setting("variant", "block")
            + " and "
            + setting("wavelet", "haar"),
        )


def _check_sparse(model: Any, method: Method, selector: Selector) -> None:
    wanted = Percentile if isinstance(method, Plain) else Density
    can = isinstance(method, Plain | Block) and isinstance(selector, wanted)
    if not (can and _is_haar(model)):
        name = option_name(wanted())
        _conflict(
            "A grid of more than 3 columns or 2**24 cells keeps only cells that stand out",
            "Use "
            + setting("selector", name)
            + " with "
            + setting("wavelet", "haar")
            + ", or fewer columns and cells",
        )


def _is_haar(model: Any) -> bool:
    return model.level == 0 or filter_length(model.wavelet) == 2


def _fewest(box: Box) -> int:
    """Return the fewest cells along an axis of an automatic grid."""
    return 12 if box.d <= 3 else 6


def _check_cells(model: Any, box: Box) -> tuple[int, ...] | Literal["auto"]:
    level = _whole("level", model.level, 0)
    filter_length(model.wavelet)
    if level > 60:
        raise InvalidSetting(
            setting("level") + " must be at most 60.",
            "Each level halves the grid: e.g. " + setting("level", 1) + ".",
        )
    if isinstance(model.cells, str) and model.cells == "auto":
        _check_automatic(box, level)
        return "auto"
    shape = Grid(box, model.cells).shape
    if min(shape) < max(2, 2**level):
        raise InvalidSetting(
            f"Each axis needs 2 or more cells, and at least 2**level; one has {min(shape)}.",
            "Use more cells or a lower level: e.g. "
            + setting("cells", 32)
            + ", "
            + setting("level", 1)
            + ".",
        )
    return shape


def _check_automatic(box: Box, level: int) -> None:
    """Refuse a level that no automatic grid can have, before anything is released."""
    fewest = Grid(box, max(_fewest(box), 2**level))
    if box.d <= 3 and fewest.size > MOST_DENSE:
        raise InvalidSetting(
            setting("level") + " is too high for an automatic grid.",
            "Use a lower level, or set the number of cells: e.g. "
            + setting("cells", 64)
            + ", "
            + setting("level", 1)
            + ".",
        )


def _conflict(message: str | Text, hint: str | Text) -> None:
    raise ConflictingSettings(message + ".", hint + ".")


def _check_choice(name: str, value: Any, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        shown = ", ".join(map(repr, allowed))
        raise InvalidSetting.of(name, f"must be one of {shown}", allowed[0], value)


def _positive(name: str, value: Any, example: float) -> float:
    number = exact(value)
    if number is None or number <= 0:
        raise InvalidSetting.of(name, "must be a number above 0", example, value)
    return float(number)


def _share(name: str, value: Any) -> Fraction:
    share = exact(value)
    if share is None or not 0 < share < 1:
        raise InvalidSetting.of(name, "must be a number between 0 and 1", 0.5, value)
    return share


def _whole(name: str, value: Any, least: int) -> int:
    whole = whole_number(value)
    if whole is None or whole < least:
        raise InvalidSetting.of(name, f"must be a whole number of {least} or more", least, value)
    return whole


def _width(value: Any) -> float | Literal["auto"]:
    if isinstance(value, str) and value == "auto":
        return "auto"
    sigma = exact(value)
    if sigma is None or not 0 <= sigma <= 32:
        raise InvalidSetting.of("smooth", "must be 'auto' or from 0 to 32 cells", 1.0, value)
    return float(sigma)


def _connectivity(wanted: Connectivity | None, d: int) -> Connectivity:
    if wanted == "full" and d > _MOST_FULL:
        raise InvalidSetting(
            f"A cell of {d} columns has 3**{d} - 1 neighbours.",
            "Use " + setting("connectivity", "faces") + ".",
        )
    return wanted or ("full" if d <= _FULL_UP_TO else "faces")
