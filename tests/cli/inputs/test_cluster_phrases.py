import pytest

from shoal.cli.inputs.cluster_phrases import in_words
from shoal.errors import BudgetExceeded, InvalidSetting, NotFinite


def test_settings_are_called_what_they_are_called_on_the_command_line():
    with pytest.raises(InvalidSetting) as caught, in_words():
        raise InvalidSetting("n_public is no whole number from 1 up.", "E.g. n_public=500.")
    assert str(caught.value) == "--n-public is no whole number from 1 up.\nE.g. --n-public 500."


def test_missing_numbers_name_the_option_that_leaves_them_out():
    with pytest.raises(NotFinite) as caught, in_words():
        raise NotFinite("3 rows hold NaN.", 'Use nonfinite="drop".')
    assert caught.value.message == "3 rows hold NaN."
    assert "--drop" in caught.value.hint


def test_what_the_gate_says_stays_as_it_is():
    with pytest.raises(BudgetExceeded) as caught, in_words():
        raise BudgetExceeded("Over the limit.", "Lower epsilon=1.0.")
    assert caught.value.hint == "Lower epsilon=1.0."
