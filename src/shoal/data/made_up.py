"""Made-up tables with their public bounds, by name, for examples that run on any machine."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.data.generate import students, students_schema
from shoal.domain import Schema

__all__ = ["MADE_UP", "MadeUp", "trips", "visits"]


class MadeUp(NamedTuple):
    """A made-up table.

    Parameters
    ----------
    table
        Draws so many rows with a seed.
    domain
        What is public about its columns.
    """

    table: Callable[[int, int], pa.Table]
    domain: Schema


def visits(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw visitors of an invented clinic, in three groups by age and number of visits.

    Parameters
    ----------
    n
        How many.
    seed
        The same seed makes the same table.

    Examples
    --------
    >>> visits(3).column_names
    ['age', 'visits', 'group']
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    age = rng.normal(np.array([28.0, 52.0, 77.0])[group], 6.0).clip(0, 110).round()
    number = rng.normal(np.array([2.0, 9.0, 15.0])[group], 1.2).clip(0, 20).round()
    return pa.table({"age": age, "visits": number, "group": group})


def trips(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw where trips begin in an invented city, each by a rider of their own.

    Parameters
    ----------
    n
        How many.
    seed
        The same seed makes the same table.

    Examples
    --------
    >>> trips(3).column_names
    ['rider', 'lat', 'lon']
    """
    rng = np.random.default_rng(seed)
    centers = np.array([[40.55, -74.15], [40.72, -74.0], [40.82, -73.92], [40.65, -73.8]])
    place = rng.choice(4, n, p=[0.1, 0.4, 0.3, 0.2])
    at = rng.normal(centers[place], 0.02).round(5)
    riders = [f"r{number}" for number in range(n)]
    return pa.table({"rider": riders, "lat": at[:, 0], "lon": at[:, 1]})


def _city() -> Schema:
    columns = {"lat": {"low": 40.4, "high": 41.0}, "lon": {"low": -74.3, "high": -73.6}}
    places = {"latitude": "lat", "longitude": "lon"}
    return Schema.of({"version": 1, "columns": columns, "geo": places})


def _clinic() -> Schema:
    columns = {"age": {"low": 0, "high": 110}, "visits": {"low": 0, "high": 20}}
    return Schema.of({"version": 1, "columns": columns})


MADE_UP: dict[str, MadeUp] = {
    "students": MadeUp(students, Schema.of_box(students_schema().box)),
    "visits": MadeUp(visits, _clinic()),
    "trips": MadeUp(trips, _city()),
}
