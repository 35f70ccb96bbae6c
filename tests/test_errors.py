import copy
import inspect
import pickle
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shoal import errors

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.ShoalError)
}
WARNINGS = {"ChoiceNotCovered", "NoGroupsDetected", "PromisesAddUp"}
PARTS = {
    "sentence",
    "SettingPart",
    "Spell",
    "Text",
    "from_literal",
    "quantity",
    "setting",
    "value_text",
}
SOURCE = Path(errors.__file__).parent


def drawn_tree() -> list[tuple[int, str]]:
    lines = re.findall(r"^ {4}([│├└─ ]*)(\w+)", errors.__doc__, re.MULTILINE)
    return [(len(indent) // 4, name) for indent, name in lines]


def test_the_tree_at_the_top_is_the_tree_of_classes():
    parents: list[str] = []
    for depth, name in drawn_tree():
        parents[depth:] = [name]
        if depth:
            assert issubclass(CLASSES[name], CLASSES[parents[depth - 1]]), name
    assert (
        {name for _, name in drawn_tree()} == set(CLASSES) == set(errors.__all__) - WARNINGS - PARTS
    )


def test_warnings_are_no_errors_and_are_named_at_the_top():
    for name in WARNINGS:
        assert issubclass(getattr(errors, name), UserWarning)
        assert f"``{name}``" in errors.__doc__


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_error_says_what_came_and_what_next_and_travels(name):
    error = CLASSES[name]("What came.", "What to do.")
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.hint, str(again)) == ("What came.", "What to do.", str(error))
    assert error.exit_code in (2, 3, 4)


@pytest.mark.heavy
def test_every_error_is_raised_somewhere():
    code = "\n".join(p.read_text() for p in SOURCE.rglob("*.py") if p.name != "errors.py")
    bases = {base.__name__ for value in CLASSES.values() for base in value.__bases__}
    unused = [
        name for name in CLASSES if name not in bases and not re.search(rf"{name}\b[.(]", code)
    ]
    assert unused == []


WRONG = errors.InvalidSetting(
    errors.setting("scale") + " is {nothing} for 'age'.",
    "E.g. " + errors.setting("scale", (10, 0.5)) + ", or leave " + errors.setting("clip") + " out.",
    reason="no numbers",
)
FACTS = {"setting": "scale", "example": (10, 0.5), "reason": "no numbers"}


def test_sentences_name_settings_as_python_has_them():
    assert WRONG.message == "scale is {nothing} for 'age'."
    assert WRONG.hint == "E.g. scale=(10, 0.5), or leave clip out."
    assert WRONG.facts == FACTS
    assert (WRONG.setting, WRONG.reason) == ("scale", "no numbers")


def test_another_layer_spells_settings_its_own_way_and_nothing_else():
    told = WRONG.spelled(lambda part: f"<{part.name}>")
    assert type(told) is errors.InvalidSetting
    assert str(told) == "<scale> is {nothing} for 'age'.\nE.g. <scale>, or leave <clip> out."
    assert told.setting == "<scale>"
    assert WRONG.setting == "scale"


TRAVELS = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "literal": lambda error: errors.from_literal(error.to_literal()),
}


@pytest.mark.parametrize("way", TRAVELS)
def test_facts_and_parts_travel(way):
    again = TRAVELS[way](WRONG)
    assert type(again) is errors.InvalidSetting
    assert again.facts == FACTS
    assert again.texts == WRONG.texts
    assert str(again) == str(WRONG)


def test_an_error_can_say_where_it_arose_or_have_another_hint():
    assert WRONG.within("Column 'age'").message == "Column 'age': scale is {nothing} for 'age'."
    other = WRONG.changed(hint="Stop.")
    assert (other.message, other.hint, other.facts) == (WRONG.message, "Stop.", FACTS)
    assert WRONG.hint != "Stop."


def test_a_given_value_is_quoted_if_it_is_short_and_plain():
    values = ("abc", 0, 2.5, None, True, np.float64(0.5), Fraction(1, 3), "x" * 41)
    texts = ("'abc'", "0", "2.5", "None", "True", "0.5", "1/3", "text of 41 characters")
    assert tuple(map(errors.value_text, values)) == texts


def test_what_may_hold_rows_is_named_by_its_kind_alone():
    for value, text in (([[7.5]], "a list"), (np.array([7.5]), "a ndarray"), ({}, "a dict")):
        assert errors.value_text(value) == text
    error = errors.InvalidSetting.of("n_public", "must be a whole number", 500, [7.5])
    assert error.message == "n_public must be a whole number; got a list."


def test_counts_agree_with_their_nouns():
    assert errors.quantity(0, "row") == "0 rows"
    assert errors.quantity(1, "row") == "1 row"
    assert errors.quantity(1, "row was", "rows were") == "1 row was"
    assert errors.quantity(10_000, "person", "people") == "10,000 people"


def test_an_example_that_is_small_is_written_as_people_write_it():
    assert str(errors.setting("delta", 1e-8)) == "delta=1e-8"


def test_a_note_stays_whatever_hint_is_given_instead():
    error = errors.InvalidSetting("What came.", "What to do.").noted("It is spent.")
    assert error.hint == "What to do. It is spent."
    assert error.changed(hint="Do that.").hint == "Do that. It is spent."
    assert error.spelled(str).hint == "What to do. It is spent."
    assert pickle.loads(pickle.dumps(error)).hint == "What to do. It is spent."
