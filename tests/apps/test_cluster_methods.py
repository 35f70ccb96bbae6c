import pytest

from shoal.apps.cluster_methods import METHODS, Asked, groups_of, named
from shoal.domain import Box
from shoal.errors import InvalidSetting

BOX = Box(age=(0, 110))


@pytest.mark.parametrize(
    ("words", "meant"),
    [(None, None), ("8", range(8, 9)), ("2-12", range(2, 13)), (" 2 - 4 ", range(2, 5))],
)
def test_groups_are_a_number_or_a_range(words, meant):
    assert groups_of(words) == meant


@pytest.mark.parametrize(
    "words", ["", "-", "8-", "-8", "0", "5-2", "1.5", "few", "1-10001", "2-3-4"]
)
def test_anything_else_is_refused(words):
    with pytest.raises(InvalidSetting, match="-k"):
        groups_of(words)


def test_a_name_close_to_a_method_is_named():
    with pytest.raises(InvalidSetting) as caught:
        named("priv_tree")
    assert caught.value.next_step.startswith("Did you mean privtree?")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_built_with_what_was_asked(name):
    asked = Asked(name, "0.5", BOX, range(3, 4), entity="id", max_rows_per_person=2, drop=True)
    model = METHODS[name].build(asked)
    told = model.get_params()
    assert (told["n_clusters"], told["epsilon"], told["domain"]) == (3, "0.5", BOX)
    assert (told["entity"], told["max_rows_per_person"]) == ("id", 2)
    assert told["nonfinite"] == "drop"
    assert told["method"] == ("auto" if name == "kmeans" else name)


def test_a_range_is_handed_on_to_be_chosen_from():
    model = METHODS["kmeans"].build(Asked("kmeans", "1", BOX, range(2, 5), choose="gap"))
    assert (model.n_clusters, model.choose) == (range(2, 5), "gap")


def test_k_means_needs_a_number_of_groups():
    with pytest.raises(InvalidSetting, match="how many groups"):
        METHODS["kmeans"].build(Asked("kmeans", "1", BOX))
