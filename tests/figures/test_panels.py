import json
from xml.etree import ElementTree

import numpy as np
import pytest

from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import figure_of, noise_bars, noise_histogram, noise_map

WORDS = {"title": "Noise", "finding": "It spreads."}
REPORTS = np.random.default_rng(0).normal(size=(5_000, 2))


def a_histogram(reports=None):
    panels = reports or {"epsilon 1": REPORTS[:, 0], "epsilon 2": REPORTS[:, 0] / 2}
    return noise_histogram(panels, truth=0, low=-3, high=3, name="Report", **WORDS)


def a_map(**more):
    panels = {"epsilon 1": REPORTS, "epsilon 2": REPORTS / 2}
    return noise_map(panels, truth=(0, 0), reach=3, unit="km", **WORDS, **more)


def some_bars():
    return noise_bars({"epsilon 1": [0.7, 0.3]}, names=["yes", "no"], truth=[0], **WORDS)


def every_shape():
    rings = {"epsilon 1": (1.2, 2.4), "epsilon 2": (0.6, 1.2)}
    return [a_histogram(), a_map(), a_map(rings=rings, box=((-1, -1), (1, 1))), some_bars()]


@pytest.mark.parametrize("figure", every_shape(), ids=lambda figure: figure.kind)
def test_a_shape_is_drawn_again_from_its_json(figure):
    again = figure_of(json.loads(json.dumps(figure.to_dict())))
    assert again.svg() == figure.svg()


@pytest.mark.parametrize("figure", every_shape(), ids=lambda figure: figure.kind)
def test_panels_stand_in_a_row_of_250_by_196(figure):
    tree = ElementTree.fromstring(figure.svg())
    assert tree.attrib["viewBox"] == f"0 0 {250 * len(figure.data['panels'])} 196"


@pytest.mark.parametrize("figure", every_shape(), ids=lambda figure: figure.kind)
def test_plotly_shows_every_panel(figure):
    assert len(figure.plotly().data) == len(figure.data["panels"])


def test_words_give_the_error_of_each_panel():
    figure = a_histogram({"epsilon 1": [-1.0, 1.0], "epsilon 2": [0.5, 0.5]})
    assert figure.alt.endswith("Typical error: 1 (epsilon 1); 0.5 (epsilon 2).")


def test_rings_are_drawn_as_wide_as_they_are_said():
    figure = a_map(rings={"epsilon 1": (1.2, 2.4), "epsilon 2": (0.6, 1.2)})
    assert "half within 0.6 and 95 in 100 within 1.2 at epsilon 2" in figure.alt
    tree = ElementTree.fromstring(figure.svg())
    rings = [e.attrib["d"] for e in tree.iter() if e.attrib.get("class", "").startswith("ring")]
    radii = [float(d.split("a")[1].split()[0]) for d in rings]
    across = figure.data["high"][0] - figure.data["low"][0]
    assert radii == pytest.approx([r * 234 / across for r in (1.2, 2.4, 0.6, 1.2)], abs=0.06)


def test_one_ring_has_the_mean_distance():
    figure = a_map(areas={"epsilon 1": 1.25, "epsilon 2": 0.625})
    assert figure.alt.endswith(
        "mean distance of the reports: 1.25 at epsilon 1; 0.625 at epsilon 2."
    )
    assert figure.svg().count('class="ring"') == 2
    assert "mean distance 0.625" in figure.svg()


def test_panels_of_a_map_share_their_shades():
    pale, full = (panel["cells"] for panel in a_map().data["panels"])
    assert np.max(pale) < np.max(full)
    first, second = a_map().svg().split("epsilon 1<")
    assert first.count("cells q6") == 0 < second.count("cells q6")


def test_reports_that_fall_outside_the_axis_still_count_in_its_shares():
    figure = a_histogram({"epsilon 1": [0.0, 9.0]})
    assert sum(figure.data["panels"][0]["shares"]) == 0.5


def test_the_true_entry_is_filled_and_the_others_pale():
    svg = some_bars().svg()
    assert svg.count('class="bar"') == svg.count('class="bar other"') == 1


def test_three_columns_on_a_map_are_refused():
    with pytest.raises(DimensionMismatch):
        noise_map({"epsilon 1": np.zeros((5, 3))}, truth=(0, 0), reach=1, **WORDS)


def test_chances_without_names_are_refused():
    with pytest.raises(DimensionMismatch):
        noise_bars({"epsilon 1": [0.7, 0.2, 0.1]}, names=["yes", "no"], truth=[0], **WORDS)


def test_no_panels_are_refused():
    with pytest.raises(InvalidSetting):
        noise_histogram({}, truth=0, low=-1, high=1, name="Report", **WORDS)


def test_a_file_brings_a_ground_its_ink_stands_out_from():
    assert "background: #FFFFFF" in some_bars().svg()
