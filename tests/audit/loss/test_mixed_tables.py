import pytest

from shoal.audit.loss._mixed_tables import mixed_pairs
from shoal.audit.loss._mixed_twins import SCHEMA
from shoal.privacy import PureDP
from shoal.synopsis import MixedSynopsis


def pairs_of(**settings):
    return list(mixed_pairs(MixedSynopsis(domain=SCHEMA, **settings), 12, 0))


def test_one_row_is_added():
    assert {a.num_rows - b.num_rows for _, a, b in pairs_of(epsilon=1)} == {1}


def test_one_row_is_replaced_where_the_promise_says_so():
    promise = PureDP(1, neighbours="replace-one")
    assert {a.num_rows - b.num_rows for _, a, b in pairs_of(privacy=promise)} == {0}


def test_a_lone_row_has_categories_that_no_other_row_has():
    rows = next(a for about, a, _ in pairs_of(epsilon=1) if "no other row" in about)
    assert rows["work"].to_pylist()[:-1].count("all") == 0
    assert rows["work"].to_pylist()[-1] == "all"


@pytest.mark.parametrize("about", ["missing", "beyond", "equal", "like the others"])
def test_there_is_a_pair_of_each_kind(about):
    assert any(about in each for each, _, _ in pairs_of(epsilon=1))
