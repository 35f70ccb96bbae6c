"""Make a campaign of an author's file: what is asked of whom, at which price, until when.

The file is YAML; see ``docs/guides/collect.md``. Grid and oracle are chosen here, before anything
is signed.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal.collector import client
from shoal.collector._campaign import (
    TEXTS,
    box_of,
    check_document,
    check_people_are_counted,
    oracle_fields,
    question_of,
)
from shoal.documents import read_yaml
from shoal.errors import InvalidSetting, ShoalError, quantity
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.mechanisms.local.categories import cell_oracle
from shoal.privacy import whole_number

Document = dict[str, Any]
_DEFAULTS = {
    "rounds": "auto",
    "epoch_seconds": 3600,
    "setting": "local",
    "enrolment": "token",
    "addresses": [],
}
_REQUIRED = (*TEXTS, "epsilon", "n_expected", "n_clusters", "opens", "closes")
_OPTIONAL = (
    *("columns", "categories", "labels", "delta", "n_least", "cells", "aggregators"),
    *("level", "radius", "scale"),
)
_OF_SETTINGS = ("delta", "n_least", "aggregators")
_SHARES = {1: (2**32,), 3: (2**31, 2**30, 2**30)}
_SHARED_CELLS = {1: 256, 2: 32, 3: 10, 4: 5}  # along each axis, for so many columns


def draft_campaign(path: str | Path) -> Document:
    """Return the campaign document of an author's YAML file, questions chosen, not yet signed.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InvalidSetting
        If a field is unknown, missing or out of range; clients would refuse it too.
    """
    content = read_yaml(path)
    if not isinstance(content, Mapping):
        raise InvalidSetting(f"{path} holds no fields.", "See docs/guides/collect.md.")
    content = _with_level(content)
    _check_names(content)
    fields = {**_DEFAULTS, **content}
    document: Document = {"format": 1, "type": "campaign"}
    document |= {name: str(fields[name]) for name in TEXTS}
    document["epsilon"] = _decimal(fields["epsilon"])
    document |= _domain_fields(fields)
    for name in ("n_expected", "n_clusters", "epoch_seconds", "setting", "enrolment", "addresses"):
        document[name] = fields[name]
    document |= {name: _moment(fields[name], name) for name in ("opens", "closes")}
    if "labels" in fields:
        document["labels"] = {"epsilon": _decimal(fields["labels"]["epsilon"])}
    document |= {name: fields[name] for name in _OF_SETTINGS if name in fields}
    document["rounds"] = _rounds(document, fields)
    if document["setting"] == "shuffled":
        check_people_are_counted(document)
    return check_document(document)


def _with_level(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields with the level of near values as epsilon, which is what a report costs."""
    if "radius" not in content and "level" not in content:
        return content
    if not {"radius", "level"} <= set(content) or "epsilon" in content:
        raise InvalidSetting(
            "A campaign that hides near values has a level and a radius, and no epsilon.",
            'Write e.g. level: "1" and radius: "0.2": values within 0.2 are hidden up to e^1.',
            setting="radius",
        )
    return {**content, "epsilon": content["level"]}


def _check_names(content: Mapping[str, Any]) -> None:
    """Refuse other fields; theirs may be a row, if the file is a table, so they are counted."""
    known = (*_REQUIRED, *_DEFAULTS, *_OPTIONAL)
    unknown = [name for name in content if name not in known]
    missing = [name for name in _REQUIRED if name not in content]
    if not (unknown or missing):
        return
    message = f"The campaign's file has a field that is missing: {', '.join(map(repr, missing))}."
    if unknown:
        message = (
            "The campaign's file has "
            f"{quantity(len(unknown), 'field that is', 'fields that are')} unknown."
        )
    near = [each for name in unknown for each in get_close_matches(str(name), known, n=1)]
    meant = f"Did you mean {', '.join(dict.fromkeys(near))}? " if near else ""
    raise InvalidSetting(message, f"{meant}Its fields are {', '.join(known)}.")


def _decimal(value: object) -> str:
    text = format(value, "f").rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    try:
        client.exact(text)
    except client.Refused:
        raise InvalidSetting(
            "An epsilon of the campaign is not a decimal from 2^-30 to 20.",
            'Write e.g. epsilon: "0.5".',
            setting="epsilon",
        ) from None
    return text


def _moment(value: Any, name: str) -> str:
    """Return a date of the file as UTC text; YAML may have read it as a date already."""
    try:
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC)
        text = value if isinstance(value, str) else f"{value:%Y-%m-%dT%H:%M:%SZ}"
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, TypeError):
        raise InvalidSetting(
            f"{name} is no time of the form 2026-11-16T00:00:00Z.", "Give it in UTC.", setting=name
        ) from None
    return str(text)


def _domain_fields(fields: Mapping[str, Any]) -> Document:
    if "categories" in fields:
        return {"categories": [str(value) for value in fields["categories"]]}
    try:
        columns = [
            {
                "name": str(column["name"]),
                "low": repr(float(column["low"])),
                "high": repr(float(column["high"])),
                "unit": str(column.get("unit", "")),
            }
            for column in fields["columns"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidSetting(
            "The campaign names neither columns with public bounds nor categories.",
            "E.g. columns: [{name: age, low: 0, high: 110, unit: years}].",
        ) from None
    if any(column.get("simulation", False) for column in fields["columns"]):
        raise InvalidSetting(
            "Bounds of the campaign were estimated from rows with seeded noise, so they are not "
            "public.",
            "State them from what a column means, or estimate them without a seed.",
        )
    return {"columns": columns}


def _rounds(document: Document, fields: Mapping[str, Any]) -> list[Document]:
    rounds = fields["rounds"]
    near = "radius" in fields
    auto = 1 if near else _auto_rounds(document)
    wanted = auto if rounds == "auto" else whole_number(rounds)
    shares = None if wanted is None else _SHARES.get(wanted)
    if shares is None or (len(shares) > 1 and ("columns" not in document or near)):
        raise InvalidSetting(
            "rounds must be 1, 3 for columns of numbers without a radius, or auto.",
            "Write rounds: 1, or leave it out.",
            setting="rounds",
        )
    if near:
        return [{"share": 2**32, "question": _lattice_question(document, fields)}]
    first = first_question(document, fields.get("cells", "auto"), shares[0])
    later = [{"share": share, "question": "later"} for share in shares[1:]]
    return [{"share": shares[0], "question": first}, *later]


def _lattice_question(document: Document, fields: Mapping[str, Any]) -> Document:
    """Return the question for reports with Laplace noise: near values are hidden, far ones less."""
    if "columns" not in document or "cells" in fields:
        raise InvalidSetting(
            "A radius is for columns of numbers, without cells.",
            "Leave out radius and level, and write epsilon, for categories and cells.",
            setting="radius",
        )
    columns = [[column["low"], column["high"]] for column in document["columns"]]
    question: Document = {
        "mechanism": "nd_laplace",
        "epsilon": document["epsilon"],
        "columns": columns,
        "radius": _length(fields["radius"]),
    }
    box = box_of({**document, "rounds": [{"question": question}]})
    scale = fields.get("scale", [1] * box.d)
    if box.distance_unit == "km" and "scale" in fields:
        raise InvalidSetting("Places on a map are in kilometres.", "Leave out scale.")
    named = {column["unit"] for column in document["columns"]}
    unit = named.pop() if len(named) == 1 and "scale" not in fields else ""
    epsilon = Fraction(question["epsilon"]) / Fraction(question["radius"])
    try:
        units = None if box.distance_unit == "km" else scale
        mechanism = NDLaplace(epsilon, domain=box, scale=units)
    except ShoalError as error:
        raise InvalidSetting(f"The lattice is impossible: {error}", "Choose other units.") from None
    return question | {
        "unit": box.distance_unit if box.distance_unit != "1" else unit,
        "units": [repr(float(one)) for one in mechanism.space.units(box.d)],
        "step_bits": -round(math.log2(mechanism.step or 1.0)),
    }


def _length(value: object) -> str:
    """Return a radius as the plain decimal that a campaign holds."""
    text = format(value, "f").rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    if client.is_length(text):
        return text
    raise InvalidSetting(
        "The radius is no positive decimal.", 'Write e.g. radius: "0.2".', setting="radius"
    )


def _auto_rounds(document: Document) -> int:
    """Return three rounds where they find groups better: docs/decisions/local-auto.md."""
    from shoal.cluster.local import ROUNDS_FROM

    is_wide = len(document.get("columns", ())) >= ROUNDS_FROM
    return 3 if is_wide and document["setting"] == "local" else 1


def first_question(document: Document, cells: Any, share: int) -> Document:
    """Return the question of the first round: the grid and oracle of least expected error.

    Parameters
    ----------
    cells
        Cells along each axis, or ``"auto"``.
    share
        Of the people, in parts of 2^32.
    """
    epsilon = document["epsilon"]
    if document["setting"] == "two_aggregators":
        return _shared_question(document, cells)
    if "categories" in document:
        oracle = cell_oracle(float(epsilon), len(document["categories"]))
        return {"mechanism": "category", "epsilon": epsilon, "oracle": oracle_fields(oracle)}
    people = max(1, round(document["n_expected"] * share / 2**32))
    grid = LocalGrid(
        box_of(document),
        epsilon=float(epsilon),
        cells=cells,
        n_expected=people,
        n_clusters=document["n_clusters"],
    )
    return question_of(grid, epsilon)


def _shared_question(document: Document, cells: Any) -> Document:
    """Return the question to two aggregators: as many cells as a share may have."""
    if "columns" not in document:
        raise InvalidSetting(
            "Two aggregators are asked about columns of numbers.",
            "Write columns, or setting: local for categories.",
            setting="setting",
        )
    d = len(document["columns"])
    along = _SHARED_CELLS.get(d) if cells == "auto" else cells
    return {
        "mechanism": "cell_shares",
        "epsilon": document["epsilon"],
        "columns": [[column["low"], column["high"]] for column in document["columns"]],
        "cells": along if isinstance(along, list) else [along] * d,
    }
