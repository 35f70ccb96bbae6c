"""The methods of ``shoal cluster``: the estimator of each, and the module of its page.

A method is an entry of ``METHODS``. Its ``build`` makes the unfitted estimator from the options;
its ``page`` names the module whose ``page`` function describes the fitted model.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from shoal.errors import InvalidSetting, sentence, setting, value_text

if TYPE_CHECKING:
    from shoal.arrays import Floats
    from shoal.domain import Box, Schema
    from shoal.privacy import ApproxDP, PureDP


MOST_CLUSTERS = 10_000
USUAL_GROUPS = range(2, 13)  # what "auto" chooses among
_WAVES_ALONE = sentence(
    "{variant}, {cells}, {selector}, {level} and {wavelet} are for {method:wave}."
)


@dataclass(frozen=True)
class WaveOptions:
    """The options of ``--method wave``; None leaves one to the estimator.

    Parameters
    ----------
    variant
        Where the noise goes.
    cells
        Cells along each axis.
    selector
        What makes a cell part of a group.
    level
        How many times the grid is halved.
    wavelet
        The name of the wavelet.
    """

    variant: str | None = None
    cells: str | None = None
    selector: str | None = None
    level: int | None = None
    wavelet: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options as the estimator names them."""
        cells = None if self.cells is None else parse_cells(self.cells)
        given = {"variant": self.variant, "cells": cells} | {
            name: getattr(self, name) for name in ("selector", "level", "wavelet")
        }
        return {name: value for name, value in given.items() if value is not None}


# Settings of `ClusterOptions` that do not decide what is released, or are described in another way.
_WRITTEN_APART = (
    "box",
    "schema",
    "n_clusters",
    "waves",
    "init",
    "ledger",
    "seed",
    "accept_clipping",
)


@dataclass(frozen=True)
class ClusterOptions:
    """The options of one run: public settings, parsed and checked.

    Parameters
    ----------
    method
        The name of the method.
    epsilon
        The budget as it was written.
    box
        The public bounds of numbers; None where ``schema`` is given.
    n_clusters
        The number of clusters, or a range to choose from.
    choose
        The rule of that choice.
    delta
        The delta of the promise as it was written.
    neighbours
        What the promise hides.
    person
        The column that says whose a row is.
    max_rows_per_person
        How many rows of a person are kept.
    n_public
        The number of rows, if it is public.
    drop
        Whether rows that lack a number are left out.
    accept_clipping
        Whether to go on where many rows lie outside the bounds.
    ledger
        The ledger file.
    seed
        The seed of a simulation.
    waves
        The options of ``--method wave``.
    schema
        The public schema of a table with categories, whose rows' owners it names; else None.
    init
        Public rows to start from, with the columns of the box.
    """

    method: str = "kmeans"
    epsilon: str | None = None
    box: "Box | None" = None
    n_clusters: range | None = None
    choose: str | None = None
    delta: str | None = None
    neighbours: str = "add-remove"
    person: str | None = None
    max_rows_per_person: int | None = None
    n_public: int | None = None
    drop: bool = False
    accept_clipping: bool = False
    ledger: Path | None = None
    seed: int | None = None
    waves: WaveOptions = WaveOptions()
    schema: "Schema | None" = None
    init: "Floats | None" = None

    @property
    def work(self) -> dict[str, Any]:
        """Return all that decides what is released, and nothing about how it is shown."""
        named = {
            each.name: getattr(self, each.name)
            for each in fields(ClusterOptions)
            if each.name not in _WRITTEN_APART
        }
        groups = None if self.n_clusters is None else list(self.n_clusters)
        domain = self.schema if self.box is None else self.box
        assert domain is not None
        own: dict[str, Any] = {
            "domain": domain.to_dict(),
            "groups": groups,
            "waves": self.waves.settings,
        }
        if self.init is not None:
            own["init"] = hashlib.sha256(self.init.tobytes()).hexdigest()
        return named | own

    @property
    def privacy(self) -> "PureDP | ApproxDP":
        """Return the promise for one row; the domain says how many rows a person has."""
        from shoal.privacy import ApproxDP, PureDP

        epsilon: Any = self.epsilon
        if self.delta is None:
            return PureDP(epsilon, neighbours=self.neighbours)
        return ApproxDP(epsilon, self.delta, neighbours=self.neighbours)  # type: ignore[arg-type]

    @property
    def domain(self) -> "Box | Schema":
        """Return the public bounds, and whose the rows are where that is given."""
        from shoal.domain import Schema
        from shoal.engine import Terms

        if self.box is None:
            assert self.schema is not None
            return self.schema
        if self.person is None and self.max_rows_per_person is None:
            return self.box
        Terms(person=self.person, max_rows_per_person=self.max_rows_per_person)
        return Schema.of_box(
            self.box, person=self.person, max_rows_per_person=self.max_rows_per_person
        )

    @property
    def common(self) -> dict[str, Any]:
        """Return the settings that every private estimator has."""
        from shoal.jobs.reports._mechanism import columns_of
        from shoal.privacy import Ledger

        return {
            "privacy": self.privacy,
            "domain": self.domain,
            "clipping": "accept" if self.accept_clipping else "stop",
            "n_public": self.n_public,
            "nonfinite": "drop" if self.drop else "refuse",
            "ledger": Ledger.of(self.ledger, columns=columns_of(self.domain)),
            "random_state": self.seed,
        }


class ClusterMethod(NamedTuple):
    """A clustering method of the command line.

    Parameters
    ----------
    description
        What it does, for ``--help``.
    """

    description: str
    build: Callable[[ClusterOptions], Any]


def method_named(word: str) -> ClusterMethod:
    """Return the method of this name.

    Parameters
    ----------
    word
        The name.

    Raises
    ------
    InvalidSetting
        If there is none.
    """
    if word in METHODS:
        return METHODS[word]
    near = get_close_matches(word.lower().replace("_", "-"), METHODS, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise InvalidSetting(
        f"There is no method {value_text(word)}.",
        f"{meant}Choose one of {', '.join(METHODS)}.",
        setting="method",
    )


def parse_groups(text: str | None) -> range | None:
    """Parse the number of groups: ``8``, or ``2-12`` or ``auto``, the same, to choose from.

    Parameters
    ----------
    text
        The option as it was written.
    """
    if text is None:
        return None
    if text.strip().lower() == "auto":
        return USUAL_GROUPS
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", text)
    if match is None:
        raise InvalidSetting(
            sentence("{n_clusters} must be a whole number, a range or auto."),
            sentence("E.g. {n_clusters:8}, or {n_clusters:2-12} to choose."),
        )
    wanted = range(int(match[1]), int(match[2] or match[1]) + 1)
    if not wanted or wanted[0] < 1 or wanted[-1] > MOST_CLUSTERS:
        raise InvalidSetting(
            setting("n_clusters")
            + f" must be an increasing range from 1 to at most {MOST_CLUSTERS:,}.",
            sentence("E.g. {n_clusters:2-12}."),
        )
    return wanted


def parse_cells(text: str) -> int | tuple[int, ...] | str:
    """Parse cells along each axis: ``64``, ``64,32`` for one number for each column, or
    ``auto``.
    """
    if text.strip() == "auto":
        return "auto"
    if not re.fullmatch(r"\s*\d{1,9}(\s*,\s*\d{1,9})*\s*", text):
        raise InvalidSetting(
            sentence("{cells} must be whole numbers or auto."),
            sentence("E.g. {cells:64}, or {cells:64,32}."),
        )
    each = tuple(int(part) for part in text.split(","))
    return each if len(each) > 1 else each[0]


def public_rows(path: Path, box: "Box | None") -> "Floats":
    """Read public rows to start from.

    Parameters
    ----------
    box
        The public bounds; None if the table has categories, which takes no such start.
    """
    import numpy as np

    from shoal.engine import rows_of

    if box is None:
        raise InvalidSetting(
            sentence("{init} is for tables of numbers."),
            sentence("Leave it out, or choose columns of numbers with {columns}."),
        )
    table = rows_of(str(path), box).map(lambda block: block.numbers, box.names).frame()
    return np.column_stack([table[name].to_numpy() for name in box.names])


def build_kmeans(method: str, options: ClusterOptions) -> Any:
    """Return an unfitted ``PrivateKMeans`` with these options."""
    from shoal.cluster import PrivateKMeans

    if options.waves != WaveOptions():
        raise InvalidSetting(
            _WAVES_ALONE,
            sentence("Leave them out, or add {method:wave}."),
        )
    if options.n_clusters is None:
        raise InvalidSetting(
            "The number of groups is missing.",
            sentence("E.g. {n_clusters:8}, or {n_clusters:2-12} to choose among them."),
            setting="n_clusters",
        )
    one = len(options.n_clusters) == 1
    return PrivateKMeans(
        options.n_clusters[0] if one else options.n_clusters,
        method=cast("Any", method),
        choose=cast("Any", options.choose or "simulation"),
        init=options.init,
        **options.common,
    )


def build_prototypes(options: ClusterOptions) -> Any:
    """Return an unfitted ``PrivateKPrototypes`` with these options."""
    from shoal.cluster import PrivateKPrototypes
    from shoal.domain import Schema

    if options.waves != WaveOptions():
        raise InvalidSetting(
            _WAVES_ALONE,
            sentence("Leave them out; {method:wave} is for numbers."),
        )
    if options.choose not in (None, "simulation"):
        raise InvalidSetting(
            sentence("Groups in a table with categories take no {choose} but simulation."),
            "Leave it out.",
        )
    if options.n_clusters is None:
        raise InvalidSetting(
            "The number of groups is missing.",
            sentence("E.g. {n_clusters:6}, or {n_clusters:2-12} to choose among them."),
            setting="n_clusters",
        )
    common = options.common
    if options.box is not None:
        common["domain"] = Schema.of_box(
            options.box, person=options.person, max_rows_per_person=options.max_rows_per_person
        )
    one = len(options.n_clusters) == 1
    return PrivateKPrototypes(options.n_clusters[0] if one else options.n_clusters, **common)


def build_wave(options: ClusterOptions) -> Any:
    """Return an unfitted ``WaveCluster`` with these options."""
    from shoal.cluster import WaveCluster

    not_its_own = (options.n_clusters, options.choose, options.delta, options.init)
    if any(each is not None for each in not_its_own):
        raise InvalidSetting(
            sentence(
                "{method:wave} takes no {n_clusters}, {choose}, {delta} or {init}: it finds the "
                "number of groups itself, and its promise has no delta."
            ),
            "Leave them out.",
        )
    return WaveCluster(**options.waves.settings, **options.common)


def _of_kmeans(description: str, method: str) -> ClusterMethod:
    return ClusterMethod(description, partial(build_kmeans, method))


METHODS: dict[str, ClusterMethod] = {
    "kmeans": _of_kmeans("the best for this number of columns, rows and groups", "auto"),
    "adaptive-grid": _of_kmeans(
        "k-means on a grid that is finer where people are", "adaptive-grid"
    ),
    "uniform-grid": _of_kmeans("k-means on an even grid", "uniform-grid"),
    "privtree": _of_kmeans("k-means on a tree of halved cells", "privtree"),
    "lloyd": _of_kmeans("noisy steps of Lloyd's algorithm, a baseline", "lloyd"),
    "hybrid": _of_kmeans("an even grid, then one noisy step, a baseline", "hybrid"),
    "prototypes": ClusterMethod(
        "groups in a table with categories, which kmeans turns to by itself",
        build_prototypes,
    ),
    "wave": ClusterMethod("groups of any shape: cells that stand out and touch", build_wave),
}
"""The methods of ``shoal cluster`` by name."""
