import pytest

from shoal.pages.groups._view import count_text


@pytest.mark.parametrize(("k", "text"), [(0, "No groups"), (1, "1 group"), (2, "2 groups")])
def test_groups_are_counted_as_in_a_sentence(k, text):
    assert count_text(k) == text
