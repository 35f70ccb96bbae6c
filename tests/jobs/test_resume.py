import pytest

from shoal.errors import BudgetExceeded, RunChanged, setting
from shoal.jobs._resume import note_spending


@pytest.mark.parametrize("spent", [True, False])
def test_a_failure_says_what_it_cost_and_keeps_its_facts(spent):
    with pytest.raises(BudgetExceeded) as caught, note_spending(lambda: spent):
        raise BudgetExceeded("Too much " + setting("epsilon") + ".", "Stop.")
    assert caught.value.message == "Too much epsilon."
    assert ("as spent" in caught.value.hint) is spent
    assert caught.value.setting == "epsilon"


def test_other_failures_say_so_on_standard_error(capsys):
    with pytest.raises(KeyboardInterrupt), note_spending(lambda: True, resumable=True):
        raise KeyboardInterrupt
    assert "continues and pays for nothing twice" in capsys.readouterr().err


def test_a_run_that_cannot_go_on_is_not_said_to():
    with pytest.raises(RunChanged) as caught, note_spending(lambda: True, resumable=True):
        raise RunChanged("Changed.", "Run it again.")
    assert "as spent" in caught.value.hint
    assert "pays for nothing twice" not in caught.value.hint
