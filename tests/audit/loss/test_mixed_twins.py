from shoal.audit import replay
from shoal.audit.loss._mixed_twins import mixed_twins
from shoal.audit.loss._twins import twins


def test_they_are_among_all_twins():
    assert mixed_twins.keys() <= twins.keys()


def test_an_honest_release_of_the_same_sums_is_not_called_broken():
    """The instrument, not the schema, catches them: `SkippedEmptyGroup` without its slip."""
    twin = mixed_twins["an empty group of a mixed table skipped"]

    class Honest(type(twin)):
        def spend(self, spending):
            from shoal.cluster.prototypes._group_measurements import GroupSums, group_blocks

            (exact,) = spending.sum(GroupSums(self._assignment()))
            self.vectors_ = group_blocks(self.columns).release(spending, exact, of="groups")
            return self

    row = {"age": [1.0], "grade": ["low"], "sex": ["F"], "town": ["a"], "work": ["none"]}
    two = {name: [*values, *values] for name, values in row.items()}
    assert replay(Honest(), two, row).verdict == "consistent"
