"""A made-up census of adults in the columns of UCI Adult, with its hierarchies."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.data._generate import check_count, draw_indices
from shoal.randomness import Randomness

# The values of Adult's columns, by share, each with its path to the root but for "*".
_RACES = {"White": 0.855, "Black": 0.095, "Asian-Pac-Islander": 0.031, "Amer-Indian-Eskimo": 0.011}
_RACES["Other"] = 0.008
_EDUCATIONS: dict[tuple[str, ...], dict[str, float]] = {
    ("Primary School", "Primary education"): {"Preschool": 2, "1st-4th": 5, "5th-6th": 10},
    ("High School", "Secondary education"): {
        **{"7th-8th": 19, "9th": 15, "10th": 28, "11th": 35, "12th": 13, "HS-grad": 325}
    },
    ("Professional Education", "Higher education"): {
        **{"Assoc-voc": 43, "Assoc-acdm": 33, "Prof-school": 18}
    },
    ("Undergraduate", "Higher education"): {"Some-college": 222, "Bachelors": 167},
    ("Graduate", "Higher education"): {"Masters": 54, "Doctorate": 12},
}
_MARRIAGES: dict[tuple[str, ...], list[str]] = {
    ("spouse present",): ["Married-civ-spouse", "Married-AF-spouse"],
    ("spouse not present",): [
        *("Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent")
    ],
}
_MARRIAGE_SHARE = np.array(  # below 25, 35, 50, 65 and above, in the order of _MARRIAGES
    [
        [0.140, 0.004, 0.820, 0.016, 0.010, 0.000, 0.010],
        [0.460, 0.001, 0.390, 0.100, 0.034, 0.003, 0.012],
        [0.590, 0.001, 0.140, 0.200, 0.042, 0.012, 0.015],
        [0.650, 0.000, 0.060, 0.190, 0.030, 0.055, 0.015],
        [0.560, 0.000, 0.050, 0.110, 0.015, 0.250, 0.015],
    ]
)
_COUNTRIES: dict[tuple[str, ...], dict[str, float]] = {
    ("North America",): {
        **{"United-States": 9120, "Mexico": 200, "Puerto-Rico": 36, "Canada": 35, "Cuba": 30},
        **{"El-Salvador": 33, "Jamaica": 26, "Dominican-Republic": 22, "Guatemala": 21},
        **{"Haiti": 14, "Honduras": 4, "Outlying-US(Guam-USVI-etc)": 4},
    },
    ("South America",): {
        **{"Columbia": 18, "Peru": 10, "Ecuador": 9, "Nicaragua": 11, "Trinadad&Tobago": 6}
    },
    ("Europe",): {
        **{"Germany": 42, "England": 28, "Italy": 22, "Poland": 18, "Portugal": 11, "Greece": 9},
        **{"France": 9, "Ireland": 8, "Yugoslavia": 5, "Scotland": 4, "Hungary": 4},
        **{"Holand-Netherlands": 1},
    },
    ("Asia",): {
        **{"Philippines": 62, "India": 33, "China": 22, "Vietnam": 21, "Japan": 19, "Taiwan": 14},
        **{"Iran": 14, "Hong": 6, "Thailand": 6, "Cambodia": 6, "Laos": 6},
    },
    ("Africa",): {"South": 23},
}
_EMPLOYERS: dict[tuple[str, ...], dict[str, float]] = {
    ("Non-Government",): {"Private": 738, "Self-emp-not-inc": 83, "Self-emp-inc": 36},
    ("Government",): {"Local-gov": 68, "State-gov": 42, "Federal-gov": 31},
    ("Unemployed",): {"Without-pay": 1, "Never-worked": 1},
}
_OCCUPATIONS: dict[tuple[str, ...], list[str]] = {
    ("Technical",): ["Prof-specialty", "Craft-repair", "Machine-op-inspct", "Tech-support"],
    ("Nontechnical",): ["Exec-managerial", "Sales", "Handlers-cleaners"],
    ("Other",): [
        *("Adm-clerical", "Other-service", "Transport-moving", "Farming-fishing"),
        *("Protective-serv", "Priv-house-serv", "Armed-Forces"),
    ],
}
_OCCUPATION_ODDS = np.array(  # by kind of education, in the orders of both
    [
        [1, 18, 22, 0.2, 2, 4, 12, 2, 24, 8, 10, 1, 4, 0.01],
        [2, 22, 12, 1.5, 7, 10, 8, 12, 14, 8, 4, 2, 0.6, 0.03],
        [20, 13, 4, 8, 13, 9, 2, 14, 6, 3, 2, 3, 0.2, 0.03],
        [18, 8, 3, 4, 20, 15, 2, 15, 7, 3, 2, 2.5, 0.2, 0.03],
        [55, 2, 0.5, 2, 25, 6, 0.3, 4, 1, 0.5, 0.8, 1, 0.05, 0.02],
    ]
)
_INCOMES = ("<=50K", ">50K")


def adults(n: int = 30_000, seed: int = 0) -> pa.Table:
    """A made-up table in the columns of UCI Adult that work on k-anonymity uses.

    Nobody is in it. Shares of values are near those of Adult; marriage follows age, occupation
    education, and income all of these. Figures measured on Adult do not hold here.

    Parameters
    ----------
    n
        How many adults.
    seed
        The same seed makes the same table.

    Examples
    --------
    >>> adults(1000).column_names
    ['sex', 'age', 'race', 'marital-status', 'education', 'native-country', 'workclass', \
'occupation', 'income']
    """
    check_count(n=n)
    rng = Randomness(seed).compute
    sex = rng.random(n) < 0.675
    age = np.clip(17 + rng.gamma(2.5, 8.6, n), 17, 90).astype(np.int64)
    level, education = _nested_choice(rng, _EDUCATIONS, n)
    marriage = draw_indices(rng, _MARRIAGE_SHARE[np.digitize(age, [25, 35, 50, 65])])
    job = draw_indices(rng, _OCCUPATION_ODDS[level] / _OCCUPATION_ODDS.sum(axis=1)[level, None])
    odds = -2.6 + 0.55 * level + 1.9 * (marriage < 2) + 0.3 * sex - (age < 30) - 0.6 * (job > 6)
    rich = rng.random(n) < 1 / (1 + np.exp(-odds + 0.6))
    return pa.table(
        {
            "sex": _texts(["Female", "Male"], sex),
            "age": age,
            "race": _texts(_RACES, rng.choice(len(_RACES), n, p=list(_RACES.values()))),
            "marital-status": _texts(_leaves(_MARRIAGES), marriage),
            "education": education,
            "native-country": _nested_choice(rng, _COUNTRIES, n)[1],
            "workclass": _nested_choice(rng, _EMPLOYERS, n)[1],
            "occupation": _texts(_leaves(_OCCUPATIONS), job),
            "income": _texts(_INCOMES, rich),
        }
    )


def adults_hierarchies() -> dict[str, list[tuple[str, ...]]]:
    """For each column of ``adults``, its values with the labels above them, up to ``*``.

    They are shaped like those that ARX publishes for Adult. ``Taxonomy.paths`` takes the rows; one
    line each, joined by semicolons, is a file that a policy's ``hierarchy: {file: ...}`` reads.

    Examples
    --------
    >>> adults_hierarchies()["age"][8]
    ('25', '25-29', '20-29', '20-39', '*')
    """
    nested: dict[str, dict[tuple[str, ...], Any]] = {
        "marital-status": _MARRIAGES,
        "education": _EDUCATIONS,
        "native-country": _COUNTRIES,
        "workclass": _EMPLOYERS,
        "occupation": _OCCUPATIONS,
    }
    flat = {"sex": ("Female", "Male"), "race": _RACES, "income": _INCOMES}
    trees = {"age": [(str(age), *_age_ranges(age), "*") for age in range(17, 91)]}
    trees |= {name: [(value, "*") for value in values] for name, values in flat.items()}
    for name, groups in nested.items():
        trees[name] = [(v, *path, "*") for path, values in groups.items() for v in values]
    return trees


def _age_ranges(age: int) -> list[str]:
    """The ranges of 5, 10 and 20 years an age lies in."""
    lows = [(width, age // width * width) for width in (5, 10, 20)]
    return [f"{low}-{low + width - 1}" for width, low in lows]


def _leaves(groups: dict[tuple[str, ...], Any]) -> list[str]:
    return [value for values in groups.values() for value in values]


def _texts(values: Iterable[str], places: NDArray[Any]) -> pa.Array:
    return pa.array(list(values)).take(pa.array(places.astype(np.int64)))


def _nested_choice(
    rng: np.random.Generator, groups: dict[tuple[str, ...], dict[str, float]], n: int
) -> tuple[Integers, pa.Array]:
    """Draw values by their weights: the group of each, and the value itself."""
    weights = np.array([weight for values in groups.values() for weight in values.values()])
    place = rng.choice(len(weights), n, p=weights / weights.sum())
    group = np.repeat(np.arange(len(groups)), [len(values) for values in groups.values()])
    return group[place], _texts(_leaves(groups), place)
