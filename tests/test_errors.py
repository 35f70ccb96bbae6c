import inspect
import pickle
import re
from pathlib import Path

import pytest

from shoal import errors

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.ShoalError)
}
WARNINGS = {"NoGroupsTold"}
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
    assert {name for _, name in drawn_tree()} == set(CLASSES) == set(errors.__all__) - WARNINGS


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


def test_every_error_is_raised_somewhere():
    code = "\n".join(p.read_text() for p in SOURCE.rglob("*.py") if p.name != "errors.py")
    bases = {base.__name__ for value in CLASSES.values() for base in value.__bases__}
    unused = [name for name in CLASSES if name not in bases and f"{name}(" not in code]
    assert unused == []
