"""The settings of ``WaveCluster``, checked and completed before any row is read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.components import Connectivity
from shoal.cluster.wave.methods.privqt import CellNoise
from shoal.cluster.wave.selectors import AUTO_CELLS
from shoal.cluster.wave.transform import filter_length
from shoal.domain import Box, Grid
from shoal.errors import ConflictingSettings, InvalidSetting
from shoal.privacy.exact import exact, whole_number

__all__ = ["AskedCells", "Method", "Rule", "Selector", "Settings"]

AskedCells = int | Sequence[int] | NDArray[np.integer] | Literal["auto"]
Method = Literal["block", "privqt", "privthr", "privthrem", "baseline"]
Selector = Literal["auto", "persistence", "percentile", "density", "mass"]
Rule = Literal["threshold", "posterior"]

MOST_DENSE = 2**24
_FULL_UP_TO = 4
_MOST_FULL = 12
_USED_BY = {  # which selectors read a setting
    "z": ("persistence",),
    "smooth": ("persistence",),
    "p": ("percentile",),
    "density": ("density",),
    "mass": ("mass",),
}
_ALPHA = {"privthr": Fraction(9, 10), "privthrem": Fraction(7, 10)}


@dataclass(frozen=True)
class Settings:
    """What was asked for, with every gap filled."""

    method: Method | Literal["plain"]
    cells: AskedCells
    level: int
    wavelet: str
    sparse: bool
    selector: Selector
    z: float
    smooth: float | Literal["auto"]
    p: Fraction
    density: float
    mass: float
    rule: Rule
    context: bool
    min_cells: int
    connectivity: Connectivity
    alpha: Fraction
    noise: CellNoise

    @classmethod
    def of(cls, asked: Any, box: Box) -> "Settings":
        """Those of an estimator whose rows lie in this box."""
        _check_choices(asked)
        method: Any = asked.method if asked.is_private else "plain"
        cells = _checked_cells(asked, box)
        sparse = box.d > 3 or (not isinstance(cells, str) and math.prod(cells) > MOST_DENSE)
        selector = asked.selector or _default_selector(method, sparse)
        _check_method(asked)
        _check_selector(asked, method, selector, sparse)
        return cls(
            method=method,
            cells=cells,
            level=asked.level,
            wavelet=asked.wavelet,
            sparse=sparse,
            selector=selector,
            z=_number("z", asked.z, 3.0, above=0),
            smooth=_smooth(asked.smooth),
            p=_share("p", asked.p, Fraction(1, 2)),
            density=_number("density", asked.density, 0.0 if sparse else 1.0, above=0),
            mass=float(_share("mass", asked.mass, Fraction(9, 10))),
            rule=asked.rule,
            context=asked.context,
            min_cells=_whole("min_cells", asked.min_cells, 1),
            connectivity=_connectivity(asked.connectivity, box.d),
            alpha=_share("alpha", asked.alpha, _ALPHA.get(method, Fraction(1, 2))),
            noise=asked.noise or "laplace",
        )

    def grid(self, box: Box, n_rows: int, epsilon: float) -> Grid:
        """The cells asked for, or as many as the rows and the budget are worth."""
        if not isinstance(self.cells, str):
            return Grid(box, self.cells)
        finer, most = 1.5, 256
        if self.selector == "auto":  # several scales are tried: cells cost time
            finer, most = AUTO_CELLS, 128 if box.d <= 2 else 64
        rule = finer * (n_rows * min(epsilon, 4) / 10) ** (1 / box.d)
        fewest = max(_fewest(box.d), 2**self.level)
        return Grid(box, int(np.clip(round(rule), fewest, max(fewest, most))))


def _fewest(d: int) -> int:
    """The fewest automatic cells along an axis."""
    return 12 if d <= 3 else 6


def _check_choices(asked: Any) -> None:
    choices: dict[str, tuple[object, ...]] = {
        "method": ("block", "privqt", "privthr", "privthrem", "baseline"),
        "selector": (None, "auto", "persistence", "percentile", "density", "mass"),
        "rule": ("threshold", "posterior"),
        "context": (False, True),
        "connectivity": (None, "full", "faces"),
        "noise": (None, "laplace", "geometric"),
    }
    for name, allowed in choices.items():
        if getattr(asked, name) not in allowed:
            shown = ", ".join(map(repr, allowed))
            raise InvalidSetting(f"{name} is none of {shown}.", f"E.g. {name}={allowed[0]!r}.")


def _checked_cells(asked: Any, box: Box) -> tuple[int, ...] | Literal["auto"]:
    level = _whole("level", asked.level, 0)
    filter_length(asked.wavelet)
    if level > 60:
        raise InvalidSetting("level is more than 60.", "Each level halves the grid: e.g. level=1.")
    if isinstance(asked.cells, str) and asked.cells == "auto":
        _check_automatic(box, level)
        return "auto"
    shape = Grid(box, asked.cells).shape
    if min(shape) < max(2, 2**level):
        raise InvalidSetting(
            f"{min(shape)} cells along an axis came; 2 or more, and 2**level, are needed.",
            "Use more cells or a lower level: e.g. cells=32, level=1.",
        )
    return shape


def _check_automatic(box: Box, level: int) -> None:
    """Refuse what no number of rows would make a grid of: here, not after a release."""
    fewest = Grid(box, max(_fewest(box.d), 2**level))
    if box.d <= 3 and fewest.size > MOST_DENSE:
        raise InvalidSetting(
            "level halves an automatic grid more often than it has cells.",
            "Use a lower level, or say how many cells: e.g. cells=64, level=1.",
        )


def _default_selector(method: str, sparse: bool) -> Selector:
    if method == "block":
        return "density" if sparse else "auto"
    return "percentile"


def _check_method(asked: Any) -> None:
    if not asked.is_private and asked.method != "block":
        _conflict(f"method={asked.method!r} came without epsilon", "Give it a budget: epsilon=1.0")
    if asked.alpha is not None and asked.method not in _ALPHA:
        _conflict("alpha came without a split budget", 'Use method="privthr" or "privthrem"')
    if asked.noise is not None and asked.method not in ("privqt", *_ALPHA):
        _conflict("noise came with a method that has one kind", "Leave it out")


def _check_selector(asked: Any, method: str, selector: str, sparse: bool) -> None:
    for name, users in _USED_BY.items():
        if getattr(asked, name) is not None and selector not in users:
            _conflict(
                f"{name} came, which selector={selector!r} does not read",
                f"Use selector={users[0]!r}, or leave {name} out",
            )
    if method in ("privqt", *_ALPHA) and selector != "percentile":
        _conflict(f"selector={selector!r} came with method={method!r}", 'Use "percentile"')
    _check_posterior(asked, method, selector, sparse)
    if sparse:
        _check_sparse(asked, method, selector)


def _check_posterior(asked: Any, method: str, selector: str, sparse: bool) -> None:
    if asked.context and asked.rule != "posterior":
        _conflict("context came without the posterior", 'Add rule="posterior"')
    fits = method == "block" and selector == "percentile" and not sparse
    if asked.rule == "posterior" and not (fits and _is_haar(asked)):
        _conflict(
            "The posterior is of whole counts under noise on a full grid",
            'Use it with epsilon, method="block", selector="percentile", wavelet="haar"',
        )


def _check_sparse(asked: Any, method: str, selector: str) -> None:
    wanted = "percentile" if method == "plain" else "density"
    if method not in ("plain", "block") or selector != wanted or not _is_haar(asked):
        _conflict(
            "A grid of more than 3 columns or 2**24 cells keeps only cells that stand out",
            f'Use selector="{wanted}" with wavelet="haar", or fewer columns and cells',
        )


def _is_haar(asked: Any) -> bool:
    return asked.level == 0 or filter_length(asked.wavelet) == 2


def _conflict(message: str, hint: str) -> None:
    raise ConflictingSettings(f"{message}.", f"{hint}.")


def _number(name: str, value: Any, default: float, above: float) -> float:
    number = exact(default if value is None else value)
    if number is None or (value is not None and number <= above):
        raise InvalidSetting(f"{name} is no number above {above:g}.", f"E.g. {name}={default:g}.")
    return float(number)


def _share(name: str, value: Any, default: Fraction) -> Fraction:
    share = default if value is None else exact(value)
    if share is None or not 0 < share < 1:
        raise InvalidSetting(f"{name} is no number between 0 and 1.", f"E.g. {name}=0.5.")
    return share


def _whole(name: str, value: Any, least: int) -> int:
    whole = whole_number(value)
    if whole is None or whole < least:
        raise InvalidSetting(f"{name} is no whole number from {least} up.", f"E.g. {name}={least}.")
    return whole


def _smooth(value: Any) -> float | Literal["auto"]:
    if isinstance(value, str) and value == "auto":
        return "auto"
    sigma = exact(1 if value is None else value)
    if sigma is None or not 0 <= sigma <= 32:
        raise InvalidSetting("smooth is neither 'auto' nor from 0 to 32 cells.", "E.g. smooth=1.0.")
    return float(sigma)


def _connectivity(asked: Connectivity | None, d: int) -> Connectivity:
    if asked == "full" and d > _MOST_FULL:
        raise InvalidSetting(
            f"A cell of {d} columns has 3**{d} - 1 neighbours.", 'Use connectivity="faces".'
        )
    return asked or ("full" if d <= _FULL_UP_TO else "faces")
