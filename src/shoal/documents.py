"""Documents beside rows, in YAML or JSON: read strictly, and never quoted if they cannot be read.

A file may be anything: people's rows given by mistake, or a few lines that stand for billions of
values. So a document nests to a limit, aliases repeat up to a limit, every number and character in
it is one that can be computed with and written, and an error says where it is wrong, not what
stands there.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shoal.errors import InvalidDomain

__all__ = [
    "DEEPEST",
    "has_own_digest",
    "json_text",
    "parse_json",
    "read_yaml",
    "rename_old_keys",
    "to_plain",
    "with_digest",
]

DEEPEST = 100  # lists and mappings within each other: no document of ours has a dozen
_MOST_REPEATED = 1_000_000  # values that aliases stand for
_MOST_BITS = 1_000  # of a whole number: it should fit a double
_MERGE = "tag:yaml.org,2002:merge"
_HALF = re.compile("[\ud800-\udfff]")  # of a character; it cannot be written to any file
_MEND = "Correct that line; indent with spaces, not tabs."
# What the YAML library says about a place, up to the first word it takes from the file. Signs and
# names of tokens are its own words.
_OWN_WORDS = re.compile(r"""(?:[^'"]|'[^\w\s]{1,2}'|'\\t'|'<[a-z ]+>')*""")
# Keys of documents that earlier versions wrote or read, with their present names.
_RENAMED = {"entity": "person"}
_DIGEST = "digest"
_NO_VALUE = (ValueError, KeyError, AttributeError, TypeError, OverflowError, RecursionError)


def parse_json(text: str) -> Any:
    """The content of a JSON document.

    Raises
    ------
    ValueError
        It is no JSON, nests too deeply, or holds a number or character that is none. The message
        quotes nothing of it.

    Examples
    --------
    >>> parse_json('{"k": 3}')
    {'k': 3}
    >>> parse_json("[" * 1000 + "]" * 1000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested more than 100 levels deep
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    except ValueError:
        raise ValueError("it is not JSON") from None
    problem = next(_problems(content), None)
    if problem:
        raise ValueError(problem)
    return content


def rename_old_keys(content: Mapping[Any, Any]) -> dict[Any, Any]:
    """A document with the present names of keys that had other names in earlier versions.

    An old key stays if its present name is there too: whoever checks the keys then refuses it.

    Examples
    --------
    >>> rename_old_keys({"k": 5, "entity": "patient"})
    {'k': 5, 'person': 'patient'}
    """
    old = {key: new for key, new in _RENAMED.items() if new not in content}
    return {old.get(key, key): value for key, value in content.items()}


def to_plain(value: Any) -> Any:
    """Values as JSON has them: NumPy's as Python's, None for a number that is not finite.

    Whatever else is not JSON becomes text: what is to be said after a budget was spent must not
    fail for the type of a value.

    Examples
    --------
    >>> import numpy as np
    >>> to_plain({"clear": np.bool_(True), "sizes": np.arange(2), "mean": np.nan, 1: Path("a")})
    {'clear': True, 'sizes': [0, 1], 'mean': None, '1': 'a'}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): to_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)


def json_text(values: Any) -> str:
    """Values as an indented JSON document, made plain first."""
    return json.dumps(to_plain(values), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def with_digest(values: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the digest of all else in it: a slip of the hand is then seen.

    Whoever changes a document on purpose can write another digest: that is what signatures are for.

    Examples
    --------
    >>> has_own_digest(with_digest({"epsilon": "1"}))
    True
    """
    return {**values, _DIGEST: _digest_of(values)}


def has_own_digest(content: Mapping[str, Any]) -> bool | None:
    """Whether a document is as it was written; None if it has no digest."""
    if _DIGEST not in content:
        return None
    rest = {name: value for name, value in content.items() if name != _DIGEST}
    return bool(content[_DIGEST] == _digest_of(rest))


def _digest_of(values: Mapping[str, Any]) -> str:
    """The SHA-256 checksum of a document, however it is indented."""
    text = json.dumps(to_plain(values), separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file, which must exist, parse and repeat no key."""
    import yaml

    try:
        text = Path(os.path.expanduser(path)).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidDomain(
            f"{path} cannot be read: {error.strerror}.", "Check the path.", reason="file"
        ) from None
    except UnicodeError:
        raise InvalidDomain(
            f"{path} is not YAML: it is not text in UTF-8.", _MEND, reason="file"
        ) from None
    try:
        content = yaml.load(text, Loader=_strict_loader())
    except yaml.YAMLError as error:
        raise InvalidDomain(
            f"{path} is not valid YAML{_problem_text(error)}.", _MEND, reason="file"
        ) from None
    except _NO_VALUE:
        raise InvalidDomain(
            f"{path} is not valid YAML: it has a malformed number, date or truth value.",
            "Put text in quotes.",
            reason="file",
        ) from None
    problem = next(_problems(content), None)
    if problem:
        raise InvalidDomain(f"{path} cannot be used: {problem}.", "Use plain YAML.", reason="file")
    return content


def _problem_text(error: Any) -> str:
    """Where a file is wrong and in which way, in words that are not the file's."""
    where = getattr(error, "problem_mark", None)
    line = f" (line {where.line + 1})" if where else ""
    problem = getattr(error, "problem", None) or "it is not text"
    match = _OWN_WORDS.match(problem)
    return f"{line}: {match[0].strip() if match and match[0] else 'it is not text'}"


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} levels deep"


def _problems(content: Any) -> Iterator[str]:
    """What no part of shoal can use, wherever in the document it is."""
    left = [(content, 1)]
    while left:
        value, depth = left.pop()
        if isinstance(value, str):
            if _HALF.search(value):
                yield "it holds half of a surrogate pair"
        elif isinstance(value, int):
            if value.bit_length() > _MOST_BITS:
                yield f"it holds a whole number of more than {_MOST_BITS} bits"
        elif isinstance(value, Mapping | list | tuple | set):
            if depth > DEEPEST:
                yield _too_deep()
                return
            inside = [*value, *value.values()] if isinstance(value, Mapping) else value
            left += [(each, depth + 1) for each in inside]


@cache
def _strict_loader() -> Any:
    """A loader that refuses keys given twice, and stops where a document grows too deep or long.

    Made on first use: clients that read no YAML need not have it.
    """
    import yaml

    class StrictLoader(yaml.SafeLoader):
        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self._depth = self._values = self._repeated = 0
            self._sizes: dict[int, int] = {}  # by node: the values that it stands for

        def compose_node(self, parent: Any, index: Any) -> Any:
            repeats, begun = self.check_event(yaml.AliasEvent), self._values
            self._depth += 1
            if self._depth > DEEPEST:
                self._refuse(_too_deep())
            node = super().compose_node(parent, index)
            self._depth -= 1
            self._values += self._again(node) if repeats else 1
            self._sizes[id(node)] = self._values - begun
            return node

        def _again(self, node: yaml.Node | None) -> int:
            """How many values an alias stands for: those of what it names."""
            if id(node) not in self._sizes:
                self._refuse("an alias refers to the value that contains it")
            self._repeated += self._sizes[id(node)]
            if self._repeated > _MOST_REPEATED:
                self._refuse(f"its aliases expand to more than {_MOST_REPEATED:,} values")
            return self._sizes[id(node)]

        def _refuse(self, problem: str) -> None:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, problem, mark)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = set()
            for name, _ in node.value:
                key = "<<" if name.tag == _MERGE else self.construct_object(name, deep=True)
                if isinstance(key, Hashable) and key in keys:
                    raise yaml.constructor.ConstructorError(
                        None, None, "a key is given twice", name.start_mark
                    )
                if isinstance(key, Hashable):  # else refused by the library
                    keys.add(key)
            return super().construct_mapping(node, deep)

    return StrictLoader
