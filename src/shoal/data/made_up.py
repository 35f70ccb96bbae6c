"""Made-up tables with their public bounds, by name, for examples that run on any machine."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.data._generate import draw_indices, students, students_schema
from shoal.domain import Schema

_CATEGORIES = {
    "stage": ("primary", "secondary", "vocational"),
    "lives_in": ("capital", "other towns", "villages"),
    "device": ("phone", "school computer", "home computer"),
    "time_of_day": ("morning", "afternoon", "evening"),
}
_NUMBERS = {"sessions_per_week": 30, "minutes_per_session": 120, "exercises_right": 100}
# Five ways of practising: their share, the usual value of each category, and how common it is; then
# mean and spread of each number.
_WAYS = (
    (0.28, (1, 0, 0, 2), (0.84, 0.71, 0.63, 0.60), (14.0, 13.0, 66.0), (3.0, 4.0, 11.0)),
    (0.24, (0, 0, 1, 0), (0.88, 0.60, 0.79, 0.71), (3.5, 32.0, 61.0), (1.2, 7.0, 12.0)),
    (0.20, (2, 1, 0, 2), (0.76, 0.66, 0.58, 0.66), (8.0, 48.0, 52.0), (1.8, 8.0, 12.0)),
    (0.16, (1, 1, 2, 2), (0.79, 0.48, 0.80, 0.57), (6.0, 82.0, 83.0), (1.5, 10.0, 8.0)),
    (0.12, (0, 2, 0, 1), (0.44, 0.75, 0.81, 0.48), (4.0, 9.0, 41.0), (1.5, 3.5, 11.0)),
)
_FIRST_AGE = np.array([6, 12, 15])  # of a stage, which takes six years


class _MadeUpTable(NamedTuple):
    """A made-up table."""

    table: Callable[[int, int], pa.Table]
    domain: Schema


def _draw_visits(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw visitors of an invented clinic, in three groups by age and number of visits.

    Examples
    --------
    >>> _draw_visits(3).column_names
    ['age', 'visits', 'group']
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    age = rng.normal(np.array([28.0, 52.0, 77.0])[group], 6.0).clip(0, 110).round()
    number = rng.normal(np.array([2.0, 9.0, 15.0])[group], 1.2).clip(0, 20).round()
    return pa.table({"age": age, "visits": number, "group": group})


def _draw_trips(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw where trips begin in an invented city, each by a rider of their own.

    Examples
    --------
    >>> _draw_trips(3).column_names
    ['rider', 'lat', 'lon']
    """
    rng = np.random.default_rng(seed)
    centers = np.array([[40.55, -74.15], [40.72, -74.0], [40.82, -73.92], [40.65, -73.8]])
    place = rng.choice(4, n, p=[0.1, 0.4, 0.3, 0.2])
    at = rng.normal(centers[place], 0.02).round(5)
    riders = [f"r{number}" for number in range(n)]
    return pa.table({"rider": riders, "lat": at[:, 0], "lon": at[:, 1]})


def _draw_school(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw pupils of an invented school network, who practise online in five ways.

    Numbers and categories: stage, where they live, device, time of day and age; how often and how
    long they practise, and how many of 100 exercises they get right.

    Examples
    --------
    >>> _draw_school(3).column_names[:3]
    ['stage', 'lives_in', 'device']
    """
    rng = np.random.default_rng(seed)
    shares, usual, common, mean, spread = (np.array(each) for each in zip(*_WAYS, strict=True))
    way = rng.choice(len(shares), n, p=shares)
    codes = [_drawn_codes(rng, usual[way, i], common[way, i]) for i in range(len(_CATEGORIES))]
    numbers = rng.normal(mean[way], spread[way]).clip(0, list(_NUMBERS.values())).round(1)
    columns = dict(zip(_CATEGORIES, codes, strict=True))
    texts = {name: pa.array(_CATEGORIES[name]).take(codes) for name, codes in columns.items()}
    age = _FIRST_AGE[columns["stage"].to_numpy()] + rng.integers(0, 6, n)
    return pa.table({**texts, "age": age, **dict(zip(_NUMBERS, numbers.T, strict=True))})


def _drawn_codes(rng: np.random.Generator, usual: Any, common: Any) -> pa.Array:
    """Return one of three codes for each row: the usual one, or one of the other two."""
    shares = np.where(np.arange(3) == usual[:, None], common[:, None], (1 - common[:, None]) / 2)
    return pa.array(draw_indices(rng, shares))


def _school() -> Schema:
    columns: dict[str, Any] = {name: {"values": list(v)} for name, v in _CATEGORIES.items()}
    columns |= {name: {"low": 0, "high": high} for name, high in _NUMBERS.items()}
    columns["sessions_per_week"] |= {"label": "Sessions a week"}
    columns["minutes_per_session"] |= {"label": "Minutes a session"}
    columns["exercises_right"] |= {"label": "Exercises right", "unit": "of 100"}
    return Schema.of({"version": 1, "columns": columns})


def _city() -> Schema:
    columns = {"lat": {"low": 40.4, "high": 41.0}, "lon": {"low": -74.3, "high": -73.6}}
    places = {"latitude": "lat", "longitude": "lon"}
    return Schema.of({"version": 1, "columns": columns, "geo": places})


def _clinic() -> Schema:
    columns = {"age": {"low": 0, "high": 110}, "visits": {"low": 0, "high": 20}}
    return Schema.of({"version": 1, "columns": columns})


MADE_UP: dict[str, _MadeUpTable] = {
    "school": _MadeUpTable(_draw_school, _school()),
    "students": _MadeUpTable(students, Schema.of_box(students_schema().box)),
    "visits": _MadeUpTable(_draw_visits, _clinic()),
    "trips": _MadeUpTable(_draw_trips, _city()),
}
