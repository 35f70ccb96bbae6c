"""A schema: the public bounds and categories of a table's columns, kept in a YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.documents import read_yaml
from shoal.domain.box import Box
from shoal.domain.categories import Categories
from shoal.domain.schema_check import findings
from shoal.errors import InvalidSchema, UnknownBounds

__all__ = ["Schema"]


@dataclass(frozen=True)
class Schema:
    """Which columns a method sees, and what is public about each. Make one with ``of`` or ``load``.

    Examples
    --------
    >>> schema = Schema.of({
    ...     "version": 1,
    ...     "columns": {"age": {"low": 0, "high": 110}, "sex": {"values": ["F", "M"]}},
    ... })
    >>> schema.box, schema.categories["sex"].size
    (Box(age=(0, 110)), 2)
    """

    columns: tuple[str, ...]
    bounds: dict[str, tuple[float, float]]
    categories: dict[str, Categories]
    weights: dict[str, float]
    entity: str | None = None
    max_rows_per_person: int | None = None
    geo: tuple[str, str] | None = field(default=None)

    @classmethod
    def load(cls, path: str | Path) -> "Schema":
        """The schema in a YAML file (JSON is YAML too)."""
        return cls._checked(read_yaml(path), str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Schema":
        """The schema of a mapping laid out like the file."""
        return cls._checked(content, "The schema")

    @classmethod
    def _checked(cls, content: Any, what: str) -> "Schema":
        found = findings(content)
        if found:
            counted = "1 problem" if len(found) == 1 else f"{len(found)} problems"
            raise InvalidSchema(
                f"{what} has {counted}:\n" + "\n".join(f"- {one}" for one in found),
                "Mend them; docs: `version: 1` and `columns: {age: {low: 0, high: 110}, "
                "sex: {values: [F, M]}}`.",
            )
        return cls._built(content)

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> "Schema":
        columns: Mapping[str, Mapping[str, Any]] = content["columns"]
        geo = content.get("geo")
        return cls(
            columns=tuple(columns),
            bounds={n: (c["low"], c["high"]) for n, c in columns.items() if "low" in c},
            categories={
                n: Categories(c["values"], c.get("other", "refuse"))
                for n, c in columns.items()
                if "values" in c
            },
            weights={n: float(c.get("weight", 1)) for n, c in columns.items()},
            entity=content.get("entity"),
            max_rows_per_person=content.get("max_rows_per_person"),
            geo=(geo["latitude"], geo["longitude"]) if geo else None,
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns with bounds, in the order of ``box``: latitude first if there is one."""
        return self.geo or tuple(self.bounds)

    @property
    def box(self) -> Box:
        """The bounds of the numeric columns; a geographic box if the schema has ``geo``."""
        if not self.bounds:
            raise UnknownBounds(
                f"None of the {len(self.columns)} columns has bounds.",
                "Give a numeric one low and high, e.g. `age: {low: 0, high: 110}`.",
            )
        named = {name: self.bounds[name] for name in self.numbers}
        return Box.geo(**named) if self.geo else Box(**named)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, laid out like the file: ``Schema.of`` takes them back."""
        content: dict[str, Any] = {
            "version": 1,
            "columns": {n: self._column(n) for n in self.columns},
        }
        if self.entity is not None:
            content["entity"] = self.entity
        if self.max_rows_per_person is not None:
            content["max_rows_per_person"] = self.max_rows_per_person
        if self.geo is not None:
            content["geo"] = {"latitude": self.geo[0], "longitude": self.geo[1]}
        return content

    def _column(self, name: str) -> dict[str, Any]:
        if name in self.bounds:
            low, high = self.bounds[name]
            return {"low": low, "high": high, "weight": self.weights[name]}
        listed = self.categories[name]
        return {
            "values": list(listed.values),
            "other": listed.other,
            "weight": self.weights[name],
        }
