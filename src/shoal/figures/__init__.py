"""Draw figures of plain arrays as SVG with alt text, without a browser or a network request.

A figure is a title, a description in words and plain numbers; the picture is drawn from them.
So a page can be redrawn from its ``report.json`` alone, and nothing hides in a picture.

The words of this package:

- *figure*: title, *alt* text (the picture in words), *data* (its numbers) and a *note* below it.
- *finding*: the main thing a figure shows, in a sentence.
- *map*: cells over two columns. *Chart*: curves, bars and marks. *Panel*: one of several pictures.
- *shade*: a colour step of cell counts. *Mark*: a numbered shape. *Ring*: a distance around one.
- *across*, *upwards*: along the horizontal and the vertical axis.
- *reach*: how far noise may have moved a point, or how far a map goes.
- *raster*: cells or points added up on a regular grid.
- *palette*: colours by *role* (ink, card, shade-1, ...), in light and in dark.
"""

from shoal.figures._figure import Figure
from shoal.figures.charts._before_after import BeforeAfter, before_after
from shoal.figures.charts._budget_curve import BudgetCurve, budget_curve
from shoal.figures.charts._class_sizes import ClassSizes, class_sizes
from shoal.figures.charts._detail_bars import DetailBars, detail_bars
from shoal.figures.charts._dots import Dots, dots
from shoal.figures.charts._error_band import ErrorBand, error_band
from shoal.figures.charts._flow import FlowChart, flow_chart
from shoal.figures.charts._group_profile import GroupProfile, ProfileRow, group_profile
from shoal.figures.charts._grouped_bars import GroupedBars, grouped_bars
from shoal.figures.charts._icicle import Icicle, icicle
from shoal.figures.charts._noise import (
    NoiseBars,
    NoiseHistogram,
    NoiseMap,
    noise_bars,
    noise_histogram,
    noise_map,
)
from shoal.figures.charts._roc import RocCurve, roc_curve
from shoal.figures.charts._roc_panels import RocPanels, roc_panels
from shoal.figures.charts._score_curve import ScoreCurve, score_curve
from shoal.figures.charts._score_marks import ScoreMarks, score_marks
from shoal.figures.charts._setting_curve import CountCurve, count_curve
from shoal.figures.charts._verdict import VerdictFigure, verdict_figure
from shoal.figures.maps._cell_map import Area, CellMap, cell_map, dense_areas, true_cell_map
from shoal.figures.maps._center_maps import CenterMaps, CenterPanel, center_maps
from shoal.figures.maps._cluster_map import ClusterMap, cluster_map
from shoal.figures.maps._mosaic import Mosaic, bars, mosaic, raster_of_cells, raster_of_points
from shoal.figures.maps._stage_map import StageMap, stage_map
from shoal.figures.palette import css_variables
from shoal.figures.svg import figure_style

__all__ = [
    "Area",
    "BeforeAfter",
    "BudgetCurve",
    "CellMap",
    "CenterMaps",
    "CenterPanel",
    "ClassSizes",
    "ClusterMap",
    "CountCurve",
    "DetailBars",
    "Dots",
    "ErrorBand",
    "Figure",
    "FlowChart",
    "GroupProfile",
    "GroupedBars",
    "Icicle",
    "Mosaic",
    "NoiseBars",
    "NoiseHistogram",
    "NoiseMap",
    "ProfileRow",
    "RocCurve",
    "RocPanels",
    "ScoreCurve",
    "ScoreMarks",
    "StageMap",
    "VerdictFigure",
    "bars",
    "before_after",
    "budget_curve",
    "cell_map",
    "center_maps",
    "class_sizes",
    "cluster_map",
    "count_curve",
    "css_variables",
    "dense_areas",
    "detail_bars",
    "dots",
    "error_band",
    "figure_of",
    "figure_style",
    "flow_chart",
    "group_profile",
    "grouped_bars",
    "icicle",
    "mosaic",
    "noise_bars",
    "noise_histogram",
    "noise_map",
    "raster_of_cells",
    "raster_of_points",
    "roc_curve",
    "roc_panels",
    "score_curve",
    "score_marks",
    "stage_map",
    "true_cell_map",
    "verdict_figure",
]

_KINDS: dict[str, type[Figure]] = {
    kind.kind: kind
    for kind in (
        BeforeAfter,
        BudgetCurve,
        CellMap,
        CenterMaps,
        ClassSizes,
        ClusterMap,
        CountCurve,
        DetailBars,
        Dots,
        ErrorBand,
        FlowChart,
        GroupProfile,
        Icicle,
        GroupedBars,
        Mosaic,
        NoiseBars,
        NoiseHistogram,
        NoiseMap,
        RocCurve,
        RocPanels,
        ScoreCurve,
        ScoreMarks,
        StageMap,
        VerdictFigure,
    )
}


def figure_of(values: dict[str, object]) -> Figure:
    """Rebuild a figure from ``Figure.to_dict``: the same picture from stored numbers.

    Parameters
    ----------
    values
        What ``to_dict`` returned.

    Examples
    --------
    >>> figure = dots(10, 24)
    >>> figure_of(figure.to_dict()) == figure
    True
    """
    from shoal.errors import InvalidSetting

    rest = dict(values)
    kind = _KINDS.get(str(rest.pop("kind", "")))
    if kind is None:
        raise InvalidSetting(
            "The kind of the figure is not known.", f"Known kinds: {', '.join(_KINDS)}."
        )
    return kind(**rest)  # type: ignore[arg-type]
