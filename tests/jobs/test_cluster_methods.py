import pytest

from shoal.cluster import WaveCluster
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting
from shoal.jobs._cluster_methods import (
    METHODS,
    ClusterOptions,
    WaveOptions,
    method_named,
    parse_cells,
    parse_groups,
    public_rows,
)
from shoal.privacy import ApproxDP, PureDP

BOX = Box(age=(0, 110))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (None, None),
        ("8", range(8, 9)),
        ("2-12", range(2, 13)),
        (" 2 - 4 ", range(2, 5)),
        ("auto", range(2, 13)),
    ],
)
def test_groups_are_a_number_or_a_range(words, meant):
    assert parse_groups(words) == meant


@pytest.mark.parametrize(
    "words", ["", "-", "8-", "-8", "0", "5-2", "1.5", "few", "1-10001", "2-3-4"]
)
def test_anything_else_is_refused(words):
    with pytest.raises(InvalidSetting, match="n_clusters"):
        parse_groups(words)


def test_a_name_close_to_a_method_is_named():
    with pytest.raises(InvalidSetting) as caught:
        method_named("priv_tree")
    assert caught.value.hint.startswith("Did you mean privtree?")


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("prototypes", "wave")])
def test_every_k_means_is_built_with_what_was_asked(name):
    options = ClusterOptions(
        name, "0.5", BOX, range(3, 4), person="id", max_rows_per_person=2, drop=True
    )
    model = METHODS[name].build(options)
    told = model.get_params()
    assert (told["n_clusters"], told["privacy"], model.box) == (3, PureDP("0.5"), BOX)
    assert (told["domain"].person, told["domain"].max_rows_per_person) == ("id", 2)
    assert told["nonfinite"] == "drop"
    assert told["method"] == ("auto" if name == "kmeans" else name)


def test_a_range_is_handed_on_to_be_chosen_from():
    model = METHODS["kmeans"].build(ClusterOptions("kmeans", "1", BOX, range(2, 5), choose="gap"))
    assert (model.n_clusters, model.choose) == (range(2, 5), "gap")


def test_k_means_needs_a_number_of_groups():
    with pytest.raises(InvalidSetting, match="The number of groups is missing"):
        METHODS["kmeans"].build(ClusterOptions("kmeans", "1", BOX))


def test_wavecluster_is_built_with_what_was_asked():
    waves = WaveOptions("privthr", "64,32", "percentile", 1, "db2")
    options = ClusterOptions("wave", "0.5", BOX, person="id", max_rows_per_person=2, waves=waves)
    model = METHODS["wave"].build(options)
    assert isinstance(model, WaveCluster)
    told = model.get_params()
    assert (told["variant"], told["cells"], told["selector"]) == ("privthr", (64, 32), "percentile")
    assert (told["level"], told["wavelet"], told["domain"].person) == (1, "db2", "id")


def test_what_was_not_asked_is_left_to_the_estimator():
    model = METHODS["wave"].build(ClusterOptions("wave", "1", BOX))
    told, untouched = model.get_params(), WaveCluster().get_params()
    for name in ("variant", "cells", "selector", "level", "wavelet"):
        assert told[name] == untouched[name]


@pytest.mark.parametrize(
    ("words", "meant"), [("64", 64), ("64, 32", (64, 32)), (" auto ", "auto"), ("8,8,8", (8, 8, 8))]
)
def test_cells_are_one_number_or_one_a_column(words, meant):
    assert parse_cells(words) == meant


@pytest.mark.parametrize("words", ["", "few", "64,", "-3", "1.5", "64x32"])
def test_other_cells_are_refused(words):
    with pytest.raises(InvalidSetting, match="cells"):
        parse_cells(words)


def test_settings_of_one_kind_are_refused_with_the_other():
    with pytest.raises(InvalidSetting, match="for method='wave'"):
        METHODS["kmeans"].build(
            ClusterOptions("kmeans", "1", BOX, range(2, 3), waves=WaveOptions(level=1))
        )
    for own in ({"n_clusters": range(2, 3)}, {"delta": "1e-9"}):
        with pytest.raises(InvalidSetting, match="finds the number of groups"):
            METHODS["wave"].build(ClusterOptions("wave", "1", BOX, **own))


def test_k_prototypes_are_built_with_what_was_asked():
    options = ClusterOptions(
        "prototypes", "0.5", None, range(3, 4), drop=True, schema=Schema.of_box(BOX, person="id")
    )
    told = METHODS["prototypes"].build(options).get_params()
    assert (told["n_clusters"], told["privacy"]) == (3, PureDP("0.5"))
    assert told["domain"] == options.schema
    assert options.work["domain"] == options.schema.to_dict()


def test_k_prototypes_take_a_delta():
    options = ClusterOptions(
        "prototypes", "1", None, range(3, 4), delta="1e-9", schema=Schema.of_box(BOX)
    )
    assert METHODS["prototypes"].build(options).privacy == ApproxDP(1, "1e-9")


def test_k_prototypes_choose_within_a_range():
    options = ClusterOptions("prototypes", "1", None, range(2, 5), schema=Schema.of_box(BOX))
    assert METHODS["prototypes"].build(options).n_clusters == range(2, 5)


@pytest.mark.parametrize(
    "more",
    [{"choose": "gap"}, {"n_clusters": None}],
)
def test_options_that_k_prototypes_cannot_take_are_refused(more):
    given = {"n_clusters": range(3, 4), "schema": Schema.of_box(BOX)} | more
    with pytest.raises(InvalidSetting):
        METHODS["prototypes"].build(ClusterOptions("prototypes", "1", None, **given))


def test_public_rows_are_for_numbers_and_for_k_means(tmp_path):
    path = tmp_path / "public.csv"
    path.write_text("age\n30\n70\n")
    rows = public_rows(path, BOX)
    assert rows.tolist() == [[30.0], [70.0]]
    with pytest.raises(InvalidSetting, match="init"):
        public_rows(path, None)
    with pytest.raises(InvalidSetting, match="init"):
        METHODS["wave"].build(ClusterOptions("wave", "1", BOX, init=rows))
    without, given = (
        ClusterOptions("kmeans", "1", BOX, range(2, 3), init=init) for init in (None, rows)
    )
    assert "init" not in without.work
    assert given.work["init"] != ClusterOptions("kmeans", "1", BOX, init=rows + 1).work["init"]
