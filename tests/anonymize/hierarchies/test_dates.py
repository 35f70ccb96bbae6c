from datetime import date, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import dates
from shoal.anonymize.hierarchies.dates import PERIODS

days = st.dates(date(1900, 1, 1), date(2030, 12, 31))


@given(st.lists(days, min_size=1, max_size=30), st.sets(st.sampled_from(list(PERIODS)), min_size=1))
def test_days_share_a_leaf_if_they_share_the_finest_period(values, chosen):
    levels = [name for name in PERIODS if name in chosen]
    tree = dates(levels, values=pa.array(values))
    codes = tree.leaf_of(pa.array([str(day) for day in values]))
    finest = PERIODS[levels[0]].number
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (codes[i] == codes[j]) == (finest(a) == finest(b))


def test_periods_are_named_as_people_write_them():
    tree = dates(list(PERIODS), values=pa.array([date(2001, 3, 5), date(2001, 3, 6)]))
    assert tree.paths()[0] == ["2001-03-05", "*", "*", "*", "*", "*"]
    names = [PERIODS[n].name(PERIODS[n].number(date(2001, 3, 5))) for n in PERIODS]
    assert names == ["2001-03-05", "2001-03", "2001-Q1", "2001", "2000s"]


@given(days)
def test_a_period_begins_in_itself(day):
    for period in PERIODS.values():
        number = period.number(day)
        assert period.number(period.first(number)) == number
        assert period.first(number) <= day


def test_a_declared_domain_learns_nothing_and_its_ends_hold_what_lies_beyond():
    tree = dates(["year"], domain=(date(2000, 1, 1), date(2002, 12, 31)))
    assert not tree.learnt
    assert tree.taxonomy.leaves == ("<=2000", "2001", ">=2002")
    far = pa.array([date(1950, 1, 1), date(2001, 1, 1), date(2050, 1, 1)])
    assert tree.leaf_of(far).tolist() == [0, 1, 2]


def test_learnt_leaves_are_the_periods_that_occur():
    first = date(2001, 1, 1)
    values = pa.array([first, first + timedelta(days=400)])
    tree = dates(["month", "year"], values=values)
    assert tree.learnt
    assert tree.taxonomy.leaves == ("2001-01", "2002-02")
