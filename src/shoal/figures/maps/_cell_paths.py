"""Draw cells as thick dashed lines, one path a shade, and their legend."""

from itertools import pairwise

import numpy as np

from shoal.arrays import Integers
from shoal.figures.palette import SHADES
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number


def shade_levels(noisy_counts: Integers) -> list[int]:
    """Return the least count of each shade, from 1 up, in widening steps.

    Examples
    --------
    >>> shade_levels(np.array([0, 3, 72]))
    [1, 2, 8, 18, 32, 50]
    """
    most = max(int(noisy_counts.max(initial=1)), SHADES)
    # Quadratic: most cells hold few, and small counts should still differ.
    steps = [-(-most * i * i // SHADES**2) for i in range(SHADES)]
    return [max(step, i + 1) for i, step in enumerate(steps)]


def draw_cells(
    svg: Svg,
    counts: Integers,
    levels: list[int],
    across: list[float],
    upwards: list[float],
    colours: str = "q",
    joined: bool = False,
) -> None:
    """Draw each row of cells as a dashed line, one path for each shade and row height.

    A rectangle a cell would take three times the bytes; neighbours of one shade join, small ones
    always, large ones if ``joined``. Classes are ``colours`` and the number of the shade.
    """
    shades = np.searchsorted(levels, counts, side="right")
    apart = across[1] - across[0] >= 8 and not joined  # small cells would be mostly gap
    gap, lap = (1.0, 0.0) if apart else (0.0, 0.3)  # rows overlap: rounding leaves no seam
    paths: dict[tuple[int, float], list[str]] = {}
    for j in range(counts.shape[1]):
        middle, height = (upwards[j] + upwards[j + 1]) / 2, upwards[j] - upwards[j + 1]
        for shade, dashes in _dashes(shades[:, j], across, gap).items():
            row = f"M{px(dashes[0][0])} {px(middle)}h{px(dashes[0][1])}"
            for (before, length), (x, wide) in pairwise(dashes):
                row += f"m{px(x - before - length)} 0h{px(wide)}"
            paths.setdefault((shade, round(height - gap + lap, 1)), []).append(row)
    for (shade, height), rows in sorted(paths.items()):
        svg.path("".join(rows), f"cells {colours}{shade}", width=height)


def _dashes(
    shades: Integers, across: list[float], gap: float
) -> dict[int, list[tuple[float, float]]]:
    """Return the start and length of each run of cells of one shade."""
    runs: dict[int, list[tuple[float, float]]] = {}
    start = 0
    for i in range(1, len(shades) + 1):
        if i == len(shades) or gap or shades[i] != shades[start]:
            if shades[start]:
                dash = round(across[start] + gap / 2, 1), across[i] - across[start] - gap
                runs.setdefault(int(shades[start]), []).append(dash)
            start = i
    return runs


def draw_legend(
    svg: Svg,
    levels: list[int],
    left: float,
    right: float,
    text: str,
) -> None:
    """Draw the legend, from few to many, above the map."""
    first = left + 24
    svg.text(first - 8, 27, format_number(levels[0]), "end")
    for i in range(SHADES):
        svg.path(f"M{first + 30 * i} 22h28", f"q{i + 1}", width=14)
    last = first + 30 * SHADES
    svg.text(last + 8, 27, f"{format_number(levels[-1])} or more", "start")
    svg.text(right, 27, text, "end wide")
