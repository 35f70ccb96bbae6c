"""Write the reference of policies and their JSON Schema from the classes that read a policy.

    python tools/policy_reference.py

Both files are made here and nowhere else; a test holds them to the code.
"""

import json
from pathlib import Path
from typing import Any

import yaml

from shoal.anonymize._policy_schema import policy_json_schema

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guides" / "policy-reference.md"
SCHEMA = ROOT / "docs" / "policies" / "policy.schema.json"
HEAD = """\
# Every key of a policy

A policy says what each column of a table is, what is promised, how the release is searched for and
where it goes; [Hand over a table](hand-over-a-table.md) begins with one. This page is made from the
classes that read a policy, so it names every key there is. Unknown keys are refused, with the
nearest known one. In Python a policy is [`shoal.anonymize.Policy`](../reference/anonymize.md).

Editors complete and check a policy by its [JSON Schema](../policies/policy.schema.json). With the
YAML extension of VS Code and others, put the path to a copy of it in the first line:

```yaml
# yaml-language-server: $schema=policy.schema.json
```

## A whole policy

```yaml
{whole}```
"""
WHOLE = """\
version: 1
input: {path: visits.csv, null_values: ["", NA]}
attributes:
  name: {role: identifier}
  age:
    role: quasi
    type: int
    domain: [0, 110]
    hierarchy: {kind: binary, min_width: 5}
  town:
    role: quasi
    hierarchy: {tree: {"*": {north: [York, Leeds], south: [Bath, Dover]}}}
  illness: {role: sensitive, l: {kind: distinct, value: 2}}
  visits: {role: other}
privacy: {k: 10, suppression: 0.02}
output: {path: released.csv}
"""
# Values to show where the type alone says little; every other key shows its default or a choice.
EXAMPLES: dict[str, Any] = {
    "version": 1,
    "input.path": "visits.csv",
    "input.null_values": ["", "NA"],
    "attributes.domain": [0, 110],
    "attributes.hierarchy": {"kind": "binary"},
    "attributes.max_level": 2,
    "attributes.key_env": "PSEUDONYM_KEY",
    "attributes.key_file": "pseudonyms.key",
    "attributes.l": {"value": 2},
    "attributes.t": {"value": 0.3},
    "attributes.order": ["low", "mid", "high"],
    "privacy.k": 10,
    "privacy.person": "person_id",
    "search.target": "illness",
    "search.restarts": 8,
    "output.path": "released.csv",
    "output.mapping": "mapping.csv",
    "output.manifest": "manifest.json",
    "output.report": "report.html",
    "output.people": "people.curator",
}
# One column for each kind of hierarchy, with all of its keys; each is read by the test.
HIERARCHIES: dict[str, str] = {
    "FileSpec": "{role: quasi, hierarchy: {file: towns.csv, format: arx, labels: opaque}}",
    "TreeSpec": '{role: quasi, hierarchy: {tree: {"*": {west: [a, b], east: [c]}}, '
    "labels: opaque}}",
    "IntervalSpec": "{role: quasi, type: int, domain: [0, 110], "
    "hierarchy: {kind: interval, width: 5, fanout: 2}}",
    "BinarySpec": "{role: quasi, type: float, domain: [0, 9], "
    "hierarchy: {kind: binary, split: midpoint, min_width: 0.5}}",
    "PrefixSpec": "{role: quasi, hierarchy: {kind: prefix, keep: [5, 3, 1], "
    "values: [10115, 20095]}}",
    "DateSpec": "{role: quasi, type: date, domain: [1920-01-01, 2020-12-31], "
    "hierarchy: {kind: date, levels: [month, year, decade], format: dd/mm/yyyy}}",
    "OrderSpec": "{role: quasi, hierarchy: {kind: order, values: [none, some, much], fanout: 2}}",
    "FrequencySpec": "{role: quasi, hierarchy: {kind: frequency, counts: {tea: 60, mate: 40}, "
    "fanout: 2}}",
}
NOTES = {
    "FileSpec": (
        "An `arx` file has a line for each value, from it up to the root, with semicolons between: "
        "`York;north;*`. `child-parent` has two columns, `nested` is YAML or JSON.\n",
    ),
}
SECTIONS = {
    "Input": "input",
    "Attribute": "attributes",
    "Privacy": "privacy",
    "Search": "search",
    "Output": "output",
}


def page() -> str:
    """The whole page."""
    schema = policy_json_schema()
    parts = schema["$defs"]
    text = [HEAD.replace("{whole}", WHOLE), "## The file\n", table(schema, "")]
    for name, key in SECTIONS.items():
        heading = "attributes, each column" if key == "attributes" else key
        text += [f"## {heading}\n", f"{parts[name]['description']}\n", table(parts[name], key)]
    text.append("## Kinds of hierarchies\n")
    for name, column in HIERARCHIES.items():
        text += [f"### {title(parts[name])}\n", f"{parts[name]['description']}\n"]
        text += [f"```yaml\n{folded(column)}```\n", *NOTES.get(name, ()), table(parts[name], name)]
    shown = {*SECTIONS, *HIERARCHIES}
    for name, part in parts.items():
        if name not in shown and "properties" in part:
            text += [f"## {name}\n", f"{part['description']}\n", table(part, name)]
    return "\n".join(text)


def title(part: dict[str, Any]) -> str:
    """What a kind of hierarchy is called: its `kind`, or the key that names it."""
    keys = part["properties"]
    return f"kind: {keys['kind']['const']}" if "kind" in keys else next(iter(keys))


def folded(column: str) -> str:
    """A column as block YAML, short lines."""
    content = {"column": yaml.safe_load(column)}
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=78)


def table(part: dict[str, Any], section: str) -> str:
    """A line a key: what it does, what it may be, its default and an example."""
    required = part.get("required", ())
    lines = ["| key | what it says | values | default | example |", "|---|---|---|---|---|"]
    for name, of in part["properties"].items():
        key = f"{section}.{name}".lstrip(".")
        default = "needed" if name in required else code(_plain(of.get("default", "")))
        cells = [f"`{name}`", of.get("description", ""), values(of), default, example(key, of)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    """A default, unless it is a whole section, which has a table of its own."""
    return None if isinstance(value, dict) else value


def _link(name: str) -> str:
    if name in HIERARCHIES:
        return "a [hierarchy](#kinds-of-hierarchies)"
    section = SECTIONS.get(name, name)
    return f"[{section}](#{section.lower()})"


def values(of: dict[str, Any]) -> str:
    """What a key may be, in words."""
    if "enum" in of or "const" in of:
        return ", ".join(f"`{each}`" for each in of.get("enum", [of.get("const")]))
    if "$ref" in of:
        return _link(of["$ref"].rsplit("/", 1)[-1])
    for several in ("anyOf", "oneOf"):
        if several in of:
            kinds = [values(each) for each in of[several] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    kinds = {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "boolean": "yes or no",
    }
    kind = of.get("type", "any")
    return {"array": "list", "object": "mapping"}.get(kind) or kinds.get(kind, "any value")


def example(key: str, of: dict[str, Any]) -> str:
    """A value that the key may have."""
    value = EXAMPLES.get(key, _plain(of.get("default")))
    if value is None and ("enum" in of or "const" in of):
        value = of["enum"][-1] if "enum" in of else of["const"]
    name = key.rsplit(".", 1)[-1]
    return "" if value is None else code({name: value})


def code(value: Any) -> str:
    """A value as YAML in one line, as code."""
    if value in ("", None):
        return ""
    shown = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    text = shown.removesuffix("\n...\n").strip()
    return f"`{text[1:-1] if isinstance(value, dict) else text}`"


def schema_text() -> str:
    """The JSON Schema as a file."""
    return json.dumps(policy_json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
