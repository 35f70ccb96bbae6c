import pytest

from shoal.domain import Box, Schema
from shoal.errors import InvalidDomain, InvalidSetting, TooLarge, UnknownBounds
from shoal.jobs.reports._mechanism import MechanismOptions, Name, build, mechanism_name, remap_of
from shoal.mechanisms import Restrict, bayes_remap

FILE = """
version: 1
columns:
  age: {low: 0, high: 110}
  visits: {low: 0, high: 20}
  height: {low: 0.3, high: 2.6}
  sex: {values: [F, M]}
"""


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "people.yaml"
    path.write_text(FILE)

    def ask(name="nd-laplace", columns="age,visits", domain=path, **more):
        rest = {"epsilon": "1", "scale": None, "lattice": "auto", "clip": False} | more
        return MechanismOptions(Name(name), columns=columns, domain=domain, **rest)

    return ask


WIDTHS = {
    "spherical-laplace": "age,visits,height",
    "square-wave": "age",
    "staircase": "age",
    "randomized-response": "sex",
    "unary-encoding": "sex",
    "mixed": "age,sex",
}


@pytest.mark.parametrize("name", [name for name in Name if name not in (Name.rounds, Name.auto)])
def test_every_other_name_makes_a_mechanism(asked, name):
    epsilon = "20" if name is Name.restricted_laplace else "1"
    mechanism, domain, _ = build(asked(name, WIDTHS.get(name, "age,visits"), epsilon=epsilon))
    assert mechanism.guarantee.epsilon == int(epsilon)
    assert isinstance(domain, Schema if "sex" in WIDTHS.get(name, "") else Box)


def test_restricted_laplace_restricts(asked):
    assert isinstance(build(asked("restricted-laplace", epsilon="20")).mechanism, Restrict)


def test_columns_come_in_the_order_asked_for(asked):
    assert build(asked(columns=" visits , age")).domain.names == ("visits", "age")


def test_settings_reach_the_mechanism(asked):
    mechanism = build(asked(scale="10,2", lattice="0.001", clip=True)).mechanism
    assert (mechanism.scale, mechanism.lattice, mechanism.clip) == ((10.0, 2.0), 0.001, True)
    assert build(asked(scale="box")).mechanism.scale == "box"


def test_cells_reach_the_grid(asked):
    assert build(asked("local-grid")).mechanism.cells == "auto"
    assert build(asked("local-grid", cells="5,4", clip=True)).mechanism.cells == (5, 4)


def test_latitude_comes_first_on_a_map(tmp_path):
    path = tmp_path / "city.yaml"
    path.write_text(
        "version: 1\n"
        "columns: {lon: {low: 13, high: 14}, lat: {low: 52, high: 53}}\n"
        "geo: {latitude: lat, longitude: lon}\n"
    )
    asked = MechanismOptions(Name.nd_laplace, "1", "lon,lat", path, None, "auto", False)
    mechanism, box, person = build(asked)
    assert box.names == ("lat", "lon")
    assert person is None
    assert mechanism.guarantee.unit == "km"


@pytest.mark.parametrize("columns", ["lat", "lon"])
def test_a_part_of_a_map_is_refused(tmp_path, columns):
    path = tmp_path / "city.yaml"
    path.write_text(
        "version: 1\n"
        "columns: {lat: {low: 52, high: 53}, lon: {low: 13, high: 14}}\n"
        "geo: {latitude: lat, longitude: lon}\n"
    )
    with pytest.raises(InvalidDomain, match="only one of latitude and longitude") as caught:
        build(MechanismOptions(Name.nd_laplace, "1", columns, path, None, "auto", False))
    assert "columns='lat,lon'" in caught.value.hint


@pytest.mark.parametrize("name", list(Name))
def test_a_mechanism_is_known_by_its_name(name):
    assert mechanism_name(name.value) is name


@pytest.mark.parametrize(
    ("word", "meant"),
    [("planar_laplace", "planar-laplace"), ("PieceWise", "piecewise"), ("ndlaplace", "nd-laplace")],
)
def test_a_name_misspelt_is_met_with_the_nearest_and_the_list(word, meant):
    with pytest.raises(InvalidSetting) as caught:
        mechanism_name(word)
    assert f"Did you mean {meant}?" in caught.value.hint
    assert "unary-encoding" in caught.value.hint


def test_a_name_like_no_other_is_met_with_the_list():
    with pytest.raises(InvalidSetting, match="Choose one of nd-laplace") as caught:
        mechanism_name("zzz")
    assert "Did you mean" not in caught.value.hint


def test_degrees_without_geo_are_refused(tmp_path):
    path = tmp_path / "city.yaml"
    path.write_text("version: 1\ncolumns: {lat: {low: 52, high: 53}, lon: {low: 13, high: 14}}\n")
    with pytest.raises(ValueError, match="per degree"):
        build(MechanismOptions(Name.nd_laplace, "1", None, path, None, "auto", False))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"domain": None}, UnknownBounds),
        ({"columns": "income"}, UnknownBounds),
        ({"columns": "age,sex"}, InvalidSetting),
        ({"name": "randomized-response", "columns": "age"}, InvalidSetting),
        ({"name": "piecewise", "scale": "box"}, InvalidSetting),
        ({"scale": "wide"}, InvalidSetting),
        ({"lattice": "none"}, InvalidSetting),
        ({"name": "unary-encoding", "columns": "sex", "clip": True}, InvalidSetting),
        ({"name": "local-grid", "cells": "many"}, InvalidSetting),
        ({"cells": "9"}, InvalidSetting),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(asked, settings, error):
    with pytest.raises(error):
        build(asked(**settings))


def remap(asked, words, name="nd-laplace", **settings):
    settings = asked(name, WIDTHS.get(name, "age,visits"), **settings)
    return remap_of(words, settings.name, build(settings))


def test_remaps_are_made_of_the_box(asked):
    assert remap(asked, None) is None
    assert remap(asked, "clamp").domain == Box(age=(0, 110), visits=(0, 20))
    assert remap(asked, "snap:16").nodes == (16, 16)
    assert remap(asked, "bayes") == bayes_remap("em")
    assert remap(asked, "clamp", "piecewise").domain == Box(age=(0, 110), visits=(0, 20))


@pytest.mark.parametrize(
    "words", ["snap", "snap:", "snap:x", "clamp:3", "bayes:em", "em", "snap:1", ""]
)
def test_other_remaps_are_refused(asked, words):
    with pytest.raises(InvalidSetting, match="`clamp`, `snap:N`"):
        remap(asked, words)


@pytest.mark.parametrize("name", ["mixed", "randomized-response", "unary-encoding", "local-grid"])
@pytest.mark.parametrize("words", ["clamp", "bayes"])
def test_categories_and_cells_take_no_remap(asked, name, words):
    with pytest.raises(InvalidSetting, match="categories or cells"):
        remap(asked, words, name)


@pytest.mark.parametrize("name", ["piecewise", "restricted-laplace", "square-wave"])
def test_only_laplace_noise_is_undone_by_a_guess(asked, name):
    with pytest.raises(InvalidSetting, match=f"{name} has another") as raised:
        remap(asked, "bayes", name, epsilon="20")
    assert "mechanism='nd-laplace'" in raised.value.hint


def test_guesses_on_too_fine_a_lattice_are_refused_before_a_row_is_read(asked):
    with pytest.raises(TooLarge, match="20000"):
        remap(asked, "bayes", epsilon="20")
