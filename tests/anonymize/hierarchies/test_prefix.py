import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import prefix
from shoal.errors import AmbiguousLabel

codes = st.lists(st.text("0123ab", min_size=1, max_size=6), min_size=1, max_size=20)


def test_levels_keep_fewer_characters():
    tree = prefix(pa.array(["70173", "70174", "70565", "01219", "01220"]), [5, 3, 1])
    assert [n.label for n in tree.taxonomy.children("*")] == ["0*", "7*"]
    assert [n.label for n in tree.taxonomy.children("7*")] == ["701*", "70565"]
    assert tree.learnt


def test_what_is_longer_than_the_first_level_is_cut_at_once():
    tree = prefix(pa.array(["12345678", "12399999", "12"]), [3, 2])
    assert set(tree.taxonomy.leaves) == {"123*", "12"}
    assert tree.leaf_of(pa.array(["123000", " 12 ", "9"])).tolist() == [
        tree.taxonomy.leaves.index("123*"), tree.taxonomy.leaves.index("12"), -1,
    ]  # fmt: skip


@given(codes, st.sets(st.integers(1, 6), min_size=1, max_size=3))
def test_every_value_has_a_leaf_and_its_labels_are_its_own_beginnings(values, keep):
    tree = prefix(pa.array(values), sorted(keep, reverse=True))
    found = tree.leaf_of(pa.array(values))
    assert (found >= 0).all()
    for value, code in zip(values, found, strict=True):
        for place in tree.levels[:-1, code]:
            label = tree.taxonomy.nodes[place].label
            assert label == value or value.startswith(label.removesuffix("*"))


def test_values_that_look_like_labels_are_refused_and_not_quoted():
    with pytest.raises(AmbiguousLabel) as caught:
        prefix(pa.array(["123*", "12345"]), [5, 3])
    assert "123" not in str(caught.value)
