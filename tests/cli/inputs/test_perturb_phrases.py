import re
from pathlib import Path

import pytest

import shoal
from shoal.cli.inputs.perturb_phrases import PHRASES, in_words, saying_what_is_spent
from shoal.errors import BudgetExceeded, InvalidSetting

SOURCES = [*Path(shoal.__file__).parent.rglob("*.py")]
SOURCE = "".join(file.read_text() for file in SOURCES if "perturb_words" not in file.name)
SAID = re.sub(r'"\s*f?"', "", SOURCE).replace("{type(self).__name__}", "SquareWave")


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_is_one_the_library_says(phrase):
    assert phrase in SAID


def test_what_is_said_to_programs_is_said_to_people():
    with pytest.raises(InvalidSetting, match="Widen it, or give --clip"), in_words():
        raise InvalidSetting("It is narrow.", "Widen it, or give clip=True.")


@pytest.mark.parametrize("spent", [True, False])
def test_a_failure_says_what_it_cost(spent):
    with pytest.raises(BudgetExceeded) as caught, saying_what_is_spent(lambda: spent):
        raise BudgetExceeded("Too much.", "Stop.")
    assert caught.value.message == "Too much."
    assert ("as spent" in caught.value.hint) is spent
