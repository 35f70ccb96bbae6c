"""The keys of a policy as a JSON Schema, by which editors complete and check a policy file."""

import re
from collections.abc import Iterator
from typing import Any

from shoal.anonymize._policy import Policy

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HEADING = re.compile(r"\n\s*\w[\w ]*\n\s*-{3,}\n")


def policy_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy, each key with what it does.

    Descriptions are the docstrings of the classes that read a policy, so that they cannot differ.

    Examples
    --------
    >>> schema = policy_json_schema()
    >>> schema["$defs"]["Privacy"]["properties"]["k"]["description"]
    'How many people share each combination; 1 only beside `k_map`.'
    """
    schema: dict[str, Any] = {"$schema": _DIALECT, **Policy.model_json_schema()}
    for part in (schema, *schema["$defs"].values()):
        summary, keys = _read_docstring(part.get("description", ""))
        part["description"] = summary
        for name, of in part.get("properties", {}).items():
            of.pop("title", None)
            if name in keys:
                of["description"] = keys[name]
    return schema


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a docstring, and what it says of each parameter."""
    summary, _, rest = text.replace("``", "`").partition("\n\n")
    start = re.search(r"Parameters\n\s*-+\n", rest)
    if start is None:
        return " ".join(summary.split()), {}
    listed = _HEADING.split(rest[start.end() :])[0]
    return " ".join(summary.split()), dict(_entries(listed))


def _entries(listed: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each parameter; a name stands alone at the start of its line."""
    for part in re.split(r"\n(?=\S)", listed.strip()):
        name, _, text = part.partition("\n")
        if text.strip():
            yield name.strip(), " ".join(text.split())
