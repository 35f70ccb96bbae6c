"""Which column names an error may show: those that were asked for, not those that a file has.

A CSV file without a header line makes its first person's values the names of its columns, and a
stray quote makes one name of many rows. So an error repeats the names that a domain, a policy or an
option asks for; of the file's own it says how many there are and where they stand. There are two
exceptions: a name that differs from a wanted one by a typing slip, and a command that lists names,
which first checks that they look like names. See docs/decisions/column-names.md.
"""

import re
from collections.abc import Sequence

from shoal.errors import UnknownColumn, UnreadableTable, quantity

_LONGEST_NAME = 200  # characters; questions of a survey are names too
_ALLOWED_SLIPS = {5: 1, 9: 2}  # from so many letters, so many may differ
_SEE_FIRST_LINE = "Check its first line (head -1); it is not shown here, as it may be a person's."
_EXACT_SPELLING = "Capitals and spaces matter."
_MOST_SUGGESTED = 5  # names that a nearest spelling is looked for
_NOT_A_NAME = {
    "is empty": r"\s*",
    "is a number": r"[^\w]*[0-9][0-9.,'_ ]*(?:[eE][+-]?[0-9]+)?[^\w]*",
    "is a date or a time": r"[0-9]{1,4}[-/.:][0-9]{1,2}([-/.: T][0-9]{1,4})?.*",
    "is a missing or a truth value": r"(?i:n/?a|nan|null|true|false|-+|\?+)",
    "is an address": r"\S+@\S+\.\S+|https?://.*",
    "holds a line break or an unprintable character": r"(?s).*[\x00-\x1f\x7f-\x9f\u2028\u2029].*",
    f"is longer than {_LONGEST_NAME} characters": rf"(?s).{{{_LONGEST_NAME + 1},}}",
}


def check_header(names: Sequence[str], what: str = "The table") -> None:
    """Refuse to list column names that do not look like names; none is quoted.

    Examples
    --------
    >>> check_header(["age", "visits 2024", "Wie alt sind Sie?"])
    >>> check_header(["Ada Roe", "34", "flu"], "visits.csv")
    Traceback (most recent call last):
    ...
    shoal.errors.UnreadableTable: visits.csv does not seem to start with column names: the 2nd
    ...
    """
    for at, name in enumerate(names):
        kind = next((kind for kind, form in _NOT_A_NAME.items() if re.fullmatch(form, name)), None)
        if kind:
            raise missing_header_error(what, f"the {_ordinal(at)} of {len(names)} {kind}")


def missing_header_error(what: str, why: str) -> UnreadableTable:
    """Return the error for a table whose first line seems to be a person's row."""
    return UnreadableTable(
        f"{what} does not seem to start with column names: {why}.",
        "Add a first line that names each column. The present one is not shown: it may be a "
        "person's row.",
        reason="no header",
    )


def missing_columns_error(
    wanted: Sequence[str], names: Sequence[str], of: str = ""
) -> UnknownColumn:
    """Return the error for columns that a table does not have.

    Parameters
    ----------
    wanted
        All columns that were asked for; those the table lacks are named.
    of
        Whose columns are asked for, e.g. "of the policy's".

    Examples
    --------
    >>> print(missing_columns_error(["age", "Visits"], ["age", "visits", "Ada Roe"]))
    'Visits' of the 2 columns selected is not in the table, which has 3.
    Did you mean 'visits'? Capitals and spaces matter.
    """
    absent = [name for name in wanted if name not in names]
    whose = of or f"of the {quantity(len(wanted), 'column')} selected"
    are = "is" if len(absent) == 1 else "are"
    meant = [
        close for name in absent[:_MOST_SUGGESTED] for close in closest_name(name, names, wanted)
    ]
    hint = f"Did you mean {join_names([*dict.fromkeys(meant)])}? {_EXACT_SPELLING}"
    if not meant:
        missing = "Is its header line missing? " if len(absent) == len(wanted) else ""
        hint = f"{missing}{_SEE_FIRST_LINE} {_EXACT_SPELLING}"
    return UnknownColumn(
        f"{join_names(absent)} {whose} {are} not in the table, which has {len(names)}.", hint
    )


def closest_name(name: str, names: Sequence[str], wanted: Sequence[str] = ()) -> list[str]:
    """Return the one column name that differs from the wanted one by a typing slip, if any.

    Capitals, blanks and signs may differ; of a longer name a letter or two. Digits may not: one
    number is as likely as another, and a person's would be said.

    Examples
    --------
    >>> closest_name("postcode", ["Post Code", "age"]), closest_name("sex", ["six"])
    (['Post Code'], [])
    >>> closest_name("visits", ["visist"])
    ['visist']
    """
    taken = {*wanted}
    # Names of very different length cannot be slips; leaving them out keeps this fast.
    others = [each for each in names if each not in taken and abs(len(each) - len(name)) <= 4]
    plain = _letters(name)
    same = [each for each in others if plain and _letters(each) == plain]
    most = max((slips for least, slips in _ALLOWED_SLIPS.items() if len(plain) >= least), default=0)
    close = [each for each in others if _edit_distance(name.lower(), each.lower()) <= most]
    return [each for each in same + close if _digits(each) == _digits(name)][:1]


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Quote names in a sentence, the first few of many.

    Examples
    --------
    >>> join_names(["age"]), join_names("abcdefg")
    ("'age'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    shown = ", ".join(repr(word) for word in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def column_positions(some: Sequence[str], names: Sequence[str], most: int = 5) -> str:
    """Describe columns by their position instead of their names.

    Examples
    --------
    >>> column_positions(["c", "d"], "abcd")
    'the 3rd and 4th'
    """
    at = [_ordinal(names.index(name)) for name in some]
    shown = at[:most] if len(at) > most else at[:-1]
    last = f"{len(at) - most} more" if len(at) > most else at[-1]
    return "the " + (f"{', '.join(shown)} and {last}" if shown else last)


def _ordinal(at: int) -> str:
    """Return the position after ``at`` others as text: 1st, 2nd, ..."""
    number = at + 1
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _digits(name: str) -> str:
    return re.sub(r"[^0-9]", "", name)


def _edit_distance(one: str, other: str) -> int:
    """Return the edit distance of two words, counting swaps of neighbours as one."""
    before: list[int] = []
    line = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        new = [i]
        for j, b in enumerate(other, start=1):
            least = min(line[j] + 1, new[j - 1] + 1, line[j - 1] + (a != b))
            swapped = i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]
            new.append(min(least, before[j - 2] + 1) if swapped else least)
        before, line = line, new
    return line[-1]
