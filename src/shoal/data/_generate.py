"""Synthetic tables: Gaussian blobs and other shapes, and a table of invented students."""

from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.domain import Schema
from shoal.errors import InvalidSetting, setting, value_text
from shoal.randomness import Randomness

Shape = Literal["moons", "rings", "spirals", "lattice"]

_SEXES = ("F", "M")
_SYSTEMS = ("primary", "secondary", "technical", "teacher training", "special")
_REGIONS = ("capital", "coast", "north", "centre", "west")
# Nineteen states by share of students, and the region each lies in.
_STATES: dict[str, tuple[float, int]] = {
    "Alta": (0.382, 0),
    "Bahia": (0.158, 1),
    "Cerro": (0.052, 1),
    "Duna": (0.049, 1),
    "Espino": (0.038, 4),
    "Faro": (0.036, 4),
    "Grana": (0.034, 2),
    "Hondo": (0.033, 4),
    "Isla": (0.031, 2),
    "Jardin": (0.030, 2),
    "Lagos": (0.027, 3),
    "Molino": (0.026, 2),
    "Norte": (0.024, 2),
    "Olmo": (0.020, 3),
    "Palmar": (0.018, 3),
    "Quebra": (0.016, 1),
    "Rincon": (0.015, 4),
    "Sauce": (0.007, 3),
    "Tala": (0.004, 3),
}
# One line a school system, in the order of _SYSTEMS.
_SYSTEM_SHARE = (0.460, 0.360, 0.155, 0.022, 0.003)
_FEMALE_SHARE = np.array([0.49, 0.53, 0.41, 0.74, 0.38])
_LEVEL_SHARE = np.array(
    [
        [0.170, 0.170, 0.170, 0.165, 0.165, 0.160],
        [0.240, 0.210, 0.180, 0.150, 0.120, 0.100],
        [0.340, 0.270, 0.200, 0.150, 0.038, 0.002],
        [0.400, 0.270, 0.190, 0.140, 0.000, 0.000],
        [0.450, 0.330, 0.215, 0.004, 0.001, 0.000],
    ]
)
# Income quintiles by region, in the order of _REGIONS.
_QUINTILE_SHARE = np.array(
    [
        [0.16, 0.18, 0.20, 0.22, 0.24],
        [0.18, 0.19, 0.20, 0.21, 0.22],
        [0.31, 0.25, 0.20, 0.14, 0.10],
        [0.26, 0.24, 0.21, 0.17, 0.12],
        [0.21, 0.21, 0.21, 0.20, 0.17],
    ]
)
# Four habits: hardly ever, in class, short and often, long evenings. Log odds by system, and what
# one more quintile adds; then mean and spread of the three connection counts.
_HABIT_ODDS = np.array(
    [
        [0.3, 1.1, 0.9, -2.0],
        [0.4, 0.9, 0.2, 0.3],
        [0.9, 0.8, -0.3, -0.2],
        [-0.9, -0.2, -1.0, 1.6],
        [1.4, 0.6, -0.5, -3.0],
    ]
)
_HABIT_TILT = np.array([-0.30, 0.0, 0.12, 0.22])
_HABIT_MEAN = np.array([[1.6, 12.0, 0.6], [6.5, 34.0, 3.2], [17.0, 9.0, 8.0], [11.5, 68.0, 1.4]])
_HABIT_SPREAD = np.array([[0.8, 4.5, 0.5], [1.5, 6.0, 1.2], [2.4, 2.6, 2.0], [2.0, 10.0, 0.9]])
_COUNT_LIMITS = {
    "sessions_per_week": 30.0,
    "minutes_per_session": 120.0,
    "maths_sessions_per_week": 20.0,
}


def blobs(n: int = 200, centers: int = 4, d: int = 2, sd: float = 0.60, seed: int = 0) -> pa.Table:
    """Draw round Gaussian groups: columns ``x0 ..`` and ``label``.

    The thesis draws 50 or 200 records around 4 centres with standard deviation 0.60 in 2, 3 or 5
    dimensions; these are scikit-learn's ``make_blobs``, centres uniform on [-10, 10].

    Parameters
    ----------
    n
        How many rows.
    centers
        How many groups.
    d
        How many columns beside the label.
    sd
        The standard deviation of a group in each column.
    seed
        The same seed makes the same table.

    Examples
    --------
    >>> blobs(n=50, d=3).column_names
    ['x0', 'x1', 'x2', 'label']
    """
    from sklearn.datasets import make_blobs

    check_count(n=n, centers=centers, d=d)
    if not 0 < sd < np.inf:
        raise InvalidSetting(
            setting("sd") + f" must be a positive number; got {value_text(sd)}.",
            "The thesis uses " + setting("sd", 0.60) + ".",
        )
    # From shoal's own stream, so that one seed means one table everywhere.
    state = Randomness(seed).seed()
    X, label = make_blobs(n, d, centers=centers, cluster_std=sd, random_state=state)[:2]
    columns = [*np.asfortranarray(X).T, label.astype(np.int64)]
    return pa.table(columns, names=[*(f"x{i}" for i in range(d)), "label"])


def shapes(kind: Shape = "moons", n: int = 2_000, noise: float = 0.05, seed: int = 0) -> pa.Table:
    """Draw groups of other shapes than balls: columns ``x``, ``y`` and ``label``.

    Parameters
    ----------
    kind
        "moons": two crescents, one in the other's arm; "rings": two, one inside the other;
        "spirals": three that wind around each other; "lattice": 25 balls, five by five.
    n
        How many points, the same for each group but for the remainder.
    noise
        Standard deviation of what is added to each coordinate. A ring has radius 1 or a half, a
        crescent radius 1, a spiral reaches out to 1, balls stand 1 apart.
    seed
        The same seed makes the same points.

    Examples
    --------
    >>> table = shapes("spirals", n=300)
    >>> table.num_rows, len(set(table["label"].to_pylist()))
    (300, 3)
    """
    check_count(n=n)
    if kind not in _CURVES:
        raise InvalidSetting.of("kind", f"must be one of {', '.join(_CURVES)}", "moons", kind)
    if not 0 <= noise < np.inf:
        raise InvalidSetting.of("noise", "must be a number of 0 or more", 0.05, noise)
    groups, curve = _CURVES[kind]
    rng = Randomness(seed).compute
    label = np.arange(n) % groups
    x, y = curve(label, rng.random(n)) + noise * rng.standard_normal((2, n))
    return pa.table({"x": x, "y": y, "label": label})


def _moons(label: Integers, t: Floats) -> Floats:
    x, y = np.cos(np.pi * t), np.sin(np.pi * t)
    return np.stack([np.where(label == 0, x, 1 - x), np.where(label == 0, y, 0.5 - y)])


def _rings(label: Integers, t: Floats) -> Floats:
    radius, angle = np.where(label == 0, 1.0, 0.5), 2 * np.pi * t
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)])


def _spirals(label: Integers, t: Floats) -> Floats:
    radius = np.sqrt(0.04 + 0.96 * t)  # as many points on each stretch of a given length
    angle = 2 * np.pi * (radius + label / 3)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)])


def _lattice(label: Integers, t: Floats) -> Floats:
    return np.stack([label % 5, label // 5]).astype(np.float64)


_CURVES: dict[str, tuple[int, Any]] = {
    "moons": (2, _moons),
    "rings": (2, _rings),
    "spirals": (3, _spirals),
    "lattice": (25, _lattice),
}


def students(n: int = 10_000, seed: int = 0) -> pa.Table:
    """Draw a table of invented students in invented states.

    Shaped like the one of the LETEO report: sex, school system, course level, state, region and
    income quintile, and how often a student connects to two learning platforms. The counts fall
    into four habits whose shares follow system and income; some combinations are rare.

    Parameters
    ----------
    n
        How many students.
    seed
        The same seed makes the same table.

    Examples
    --------
    >>> table = students(1000, seed=7)
    >>> table.num_rows, table.column_names[:3]
    (1000, ['sex', 'system', 'level'])
    """
    check_count(n=n)
    rng = Randomness(seed).compute
    shares, region_of = np.array(list(_STATES.values())).T
    system = rng.choice(len(_SYSTEMS), n, p=_SYSTEM_SHARE)
    state = rng.choice(len(_STATES), n, p=shares)
    region = region_of.astype(np.int64)[state]
    sex = (rng.random(n) >= _FEMALE_SHARE[system]).astype(np.int64)
    level = draw_indices(rng, _LEVEL_SHARE[system])
    quintile = draw_indices(rng, _QUINTILE_SHARE[region])
    counts = _connections(rng, system, level, quintile)
    return pa.table(
        {
            "sex": pa.array(_SEXES).take(pa.array(sex)),
            "system": pa.array(_SYSTEMS).take(pa.array(system)),
            "level": level + 1,
            "state": pa.array(_STATES).take(pa.array(state)),
            "region": pa.array(_REGIONS).take(pa.array(region)),
            "income_quintile": quintile + 1,
            **dict(zip(_COUNT_LIMITS, np.asfortranarray(counts).T, strict=True)),
        }
    )


def students_schema() -> Schema:
    """Return the public bounds and categories of ``students``, fixed by how it is made.

    Examples
    --------
    >>> students_schema().box.names
    ('sessions_per_week', 'minutes_per_session', 'maths_sessions_per_week')
    """
    categories = {
        "sex": _SEXES,
        "system": _SYSTEMS,
        "level": range(1, 7),
        "state": _STATES,
        "region": _REGIONS,
        "income_quintile": range(1, 6),
    }
    columns: dict[str, Any] = {n: {"values": list(v)} for n, v in categories.items()}
    columns |= {name: {"low": 0.0, "high": high} for name, high in _COUNT_LIMITS.items()}
    return Schema.of({"version": 1, "columns": columns})


def _connections(
    rng: np.random.Generator,
    system: Integers,
    level: Integers,
    quintile: Integers,
) -> Floats:
    """Draw the three connection counts of each student."""
    odds = np.exp(_HABIT_ODDS[:, None, :] + (np.arange(5)[:, None] - 2) * _HABIT_TILT)
    shares = odds / odds.sum(axis=2, keepdims=True)  # by system, quintile and habit
    habit = draw_indices(rng, shares[system, quintile])
    counts = _HABIT_MEAN[habit] + _HABIT_SPREAD[habit] * rng.standard_normal((len(habit), 3))
    counts[:, 1] *= 0.9 + 0.03 * level  # older students stay a little longer
    return np.clip(counts, 0, list(_COUNT_LIMITS.values())).round(1)


def draw_indices(rng: np.random.Generator, shares: Floats) -> Integers:
    """Draw one index for each row, by that row's shares.

    Parameters
    ----------
    shares
        One row of shares for each draw, which add up to 1.
    """
    edges = np.cumsum(shares, axis=1)[:, :-1]
    place: Integers = np.count_nonzero(rng.random(len(edges))[:, None] >= edges, axis=1)
    return place


def check_count(**counts: int) -> None:
    """Refuse anything but a whole number of 1 or more, by the name of its parameter."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise InvalidSetting.of(name, "must be a whole number of 1 or more", 200, count)
