"""Formulas of docstrings as MathML in the API reference, which browsers draw without a script."""

import re
from typing import Any

import griffe
from latex2mathml.converter import convert

FORMULA = re.compile(r":math:`([^`]+)`")


class ReferenceMath(griffe.Extension):
    """Replace each ``:math:`` role, which Markdown does not know."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None and not obj.is_alias:
            obj.docstring.value = FORMULA.sub(_mathml, obj.docstring.value)


def _mathml(match: re.Match[str]) -> str:
    # A line that begins with <math> would be a paragraph of its own.
    return f"<span>{convert(' '.join(match.group(1).split()))}</span>"
