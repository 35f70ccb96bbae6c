from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize.risk._recount import count_class_sizes, largest_value_share
from shoal.anonymize.table import QueriedTable

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("uvw"), st.integers(0, 4)), min_size=1
)


@pytest.mark.heavy
@settings(deadline=None, max_examples=25)
@given(ROWS, st.booleans())
def test_sizes_and_shares_are_those_of_the_definition(rows, by_person):
    labels, values, owners = (list(column) for column in zip(*rows, strict=True))
    table = QueriedTable({"q": labels, "s": values, "who": owners})
    members, having = defaultdict(set), defaultdict(set)
    for at, (label, value, who) in enumerate(rows):
        person = who if by_person else at
        members[label].add(person)
        having[label, value].add(person)
    owner = "who" if by_person else None
    sizes, n = count_class_sizes(table, ["q"], owner)
    counted = Counter(map(len, members.values()))
    assert dict(sizes.tolist()) == counted
    assert n == len(rows)
    worst = max(len(who) / len(members[label]) for (label, _), who in having.items())
    assert largest_value_share(table, ["q"], "s", owner) == pytest.approx(worst)
