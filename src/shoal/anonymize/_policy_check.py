"""Find what is wrong with a policy, and describe it by the keys of its file."""

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from shoal.domain.value_text import normalise_text, value_to_text

if TYPE_CHECKING:
    from shoal.anonymize._policy import Attribute, Policy


_KEYS: dict[str, tuple[str, ...]] = {
    "": ("version", "input", "attributes", "privacy", "search", "output"),
    "input": ("path", "null_values"),
    "privacy": (
        "k", "suppression", "person", "nulls", "population", "k_map", "presence", "average_risk",
        "uniqueness",
    ),
    "population": ("path", "size"),
    "k_map": ("k", "significance"),
    "presence": ("most", "least"),
    "uniqueness": ("most", "within"),
    "search": (
        "score", "objective", "recoding", "local", "loss_unit", "target", "restarts", "seed",
    ),
    "output": ("path", "suppressed", "intervals", "mapping", "manifest", "report", "overwrite"),
    "attributes": (
        "role", "type", "domain", "hierarchy", "weight", "max_level", "distances", "publish",
        "transform", "action", "key_env", "key_file", "l", "t", "order", "force",
    ),
    "transform": ("top", "bottom", "round", "rare"),
    "l": ("kind", "value", "c"),
    "t": ("kind", "value"),
    "FileSpec": ("file", "format", "labels"),
    "TreeSpec": ("tree", "labels"),
    "IntervalSpec": ("kind", "width", "breaks", "fanout"),
    "BinarySpec": ("kind", "split", "min_width"),
    "PrefixSpec": ("kind", "keep", "values"),
    "DateSpec": ("kind", "levels", "format"),
    "OrderSpec": ("kind", "values", "fanout"),
    "FrequencySpec": ("kind", "counts", "fanout"),
}  # fmt: skip
_ONLY = {
    "quasi": ("weight", "max_level", "distances", "publish"),
    "identifier": ("action", "key_env", "key_file"),
    "sensitive": ("l", "t", "order"),
    "other": ("force", "transform"),
}
_PERIODS = ("day", "month", "quarter", "year", "decade")


def describe_problem(problem: Any, content: Mapping[str, Any]) -> str:
    """Describe a problem found by pydantic in one sentence, with the nearest known key."""
    steps = [str(step) for step in problem["loc"] if step != "[key]"]
    shown = ".".join(step for step in steps if step not in _KEYS or not step.endswith("Spec"))
    kind = problem["type"]
    if kind == "extra_forbidden":
        return _unknown_key(steps, shown)
    if kind == "missing":
        return f"{shown} is missing"
    if kind == "literal_error":
        return f"{shown} should be {problem['msg'].removeprefix('Input should be ')}"
    if kind == "union_tag_invalid":
        return (
            f"{shown} has an unknown kind; give `file`, `tree`, or `kind` as interval, binary, "
            "prefix, date, order or frequency"
        )
    if "[key]" in problem["loc"]:
        return f"{shown} is a name that YAML does not read as text; put it in quotes"
    return f"{shown}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def _unknown_key(steps: Sequence[str], shown: str) -> str:
    """Describe an unknown key; it is quoted only if near a known one, else it may be a row's."""
    keys = _KEYS[_section(steps)]
    if difflib.get_close_matches(steps[-1], keys, n=1):
        return f"{shown} is not a known key{nearest_spelling(steps[-1], keys)}"
    above = ".".join(step for step in steps[:-1] if not step.endswith("Spec")) or "it"
    return f"{above} has an unknown key; the keys are {', '.join(keys)}"


def nearest_spelling(word: str, known: Sequence[str]) -> str:
    """Return the known word nearest to this one, or all known words if none is near.

    Examples
    --------
    >>> nearest_spelling("wieght", ["weight", "role"]), nearest_spelling("x", ["weight", "role"])
    ("; did you mean 'weight'?", '; the choices are weight, role')
    """
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; the choices are {', '.join(known)}"


def _section(steps: Sequence[str]) -> str:
    """Return which keys are allowed at a place: those of the nearest section above it."""
    above = steps[:-1]
    if above and above[0] == "attributes":
        above = [above[0], *above[2:]]  # a column may be named like a section
    return next((step for step in reversed(above) if step in _KEYS), "")


def check_consistency(policy: "Policy") -> tuple[list[str], list[str]]:
    """Find problems that no single key shows, such as parts that do not fit together.

    Returns
    -------
    Problems of single settings, and problems between columns.
    """
    settings = list(_settings(policy))
    wrong = [f for name, of in policy.attributes.items() for f in _attribute(name, of)]
    if not policy.names("quasi"):
        wrong.append("no column has the role quasi, so there is nothing to generalise")
    wrong += [*_column_references(policy), *_name_clashes(policy), *_models(policy)]
    return settings, wrong


def _column_references(policy: "Policy") -> Iterator[str]:
    """Yield problems of keys that name a column which is missing or of the wrong role."""
    person, target = policy.privacy.person, policy.search.target
    for key, name in (("privacy.person", person), ("search.target", target)):
        if name is not None and name not in policy.attributes:
            yield (
                f"{key} names a column without a role{nearest_spelling(name, [*policy.attributes])}"
            )
    if person in (*policy.names("quasi"), *policy.names("sensitive")):
        yield "privacy.person is a quasi or sensitive column; it only tells people apart"
    if (policy.search.score == "label-gain") != (target is not None):
        yield "search.target, a column, and the score label-gain must be given together"


def _models(policy: "Policy") -> Iterator[str]:
    """Yield problems of models whose population is missing, or that do not go together."""
    privacy, of = policy.privacy, policy.privacy.population
    if of is not None and (of.path is None) == (of.size is None):
        yield "privacy.population needs either path or size"
    if privacy.k_map is not None and of is None:
        yield "privacy.k_map needs privacy.population, with path or size"
    if privacy.presence is not None and (of is None or of.path is None):
        yield "privacy.presence needs privacy.population.path, a table of the population"
    if privacy.presence is not None and policy.search.recoding == "local":
        yield "privacy.presence needs `recoding: global`: labels that overlap make no one class"
    unique = privacy.uniqueness
    if unique is not None and unique.within == "population" and of is None:
        yield "privacy.uniqueness within the population needs privacy.population"
    if privacy.presence is not None and privacy.presence.least > privacy.presence.most:
        yield "privacy.presence.least must not exceed privacy.presence.most"
    of_population = privacy.k_map is not None or privacy.presence is not None
    means = [name for name in policy.names("quasi") if policy.attributes[name].publish != "label"]
    if of_population and of is not None and of.path is not None and means:
        yield f"attributes.{means[0]}.publish must be label: nobody of a population has a mean"
    if privacy.models and policy.output.suppressed == "star":
        yield f"output.suppressed must be drop beside privacy.{privacy.models[0]}"


def _name_clashes(policy: "Policy") -> Iterator[str]:
    if policy.output.intervals != "bounds":
        return
    for name in policy.names("quasi"):
        for made in (f"{name}_low", f"{name}_high"):
            if made in policy.attributes:
                yield f"{made} is a column of the table, and would hold the bounds of {name}"


def _settings(policy: "Policy") -> Iterator[str]:
    if policy.privacy.k < (2 if policy.privacy.k_map is None else 1):
        yield "privacy.k must be at least 2, or 1 beside k_map"
    if not 0 <= policy.privacy.suppression < 1:
        yield "privacy.suppression must be at least 0 and below 1"
    for name, of in policy.attributes.items():
        if of.weight <= 0:
            yield f"attributes.{name}.weight must be above 0"
        if of.l is not None and (of.l.value < 2 or (of.l.kind != "entropy" and of.l.value % 1)):
            yield f"attributes.{name}.l.value must be at least 2, and whole except for entropy"
        if of.l is not None and of.l.c <= 0:
            yield f"attributes.{name}.l.c must be above 0"
        if of.t is not None and not 0 < of.t.value <= 1:
            yield f"attributes.{name}.t.value must be above 0 and at most 1"


def _attribute(name: str, of: "Attribute") -> Iterator[str]:
    where = f"attributes.{name}"
    for role, keys in _ONLY.items():
        for key in keys:
            if key in of.model_fields_set and role != of.role:
                yield f"{where}.{key} belongs to a column of role {role}, not {of.role}"
    if of.role == "quasi":
        yield from _quasi(where, of)
    if of.action == "hmac" and (of.key_env is None) == (of.key_file is None):
        yield f"{where} needs either key_env or key_file for its pseudonyms"
    if of.action == "drop" and (of.key_env or of.key_file):
        yield f"{where} has a key but no `action: hmac`"
    if of.role == "sensitive" and of.t is not None:
        yield from _closeness(where, of)
    if of.order is not None:
        yield from _order_problems(where, of.order)
    if of.transform is not None:
        yield from _transform_problems(where, of.transform, of.type)


def _transform_problems(where: str, spec: Any, kind: str) -> Iterator[str]:
    if not spec.changes_numbers and spec.rare is None:
        yield f"{where}.transform is empty; give top, bottom, round or rare"
    if None not in (spec.top, spec.bottom) and spec.bottom >= spec.top:
        yield f"{where}.transform.bottom must be below top"
    for key in spec.fractional_keys if kind == "int" else ():
        yield f"{where}.transform.{key} must be whole, since the column's type is int"


def _closeness(where: str, of: "Attribute") -> Iterator[str]:
    kind = of.t.kind if of.t else ""
    spec = type(of.hierarchy).__name__
    if kind == "hierarchical" and spec not in ("FileSpec", "TreeSpec"):
        yield f"{where}.t is hierarchical, which needs a hierarchy with `file` or `tree`"
    if kind == "ordered" and of.type == "text" and not of.order:
        yield (
            f"{where}.t is ordered; list the values in `order`, or set `type` to int, float or date"
        )


def _order_problems(where: str, order: Sequence[Any]) -> Iterator[str]:
    """Yield problems of a declared order, whose values are distinct texts, numbers or days."""
    if any(isinstance(value, bool | list | dict | None) for value in order):
        yield f"{where}.order has truth values or empty ones; put yes, no, on and off in quotes"
    elif len({normalise_text(value_to_text(value)) for value in order}) < len(order):
        yield f"{where}.order lists a value twice"


def _quasi(where: str, of: "Attribute") -> Iterator[str]:
    spec: Any = of.hierarchy
    kind = getattr(spec, "kind", "file" if spec else None)
    if spec is None:
        yield f"{where} has no hierarchy; e.g. {{tree: {{'*': [a, b]}}}} or {{kind: prefix, ...}}"
    elif kind in ("interval", "binary"):
        yield from _numbers(where, of)
    elif kind == "prefix" and sorted(set(spec.keep), reverse=True) != spec.keep:
        yield f"{where}.hierarchy.keep must decrease, e.g. [5, 3, 2, 1]"
    elif kind == "date":
        yield from _dates(where, of)
    yield from _listed_values(where, spec)
    if of.publish != "label" and of.type not in ("int", "float"):
        yield f"{where}.publish is {of.publish}; set `type: int` or `type: float`"
    if kind in ("file", "prefix", "order", "frequency") and of.domain is not None:
        yield f"{where}.domain belongs to hierarchies of numbers and dates"


def _listed_values(where: str, spec: Any) -> Iterator[str]:
    """Yield problems of a public list, whose values are distinct texts, numbers or days."""
    kind = getattr(spec, "kind", "")
    listed = getattr(spec, "counts" if kind == "frequency" else "values", None) or []
    key = "counts" if kind == "frequency" else "values"
    if any(isinstance(value, bool | list | dict | None) for value in listed):
        yield (
            f"{where}.hierarchy.{key} has truth values or empty ones; put yes, no, on and off in "
            "quotes"
        )
    elif len({normalise_text(value_to_text(value)) for value in listed}) < len(listed):
        yield f"{where}.hierarchy.{key} lists a value twice"
    if kind == "frequency" and min(spec.counts.values()) < 0:
        yield f"{where}.hierarchy.counts must be 0 or more"


def _numbers(where: str, of: "Attribute") -> Iterator[str]:
    spec: Any = of.hierarchy
    if of.type not in ("int", "float"):
        yield f"{where} has a hierarchy of numbers; set `type: int` or `type: float`"
    if of.domain is None:
        yield f"{where} has no domain; bounds learnt from the rows would publish extremes"
    elif not _is_rising(of.domain, of.type == "int"):
        yield f"{where}.domain must be two numbers, the lower first, and whole for `type: int`"
    if spec.kind == "interval":
        if (spec.width is None) == (spec.breaks is None):
            yield f"{where}.hierarchy needs either width or breaks"
        elif spec.breaks is not None and sorted(set(spec.breaks)) != spec.breaks:
            yield f"{where}.hierarchy.breaks must rise"
    widths = [spec.min_width] if spec.kind == "binary" else [spec.width, *(spec.breaks or ())]
    if of.type == "int" and any(w is not None and w % 1 != 0 for w in widths):
        yield f"{where}.hierarchy must have whole widths and breaks for `type: int`"


def _dates(where: str, of: "Attribute") -> Iterator[str]:
    spec: Any = of.hierarchy
    if sorted(set(spec.levels), key=_PERIODS.index) != spec.levels:
        yield f"{where}.hierarchy.levels must go from day up to decade, each once"
    if of.type != "date":
        yield f"{where} has a hierarchy of dates; set `type: date`"
    if of.domain is not None and parse_day_domain(of.domain) is None:
        yield f"{where}.domain must be two days, e.g. [1920-01-01, 2020-12-31]"


def _is_rising(domain: tuple[Any, Any], whole: bool) -> bool:
    numbers = [d for d in domain if isinstance(d, int | float) and not isinstance(d, bool)]
    if len(numbers) < 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        return False
    return not whole or all(d % 1 == 0 for d in numbers)


def parse_day_domain(domain: tuple[Any, Any]) -> tuple[date, date] | None:
    """Return a domain as two days, or None if it is none; YAML parses 2001-03-05 as a day."""
    try:
        first, last = (d if isinstance(d, date) else date.fromisoformat(str(d)) for d in domain)
        return (first, last) if first <= last else None
    except (ValueError, TypeError):  # a day and a time do not compare
        return None
