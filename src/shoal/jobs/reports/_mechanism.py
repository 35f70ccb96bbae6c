"""Build a mechanism, the domain of its rows, and a remap from command-line options."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import InvalidDomain, InvalidSetting, sentence, setting, value_text
from shoal.jobs._table_inputs import chosen_columns, schema_of, split_commas
from shoal.mechanisms import NDLaplace, Restrict
from shoal.mechanisms.registry import REGISTRY

if TYPE_CHECKING:
    from shoal.domain import Box, Schema

_KINDS = {entry.command: entry.kind for entry in REGISTRY if entry.command is not None}

if TYPE_CHECKING:

    class Name(StrEnum):
        """The names of the mechanisms on the command line: here, those that code mentions."""

        nd_laplace = "nd-laplace"
        planar_laplace = "planar-laplace"
        spherical_laplace = "spherical-laplace"
        restricted_laplace = "restricted-laplace"
        randomized_response = "randomized-response"
        unary_encoding = "unary-encoding"
        mixed = "mixed"
        local_grid = "local-grid"
        rounds = "rounds"
        auto = "auto"

else:
    # Reports in rounds are no mechanism; ``auto`` is resolved before one is built.
    Name = StrEnum("Name", {word.replace("-", "_"): word for word in (*_KINDS, "rounds", "auto")})

_CATEGORICAL = (Name.randomized_response, Name.unary_encoding)
_LAPLACE = (Name.nd_laplace, Name.planar_laplace, Name.spherical_laplace)


@dataclass(frozen=True)
class MechanismOptions:
    """The options of a mechanism as they were written.

    Parameters
    ----------
    n_clusters
        How many groups will be looked for, if a local grid is to know.
    """

    name: Name
    epsilon: str
    columns: str | None
    domain: Path | None
    scale: str | None
    lattice: str
    clip: bool
    cells: str = "auto"
    n_clusters: int | None = None


class ReportPlan(NamedTuple):
    """What to run: a mechanism, the domain of its columns, and whose rows they are."""

    mechanism: Any
    domain: "Box | Schema"
    person: str | None


def build(settings: MechanismOptions) -> ReportPlan:
    """Build the plan of these options."""
    schema = schema_of(settings.domain)
    domain = _domain(
        schema, chosen_columns(settings.columns, schema.columns, settings.domain), settings
    )
    is_restricted = settings.name is Name.restricted_laplace
    kind = NDLaplace if is_restricted else _KINDS[settings.name]
    mechanism = kind(**_arguments(settings, kind, domain))
    if is_restricted:
        mechanism = Restrict(mechanism)
    return ReportPlan(mechanism, domain, schema.person)


def mechanism_name(word: str) -> Name:
    """Return the mechanism of this name.

    Raises
    ------
    InvalidSetting
        If there is none.
    """
    if word in list(Name):
        return Name(word)
    near = get_close_matches(word.lower().replace("_", "-"), list(Name), n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise InvalidSetting(
        f"There is no mechanism {value_text(word)}.",
        f"{meant}Choose one of {', '.join(Name)}.",
        setting="mechanism",
    )


def columns_of(domain: "Box | Schema") -> tuple[str, ...]:
    """Return the columns to report."""
    from shoal.domain import Box

    return domain.names if isinstance(domain, Box) else domain.columns


def remap_of(text: str | None, name: Name, plan: ReportPlan) -> Any:
    """Return the remap ``clamp``, ``snap:16`` or ``bayes``, tried on a public point."""
    from shoal.perturb import shape_of
    from shoal.perturb.report_stream import check_remap

    if text is None:
        return None
    _check_moves_numbers(name)
    remap = _remap(text, plan.domain)
    if text == "bayes" and name not in _LAPLACE:
        raise InvalidSetting(
            sentence(f"{{remap:bayes}} undoes Laplace noise; {name} has another."),
            sentence("Use {mechanism:nd-laplace}, or leave {remap} out."),
            setting="remap",
        )
    check_remap(remap, plan.mechanism, shape_of(plan.mechanism), len(columns_of(plan.domain)))
    return remap


def _check_moves_numbers(name: Name) -> None:
    if name in (*_CATEGORICAL, Name.mixed, Name.local_grid):
        raise InvalidSetting(
            sentence(f"{{remap}} does not apply to {name}, whose reports are categories or cells."),
            "Leave it out: remaps move numbers only.",
            setting="remap",
        )


def _remap(text: str, domain: "Box | Schema") -> Any:
    from shoal.domain import Box
    from shoal.mechanisms import bayes_remap, clamp, snap

    word, _, nodes = text.partition(":")
    if isinstance(domain, Box):
        if text == "clamp":
            return clamp(domain)
        if text == "bayes":
            return bayes_remap("em")
        if word == "snap" and nodes.isdecimal() and int(nodes) >= 2:
            return snap(domain, int(nodes))
    raise InvalidSetting(
        sentence("{remap} must be `clamp`, `snap:N` with N of 2 or more, or `bayes`."),
        sentence("E.g. {remap:clamp}, or {remap:snap:16} for 16 nodes along each axis."),
        setting="remap",
    )


def _domain(schema: "Schema", columns: Sequence[str], settings: MechanismOptions) -> "Box | Schema":
    """Return a box for numbers, a schema where there are categories."""
    from shoal.domain import Schema

    categories = [name for name in columns if name in schema.categories]
    if settings.name is not Name.mixed and settings.name not in _CATEGORICAL:
        if categories:
            raise InvalidSetting(
                f"{', '.join(map(repr, categories))} holds categories; {settings.name} reports "
                "numbers.",
                sentence("Choose {columns}, or use {mechanism:mixed}."),
            )
        box = schema.box
        if {*columns} == {*box.names}:
            return box
        if schema.geo:
            raise InvalidDomain(
                sentence(
                    "{columns} names only one of latitude and longitude, so epsilon would be per "
                    "degree."
                ),
                "Use both, " + setting("columns", ",".join(box.names)) + ", or leave it out.",
                setting="columns",
            )
        return box.select(columns)
    if settings.name in _CATEGORICAL and (len(columns), len(categories)) != (1, 1):
        raise InvalidSetting(
            f"{settings.name} reports one column of categories; got {len(columns)}.",
            sentence("Choose it with {columns}, or use {mechanism:mixed}."),
        )
    described = schema.to_dict()["columns"]
    return Schema.of({"version": 1, "columns": {name: described[name] for name in columns}})


def _arguments(settings: MechanismOptions, kind: Any, domain: "Box | Schema") -> dict[str, Any]:
    from shoal.domain import Box

    known = {field.name for field in fields(kind)}
    given: dict[str, Any] = {"epsilon": settings.epsilon}
    if isinstance(domain, Box):
        given["domain"] = domain
    elif settings.name is Name.mixed:
        given["columns"] = {name: _public(domain, name) for name in domain.columns}
    else:
        (given["categories"],) = domain.categories.values()
    moves = settings.clip and settings.name is not Name.local_grid  # which moves rows, asked or not
    options = {
        "clip": moves or None,
        "scale": _scale(settings.scale),
        "cells": _cells(settings.cells),
        "n_clusters": settings.n_clusters,
    }
    options["lattice"] = (
        None if settings.lattice == "auto" else _number(settings.lattice, "lattice")
    )
    for name, value in options.items():
        if value is not None and name not in known:
            raise InvalidSetting(
                f"{settings.name} does not take " + setting(name) + ".", "Leave it out."
            )
    return given | {name: value for name, value in options.items() if value is not None}


def _public(domain: "Schema", name: str) -> Any:
    """Return what is public about a column, for ``Mixed``; bounds as a box if they are marked."""
    if name in domain.simulated:
        return domain.select([name]).box
    return domain.bounds.get(name) or domain.categories[name]


def _scale(text: str | None) -> Any:
    if text is None or text == "box":
        return text
    return tuple(_number(word, "scale") for word in split_commas(text))


def _cells(text: str) -> Any:
    if text == "auto":
        return None
    each = split_commas(text)
    if not all(word.isdecimal() for word in each):
        raise InvalidSetting(
            sentence("{cells} must be whole numbers."),
            sentence("E.g. {cells:12}, or 12,8."),
            setting="cells",
        )
    return int(text) if len(each) == 1 else tuple(map(int, each))


def _number(word: str, option: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InvalidSetting(
            setting(option) + " must be numbers.", "E.g. " + setting(option, 0.5) + "."
        ) from None
