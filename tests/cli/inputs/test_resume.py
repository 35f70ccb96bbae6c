import pytest

from shoal.cli.inputs._resume import note_spending
from shoal.errors import BudgetExceeded, setting


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
    assert "continues without spending more" in capsys.readouterr().err
