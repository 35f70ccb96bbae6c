"""Groups learnt from rounds of reports, as a model that clients label their own records with."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster._groups_display import groups_html, groups_text, value_text
from shoal.cluster.figures import group_number, profile_of_prototype
from shoal.cluster.local._prototypes import LocalPrototypes
from shoal.cluster.local._rounds import LocalRounds
from shoal.cluster.local.transcript import AllRounds, LearntGroups, State, Transcript, learn_groups
from shoal.cluster.model_folder import save_model
from shoal.cluster.prototypes._mixed_rows import Prototypes, prototype_table
from shoal.domain import Box, Schema
from shoal.errors import NotAReport
from shoal.figures import Figure, ProfileRow
from shoal.mechanisms.local import records_of
from shoal.privacy import Guarantee, Public, Released, Result, exact_text
from shoal.privacy.notebook_html import promise_sentences, summary_html
from shoal.randomness import Randomness
from shoal.synopsis import read_box

PROTOTYPES = "prototypes.csv"
_SURE = 3  # standard errors from which on a group is taken to have people


class RoundsModel(ComputedOnce):
    """Groups learnt in rounds of reports: what stands for each, and its share of the people.

    Made by ``of`` from what a collection made public, or by ``shoal.load_model``.

    Parameters
    ----------
    learnt
        What the reports of all rounds say.
    n_reports
        How many reports there were.
    guarantee
        The promise of the reports.

    Attributes
    ----------
    prototypes_
        A line for each group, in the columns' own units.
    n_clusters_, feature_names_in_
        How many groups there are; the columns of the records.
    cluster_sizes_, is_certain_
        About how many reports belong to each group; whether it has more people than noise alone
        would show.
    shares_, share_error_
        The share of people in each group, as reports tell it, with noise; and its standard error.
    """

    _made_by_fit = "state"

    def __init__(self, learnt: LearntGroups, n_reports: int, guarantee: Guarantee) -> None:
        self.state, self.shares_, self.share_error_ = learnt
        self.domain: Any = self.state.domain
        self.n_reports_ = n_reports
        self.guarantee_ = guarantee

    @classmethod
    def of(cls, transcript: Transcript, guarantee: Guarantee | None = None) -> Self:
        """Learn the groups from what a collection made public.

        Parameters
        ----------
        transcript
            Reports and questions of all rounds.
        guarantee
            The promise of the reports; left out, that of the rounds.
        """
        if not len(transcript.reports):
            raise NotAReport("There is no report.", "Use the file as it was written.")
        promised = transcript.first.guarantee if guarantee is None else guarantee
        return cls(learn_groups(transcript), len(transcript.reports), promised)

    @property
    def n_clusters_(self) -> int:
        """How many groups there are."""
        return int(self.prototypes_.num_rows)

    @property
    def prototypes_(self) -> pa.Table:
        """What stands for each group, in the columns' own units."""
        if isinstance(self.state, LocalPrototypes):
            return self.state.prototypes
        centers = np.asarray(self.state.cluster_centers)
        return pa.table(dict(zip(self.state.domain.names, centers.T, strict=True)))

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns of the records."""
        return np.array(self.prototypes_.column_names, dtype=object)

    @property
    def cluster_sizes_(self) -> Floats:
        """About how many reports belong to each group: its share of them, at least 0."""
        return np.asarray(np.maximum(self.shares_, 0) * self.n_reports_)

    @property
    def is_certain_(self) -> NDArray[np.bool_]:
        """Whether each group has more people than noise alone would show."""
        return np.asarray(self.shares_ > _SURE * self.share_error_)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({settings})\n{groups_text(self)}"

    def _repr_html_(self) -> str:
        sentences = promise_sentences(self.guarantee_)
        return summary_html(type(self).__name__, self.get_params(), sentences) + groups_html(self)

    def _group_values(self) -> dict[str, list[Any]]:
        values: dict[str, list[Any]] = self.prototypes_.to_pydict()
        return values

    def predict(self, X: Any) -> Integers:
        """Return the group of each record; run it on the client and keep the label.

        Parameters
        ----------
        X
            The client's own records.
        """
        if isinstance(self.state, LocalPrototypes):
            return self.state.predict(X)
        box, centers = self.state.domain, self.state.cluster_centers
        assert centers is not None
        rows = box.scale(records_of(X, box, clip=True), -1, 1)
        return nearest_centers(rows, box.scale(centers, -1, 1))

    def control(self, n: int, *, random_state: int = 0) -> "RoundsModel":
        """Return what the same rounds find among people spread evenly over the domain.

        Parameters
        ----------
        n
            The number of people.
        random_state
            The seed of people, noise and learner.
        """
        first = replace(_first(self.state), n_expected=n)
        rng = Randomness(random_state)
        released = AllRounds(first, rng.seed()).release(_even_records(first, n, rng), rng.noise)
        return RoundsModel.of(released)

    def plot(self, group: int | None = None) -> Figure:
        """Draw what stands for a group: its numbers beside everyone's, its common categories.

        Parameters
        ----------
        group
            Its number, from 1; None takes the largest group.
        """
        number = group_number(self.cluster_sizes_, group)
        here, everyone = self._scaled_numbers[number - 1], self._everyone_numbers
        line = self.prototypes_.slice(number - 1, 1).to_pylist()[0]
        rows = [
            ProfileRow(
                name, value_text(line.pop(name)), text, at, None, None, other, is_share=False
            )
            for (name, text), at, other in zip(
                self._everyone_texts().items(), here.tolist(), everyone.tolist(), strict=True
            )
        ]
        share = f"about {100 * max(float(self.shares_[number - 1]), 0):.0f} in 100 reports"
        title = share if self.is_certain_[number - 1] else f"{share}, may be noise"
        return profile_of_prototype(rows, line, number=number, title=title)

    @property
    def _scaled_numbers(self) -> Floats:
        """The numbers of each prototype, from 0 to 1 across their bounds."""
        if isinstance(self.state, LocalPrototypes):
            return np.asarray((self.state._prototypes.numbers + 1) / 2)
        box, centers = self.state.domain, np.asarray(self.state.cluster_centers)
        return np.asarray(box.scale(box.clip(centers), 0, 1))

    @property
    def _everyone_numbers(self) -> Floats:
        """The mean of each number over all groups, by their sizes."""
        weights = self.cluster_sizes_ + 1e-9
        return np.asarray(np.average(self._scaled_numbers, axis=0, weights=weights))

    def _everyone_texts(self) -> dict[str, str]:
        """Return everyone's mean of each number in its own units, or the nearest level."""
        means = self._everyone_numbers
        if isinstance(self.state, LocalPrototypes):
            columns = self.state.columns
            alone = Prototypes(2 * means[None] - 1, self.state._prototypes.codes[:1])
            line = prototype_table(columns, alone).to_pylist()[0]
            return {column.name: value_text(line[column.name]) for column in columns.numbers}
        box = self.state.domain
        values = box.low + means * (box.high - box.low)
        return dict(zip(box.names, map(value_text, values.tolist()), strict=True))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings.

        Parameters
        ----------
        deep
            As of scikit-learn; there is nothing deeper.
        """
        names = ("n_clusters", "epsilon", "n_expected")
        return {"domain": self.domain} | {name: getattr(self.state, name) for name in names}

    def to_result(self) -> Result:
        """Return the settings, which are public, and what was learnt from reports, for a report."""
        settings = {name: Public(value) for name, value in self.get_params().items()}
        names = ("prototypes_", "shares_", "share_error_", "n_reports_")
        released = {name: Released(getattr(self, name)) for name in names}
        return Result("clusters of reports", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Save the model to a folder, from which clients read it with ``shoal.load_model``.

        Parameters
        ----------
        folder
            The folder to write.
        overwrite
            Whether a model that is already there may be replaced; other folders never are.
        """
        return save_model(self, folder, overwrite)

    def _document(self) -> dict[str, Any]:
        state = self.state
        lines = state.prototype_lines if isinstance(state, LocalPrototypes) else state.centers
        settings = {
            "rounds": type(state).__name__,
            "n_clusters": int(state.n_clusters),
            "epsilon": exact_text(state.guarantee.epsilon),
            "n_expected": int(state.n_expected),
        }
        released = {
            "lines": np.asarray(lines).tolist(),
            "shares_": self.shares_.tolist(),
            "share_error_": self.share_error_,
            "n_reports_": self.n_reports_,
        }
        return {"settings": settings, "released": released}

    def _tables(self) -> dict[str, Any]:
        own = {"_group": pa.array(range(1, self.n_clusters_ + 1)), "_share": self.shares_}
        table = self.prototypes_
        return {
            PROTOTYPES: pa.table(own | dict(zip(table.column_names, table.columns, strict=True)))
        }

    @classmethod
    def _restore(cls, document: Mapping[str, Any], tables: Mapping[str, Any]) -> Self:
        released = document["released"]
        shares = np.array(released["shares_"], dtype=np.float64)
        state = _last_state(document["settings"], document["domain"], released["lines"])
        learnt = LearntGroups(state, shares, float(released["share_error_"]))
        return cls(learnt, int(released["n_reports_"]), state.guarantee)


def _first(state: State) -> State:
    """Return the state before the first round."""
    if isinstance(state, LocalRounds):
        return replace(state, round=0, centers=None)
    return replace(state, round=0, synthetic=None, prototype_lines=None, reach=())


def _last_state(settings: Mapping[str, Any], domain: Mapping[str, Any], lines: Any) -> State:
    """Return the state after the last round, without the records that were made up."""
    given = {name: settings[name] for name in ("n_clusters", "epsilon", "n_expected")}
    if settings["rounds"] == "LocalRounds":
        centers = tuple(tuple(map(float, line)) for line in lines)
        return LocalRounds(read_box(domain), **given, round=LocalRounds.n_rounds, centers=centers)
    rounds, made = LocalPrototypes.n_rounds, np.array(lines, dtype=np.float64)
    return LocalPrototypes(Schema.of(domain), **given, round=rounds, prototype_lines=made)


def _even_records(first: State, n: int, rng: Randomness) -> Floats:
    """Return records spread evenly over the domain, as the mechanisms take them."""
    if isinstance(first.domain, Box):
        box = first.domain
        return rng.compute.uniform(box.low, box.high, size=(n, box.d))
    columns: Any = first.columns
    numbers = rng.compute.uniform(-1, 1, size=(n, len(columns.numbers)))
    codes = [rng.compute.integers(0, column.size, n) for column in columns.categories]
    return np.column_stack([numbers, *codes])
