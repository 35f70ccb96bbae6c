"""Every estimator once: where it lies, its page and short name, and the settings that audits try.

Model folders, pages, the command line, contracts and audits read this list. It names classes by
their package, so that whoever reads it loads none of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

from shoal.domain import Box, Schema
from shoal.privacy import ApproxDP, PureDP

Settings = Mapping[str, Any]


class AuditedFit(NamedTuple):
    """A fit whose releases are audited.

    Parameters
    ----------
    releases
        How many releases it makes at most; the check of the bounds is one.
    pair
        The pair of tables it is fitted on, by its name in ``shoal.audit``.
    """

    settings: Settings
    releases: int
    pair: str


@dataclass(frozen=True)
class EstimatorEntry:
    """An estimator, and what others need to know of it.

    Parameters
    ----------
    page
        The kind of its page of groups; None if its base class has one, or it finds no groups.
    command
        Its name on the command line; None if it has none there.
    replays
        Returns the settings of fits whose exact loss is computed, by what they show; under the
        empty name, those of the estimator itself.
    gates
        Returns the fits whose releases are audited, by the same names.
    fits
        Returns further settings whose fitted attributes are audited, each with its pair.
    """

    name: str
    package: str
    page: str | None = None
    command: str | None = None
    is_mixed: bool = False
    settings: Settings = field(default_factory=dict)
    replays: Callable[[], Mapping[str, Settings]] = dict
    gates: Callable[[], Mapping[str, AuditedFit]] = dict
    fits: Callable[[], Mapping[str, tuple[Settings, str]]] = dict

    @property
    def kind(self) -> Any:
        """Its class."""
        return getattr(import_module(self.package), self.name)

    @property
    def is_model(self) -> bool:
        """Whether it finds groups, and so is saved as the folder of a model."""
        return self.package == "shoal.cluster"

    def make(self, **settings: Any) -> Any:
        """Return one that is not fitted, at epsilon 1 unless ``privacy`` is given."""
        usual = {} if "privacy" in settings else {"epsilon": 1}
        return self.kind(**usual | dict(self.settings) | settings)

    def named(self, variant: str) -> str:
        """Return the name of an example: the estimator's, and what the example shows."""
        return f"{self.name}, {variant}" if variant else self.name


_PUBLIC_ROWS = 3000  # a public number of rows from which on there are steps after the cells
_CORNER = "one row alone in a corner"
_CLUSTER = "one row alone in a cluster"
_MAXIMUM = "one row more at the maximum"
_BORDER = "one row on a cell's border"
_TWICE = "one row twice"
_BETWEEN = "one row between two centres"
_NOBODY = "nobody and one row"


def _kmeans_replays() -> dict[str, Settings]:
    steps, delta = {"n_public": _PUBLIC_ROWS}, Fraction(1, 10**6)
    # With so many columns noise with a delta is the smaller one.
    forty = Box.unit(40)
    people = Schema.of_box(forty, person="person", max_rows_per_person=2)
    methods = ("adaptive-grid", "uniform-grid", "privtree", "lloyd")
    return {
        "": steps,
        "few rows": {},
        "four columns": {"domain": Box.unit(4), **steps},
        "eight columns": {"domain": Box.unit(8), **steps},
        "public rows": {"init": ((-0.5, -0.5), (-0.4, 0.1), (0.5, 0.4)), **steps},
        "choice of k": {"n_clusters": range(2, 5), **steps},
        **{method: {"method": method} for method in methods},
        "hybrid": {"method": "hybrid", "n_public": 10 * _PUBLIC_ROWS},
        "with a delta": {"privacy": ApproxDP(Fraction(1), delta), "domain": forty, **steps},
        "with a delta, people": {
            "privacy": ApproxDP(Fraction(2), delta),
            "domain": people,
            **steps,
        },
        "with a delta, public rows": {
            "privacy": ApproxDP(Fraction(1), delta),
            "domain": forty,
            "init": ((0.2,) * 40, (0.5,) * 40, (0.8,) * 40),
            **steps,
        },
    }


def _kmeans_gates() -> dict[str, AuditedFit]:
    shown = {
        "auto": (3, _CORNER),
        "adaptive-grid": (3, _TWICE),
        "uniform-grid": (2, _BORDER),
        "privtree": (4, _NOBODY),
        "lloyd": (5, _CLUSTER),
        "hybrid": (2, _MAXIMUM),
    }
    return {method: AuditedFit({"method": method}, *each) for method, each in shown.items()}


def _kmeans_fits() -> dict[str, tuple[Settings, str]]:
    hybrid = {"method": "hybrid", "n_public": 10 * _PUBLIC_ROWS}
    return {
        "auto, its steps": ({"n_public": _PUBLIC_ROWS}, _BETWEEN),
        "hybrid, its step": (hybrid, _BETWEEN),
    }


def _wave_replays() -> dict[str, Settings]:
    variants = ("privqt", "privthr", "privthrem", "baseline")
    return {
        "": {"cells": 8},
        "sparse": {"domain": Box.unit(8), "cells": 4},
        **{variant: {"variant": variant, "cells": 8} for variant in variants},
        **{name: {"selector": selector, "cells": 8} for name, selector in _selectors().items()},
    }


def _wave_gates() -> dict[str, AuditedFit]:
    four = Box.of(["a", "b", "c", "d"], [-1] * 4, [1] * 4)
    plane = Box(x=(-1, 1), y=(-1, 1))
    return {
        "block": AuditedFit({"cells": 4}, 2, _CORNER),
        "sparse": AuditedFit({"domain": four, "cells": 2}, 2, _NOBODY),
        "privqt": AuditedFit({"variant": "privqt", "cells": 4}, 2, _BORDER),
        "privthr": AuditedFit({"variant": "privthr", "cells": 4}, 3, _NOBODY),
        "privthrem": AuditedFit({"variant": "privthrem", "cells": 4}, 3, _MAXIMUM),
        "baseline": AuditedFit({"variant": "baseline", "domain": plane, "cells": 4}, 3, _TWICE),
    }


def _wave_fits() -> dict[str, tuple[Settings, str]]:
    pairs = (_CORNER, _MAXIMUM, _CORNER, _BORDER, _TWICE)
    return {
        name: ({"selector": selector, "cells": 4}, pair)
        for (name, selector), pair in zip(_selectors().items(), pairs, strict=True)
    }


def _selectors() -> dict[str, Any]:
    from shoal.cluster.wave import Percentile

    named = ("persistence", "percentile", "density", "mass")
    return {name: name for name in named} | {"posterior": Percentile(rule="posterior")}


def _prototypes_replays() -> dict[str, Settings]:
    usual = {"n_init": 2, "n_synthetic": 200}
    replaced = {"privacy": PureDP(Fraction(1), neighbours="replace-one")}
    return {
        "few rows": usual,
        "a profile": {"n_public": 300, **usual},
        "one step": {"n_public": 1000, **usual},
        "small groups": {"n_public": _PUBLIC_ROWS, **usual},
        "a row replaced": {"n_public": _PUBLIC_ROWS, **replaced, **usual},
        "with a delta": {
            "n_public": _PUBLIC_ROWS,
            # In so few columns noise with a smaller delta would be more than without.
            "privacy": ApproxDP(Fraction(1), Fraction(1, 1000)),
            **usual,
        },
    }


def _prototypes_gates() -> dict[str, AuditedFit]:
    usual = {"n_init": 1, "n_synthetic": 20}
    return {
        "few rows": AuditedFit(usual, 3, _CORNER),
        "its steps": AuditedFit({"n_public": _PUBLIC_ROWS, **usual}, 7, _CLUSTER),
    }


REGISTRY = (
    EstimatorEntry(
        "UniformGrid",
        "shoal.synopsis",
        replays=lambda: {"": {}, "sparse": {"cells": 64, "sparse": True}},
        gates=lambda: {
            "": AuditedFit({"cells": 4}, 2, _CORNER),
            "sparse": AuditedFit({"cells": 16, "sparse": True}, 2, _NOBODY),
        },
    ),
    EstimatorEntry(
        "AdaptiveGrid",
        "shoal.synopsis",
        replays=lambda: {"": {}, "sparse": {"cells": 16, "sparse": True}},
        gates=lambda: {
            "": AuditedFit({"cells": 4}, 3, _CORNER),
            "sparse": AuditedFit({"cells": 4, "sparse": True}, 3, _TWICE),
        },
    ),
    EstimatorEntry(
        "PrivTree",
        "shoal.synopsis",
        replays=lambda: {"": {}},
        gates=lambda: {"": AuditedFit({}, 4, _CORNER)},
    ),
    EstimatorEntry("PrivateBounds", "shoal.synopsis", replays=lambda: {"": {}}),
    EstimatorEntry(
        "PrivateKMeans",
        "shoal.cluster",
        "kmeans",
        "kmeans",
        settings={"n_clusters": 2},
        replays=_kmeans_replays,
        gates=_kmeans_gates,
        fits=_kmeans_fits,
    ),
    EstimatorEntry(
        "WaveCluster",
        "shoal.cluster",
        "wave",
        "wave",
        settings={"min_cells": 1},
        replays=_wave_replays,
        gates=_wave_gates,
        fits=_wave_fits,
    ),
    EstimatorEntry(
        "MixedSynopsis",
        "shoal.synopsis",
        is_mixed=True,
        replays=lambda: {
            "": {},
            "a row replaced": {"privacy": PureDP(Fraction(1), neighbours="replace-one")},
        },
        gates=lambda: {
            "": AuditedFit({}, 2, _CORNER),
            "with a pair": AuditedFit({"n_public": 300}, 4, _NOBODY),
        },
    ),
    EstimatorEntry(
        "PrivateKPrototypes",
        "shoal.cluster",
        "prototypes",
        "prototypes",
        is_mixed=True,
        settings={"n_clusters": 2},
        replays=_prototypes_replays,
        gates=_prototypes_gates,
    ),
    # Learnt from reports, on which the budget was spent: nothing of theirs is audited here.
    EstimatorEntry("LocalClusterer", "shoal.cluster", "reports"),
    EstimatorEntry("RoundsModel", "shoal.cluster", "rounds"),
)
