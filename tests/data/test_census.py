from collections import Counter

import pytest

from shoal.data import adults, adults_hierarchies
from shoal.domain import Taxonomy
from shoal.errors import InvalidSetting

TABLE = adults(5_000, seed=3)
LEAVES = {
    "sex": 2, "age": 74, "race": 5, "marital-status": 7, "education": 16,
    "native-country": 41, "workclass": 8, "occupation": 14, "income": 2,
}  # fmt: skip


def test_the_same_seed_makes_the_same_adults():
    assert adults(5_000, seed=3) == TABLE
    assert adults(5_000, seed=4) != TABLE


@pytest.mark.parametrize("column", LEAVES)
def test_every_value_has_its_place_in_the_hierarchy(column):
    tree = Taxonomy.paths(adults_hierarchies()[column])
    assert tree.size == LEAVES[column]
    assert {*map(str, TABLE[column].to_pylist())} <= {*tree.leaves}
    assert tree.nodes[0].label == "*"


def test_the_columns_are_those_that_have_a_hierarchy():
    assert set(TABLE.column_names) == set(adults_hierarchies()) == set(LEAVES)


def test_an_age_lies_in_each_of_its_ranges():
    for age, *ranges, root in adults_hierarchies()["age"]:
        assert root == "*"
        for each in ranges:
            low, high = map(int, each.split("-"))
            assert low <= int(age) <= high


def test_shares_are_near_those_of_adult():
    shares = {name: Counter(TABLE[name].to_pylist()) for name in TABLE.column_names}
    assert shares["sex"]["Male"] / 5_000 == pytest.approx(0.675, abs=0.03)
    assert shares["income"][">50K"] / 5_000 == pytest.approx(0.25, abs=0.04)
    assert shares["native-country"]["United-States"] / 5_000 == pytest.approx(0.91, abs=0.02)


def test_marriage_follows_age_and_income_education():
    rows = TABLE.to_pylist()

    def share(column, value, where):
        some = [row[column] == value for row in rows if where(row)]
        return sum(some) / len(some)

    assert share("marital-status", "Never-married", lambda row: row["age"] < 25) > 0.7
    assert share("marital-status", "Never-married", lambda row: row["age"] > 50) < 0.2
    graduate = share("income", ">50K", lambda row: row["education"] in ("Masters", "Doctorate"))
    assert graduate > 2 * share("income", ">50K", lambda row: row["education"] == "HS-grad")


def test_no_adults_are_refused():
    with pytest.raises(InvalidSetting, match="whole number"):
        adults(0)
