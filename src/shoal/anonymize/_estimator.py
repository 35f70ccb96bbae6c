"""An estimator of k-anonymous tables: fit searches for the cut, transform publishes under it.

``fit_transform`` takes these steps; their numbers stand beside the lines below.

1. Parameters become a policy, which is checked: columns, promise, search and output.
2. The table is checked against it and read once; each value is coded as a leaf of its hierarchy,
   and distinct combinations are counted (``frequency_table``).
3. All rows start at the roots, and the node with the best score is split while every class keeps
   k, l and t (``search.top_down``); of several searches the best outcome is taken
   (``search.portfolio``). Local recoding labels each class on its own (``local_recoding``).
4. The cut, the loss and the guarantee become attributes.
5. People are compared with those of earlier releases (``release.people``).
6. Each row is written under the labels of its class, in random order, to a private file
   (``release.writer``).
7. The file is counted again, by the definitions of k, l and t; if it keeps them it is returned
   (``risk.recount``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import BaseEstimator, TransformerMixin

from shoal.anonymize._distributed_frames import find_outcome_on_frame, release_frame
from shoal.anonymize._frequency_table import FrequencyTable, count_combinations
from shoal.anonymize._policy import AnyPolicy, Policy, guarantee_of, policy_of
from shoal.anonymize.release._manifest import find_label_places, public_cut
from shoal.anonymize.release._people_register import Register, find_people, missing_statement_error
from shoal.anonymize.release._run import write_and_recount
from shoal.anonymize.search._run_search import find_outcome
from shoal.anonymize.search_problem import SearchOutcome
from shoal.anonymize.table import AnyTable, QueriedTable, table_of
from shoal.domain import Taxonomy
from shoal.engine import by_engine
from shoal.errors import InvalidPolicy, InvalidSetting
from shoal.estimator import NotebookDisplay
from shoal.files import scratch

Columns = Mapping[str, Any] | Iterable[str]


class _Settings:
    """Base of settings that belong together, given to an estimator as one parameter.

    They are frozen, so that one object may be the default of all estimators.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name."""
        return dict(vars(self))

    def set_params(self, **params: Any) -> Self:
        """Return a copy in which these settings are changed."""
        unknown = [name for name in params if name not in vars(self)]
        if unknown:
            raise InvalidSetting(
                f"{type(self).__name__} has no setting {unknown[0]!r}.",
                f"It has {', '.join(vars(self))}.",
            )
        return type(self)(**vars(self) | params)


@dataclass(frozen=True)
class SearchSettings(_Settings):
    """How the release is searched for; the part ``search`` of a policy.

    Parameters
    ----------
    score
        What makes a split the best: ``auto``, ``leteo``, ``ncp``, ``sq``, ``ncp-rows``,
        ``ncp-bits`` or ``label-gain``.
    objective
        What makes one of several releases the best: least ``ncp``, ``dm`` or ``aecs``, or most
        ``entropy``.
    recoding
        ``global``: all rows share one cut. ``local``: labels differ from class to class, which
        loses far less and leaves no cut for later rows.
    local
        How local recoding groups rows: ``auto``, ``cheapest-cell``, ``roll-up`` or ``peel``.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.
    target
        The class column of the score ``label-gain``.
    restarts
        How many searches with tilted scores to make besides the plain ones; None makes 32, and
        fewer on a large table.

    Examples
    --------
    >>> SearchSettings(recoding="local").set_params(local="peel").get_params()["local"]
    'peel'
    """

    score: str = "auto"
    objective: str = "ncp"
    recoding: Literal["global", "local"] = "global"
    local: str = "auto"
    loss_unit: str = "rows"
    target: str | None = None
    restarts: int | None = None


@dataclass(frozen=True)
class OutputSettings(_Settings):
    """How the released table shows missing values, suppressed rows and intervals.

    Parameters
    ----------
    nulls
        Missing quasi-identifiers: ``own_value`` publishes them as a value like others,
        ``as_root`` under the most general label, and ``suppress`` leaves their rows out.
    suppressed
        Suppressed rows: ``drop`` leaves them out, ``star`` publishes them under ``*`` alone where
        the promise allows it.
    intervals
        Intervals of numbers: ``label``, ``bounds`` (two columns) or ``midpoint``.
    """

    nulls: Literal["own_value", "suppress", "as_root"] = "own_value"
    suppressed: Literal["drop", "star"] = "drop"
    intervals: Literal["label", "bounds", "midpoint"] = "label"


class TopDownSpecialization(NotebookDisplay, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Generalise quasi-identifiers so that each published combination is shared by k people.

    Guarantee
    ---------
    k-anonymity: every combination of published quasi-identifiers that occurs is shared by at
    least ``k`` people, counted again in what was written. It is not differential privacy: it
    does not hide what all k have in common (hence l and t), nor withstand two different releases
    of one table, nor someone who knows how many rows a person has. Later rows under the same cut
    must be new people's: see ``transform``.

    Parameters
    ----------
    k
        How many people share each combination, at least 2.
    hierarchies
        For each quasi-identifier a ``Taxonomy``, the path of an ARX file, or what a policy file
        has under ``hierarchy``; or, with the key ``hierarchy`` in it, a column's whole entry.
    sensitive
        Columns that are published as they are and that nobody should learn of a person: names,
        or names with a policy's entry, such as ``{"income": {"l": {"value": 3}}}``.
    identifiers
        Columns that name people and are dropped, or become pseudonyms if their entry says so.
    other
        Columns that are published as they are. Every column of the table needs a role.
    person
        The column that says whose a row is, if people may have several.
    suppression
        Share of the rows that may be left out.
    search
        How to search; ``search__score`` and the like can be set one by one.
    output
        How missing values, suppressed rows and intervals are published.
    policy
        A ``Policy`` that says all of this instead; or its content, or the path of its file.
    random_state
        The seed of the searches with tilted scores. The order of the released rows is always
        drawn by the operating system.

    Attributes
    ----------
    cut_
        For each quasi-identifier its published labels; ``None`` with local recoding.
    guarantee_
        What holds for what ``transform`` returns.
    metrics_
        How much detail the release of ``fit`` keeps.
    policy_
        The policy that was followed.

    Examples
    --------
    >>> table = pa.table({"age": [21, 22, 23, 64, 65, 66], "visits": [1, 2, 1, 2, 1, 2]})
    >>> ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
    >>> model = TopDownSpecialization(k=3, hierarchies={"age": ages}, other=["visits"])
    >>> released = model.fit_transform(table)
    >>> sorted(set(released["age"].to_pylist())), model.guarantee_.k
    (['[20, 30)', '[60, 70)'], 3)
    >>> model.set_params(search__recoding="local").fit(table).cut_ is None
    True

    References
    ----------
    Fung, Wang, Yu, Top-down specialization for information and privacy preservation, ICDE 2005.
    """

    def __init__(
        self,
        k: int | None = None,
        *,
        hierarchies: Mapping[str, Any] | None = None,
        sensitive: Columns = (),
        identifiers: Columns = (),
        other: Columns = (),
        person: str | None = None,
        suppression: float = 0.02,
        search: SearchSettings = SearchSettings(),  # noqa: B008 - frozen
        output: OutputSettings = OutputSettings(),  # noqa: B008 - frozen
        policy: AnyPolicy | None = None,
        random_state: int = 1,
    ) -> None:
        self.k = k
        self.hierarchies = hierarchies
        self.sensitive = sensitive
        self.identifiers = identifiers
        self.other = other
        self.person = person
        self.suppression = suppression
        self.search = search
        self.output = output
        self.policy = policy
        self.random_state = random_state

    # What was released under the cut; a model that is loaded may have released anything.
    _has_released: bool = True
    _register: Register | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the register of people, whose key is for the curator only."""
        state: dict[str, Any] = dict(super().__getstate__())
        for name in ("_register", "_has_released"):
            state.pop(name, None)
        return state

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of a group as ``search__score``.

        Parameters
        ----------
        **params
            Parameters by name. A group is frozen, so it is replaced and not changed in place.
        """
        whole = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**whole)
        for name, value in params.items():
            group, _, setting = name.partition("__")
            if setting:
                super().set_params(**{group: self._group(group).set_params(**{setting: value})})
        return self

    def fit(self, X: Any, y: None = None) -> Self:
        """Search for the cut under which the table may be published.

        Parameters
        ----------
        X
            The table: a data frame, an Arrow table, a path or a Spark frame.
        y
            Not used.
        """
        self._find_release(table_of(X))
        return self

    def fit_transform(self, X: Any, y: None = None, **params: Any) -> Any:
        """Search for a release of the table and return it.

        Parameters
        ----------
        X
            The table: a data frame, an Arrow table, a path or a Spark frame.
        y
            Not used.
        **params
            Not used.

        Returns
        -------
        table
            The kind of table that was given, Arrow for a path; its rows in random order.
        """
        table = table_of(X)
        frequency, outcome = self._find_release(table)
        return self._publish(X, table, frequency, outcome, new_people=False)

    def transform(self, X: Any, new_people: bool = False) -> Any:
        """Publish rows under the cut of ``fit``, and recount them.

        Classes that break the promise are suppressed; more than the budget of them raises.

        Parameters
        ----------
        X
            The rows. People of an earlier release of this model raise ``ReleasedBefore``: two
            tables that share people can be subtracted.
        new_people
            States that nobody of ``X`` was in an earlier release, which a second release needs
            where people cannot be compared: without a person column, or by a model that was loaded.
        """
        if not hasattr(self, "policy_"):
            raise InvalidSetting("The estimator is not fitted.", "Call fit first.")
        if self.cut_ is None:
            raise InvalidSetting(
                "Local recoding has no cut that could be applied to other rows.",
                "Use fit_transform.",
            )
        table = table_of(X)
        frequency, outcome = _study(self.policy_, table, self.cut_)
        return self._publish(X, table, frequency, outcome, new_people)

    def _find_release(self, table: AnyTable) -> tuple[FrequencyTable, SearchOutcome]:
        policy = self.to_policy()  # 1. which column is what, and what is promised
        frequency, outcome = _study(policy, table)  # 2. and 3. count, then specialise
        self._has_released, self._register = False, None
        self.policy_ = policy  # 4. what may be known of the release before it is made
        self.cut_ = _public_cut(policy, frequency, outcome)
        self.metrics_ = outcome.metrics
        self.guarantee_ = guarantee_of(policy)
        return frequency, outcome

    def _publish(
        self,
        X: Any,
        table: AnyTable,
        frequency: FrequencyTable,
        outcome: SearchOutcome,
        new_people: bool,
    ) -> Any:
        register = self._register_with(table, new_people)  # 5. nobody is released twice
        released = _release(self.policy_, table, frequency, outcome)  # 6. and 7. recode, recount
        self._register, self._has_released = register, True
        return _in_kind_of(X, released)

    def _register_with(self, table: AnyTable, new_people: bool) -> Register | None:
        """Return the register with the people of this release; None without a person column."""
        person, register = self.policy_.privacy.person, self._register
        is_known = register is not None and register.complete
        if self._has_released and not is_known and not new_people:
            raise missing_statement_error(by_person=person is not None)
        if person is None:
            return None
        register = register or Register.new(person, complete=not self._has_released)
        return register.with_people(find_people(table, person))

    def to_policy(self) -> Policy:
        """Return the checked policy that these parameters stand for, or ``policy`` if given."""
        if self.policy is not None:
            policy = policy_of(self.policy)
            if self.k not in (None, policy.privacy.k) or self.hierarchies:
                raise InvalidSetting(
                    "Both a policy and k or hierarchies are given.",
                    "Give either a policy, or k and hierarchies.",
                )
            return policy
        if self.k is None or not self.hierarchies:
            raise InvalidPolicy(
                "k or the hierarchies are missing; k has no default.",
                "E.g. TopDownSpecialization(k=10, hierarchies={'age': ...}), or pass a policy.",
            )
        output = self._group("output").get_params()
        privacy = {"k": self.k, "suppression": self.suppression, "person": self.person}
        return Policy.of(
            {
                "version": 1,
                "attributes": self._attributes(self.hierarchies),
                "privacy": {**privacy, "nulls": output.pop("nulls")},
                "search": {**self._group("search").get_params(), "seed": self.random_state},
                "output": output,
            }
        )

    def _group(self, name: str) -> _Settings:
        """Return a parameter that holds settings; another kind of value raises."""
        group = getattr(self, name, None)
        if not isinstance(group, _Settings):
            raise InvalidSetting(
                f"{name!r} is not a group of settings.",
                "The groups are search=SearchSettings(...) and output=OutputSettings(...).",
            )
        return group

    def _attributes(self, hierarchies: Mapping[str, Any]) -> dict[str, Any]:
        roles = {"sensitive": self.sensitive, "identifier": self.identifiers, "other": self.other}
        entries = {name: {"role": "quasi", **_entry(of)} for name, of in hierarchies.items()}
        for role, columns in roles.items():
            given = columns if isinstance(columns, Mapping) else {n: {} for n in columns}
            for name, of in given.items():
                if name in entries:
                    raise InvalidPolicy(
                        f"{name!r} has two roles, {entries[name]['role']} and {role}.",
                        "Give each column one.",
                    )
                entries[name] = {"role": role, **of}
        return entries


def _entry(of: Any) -> dict[str, Any]:
    """Return a quasi-identifier's entry in a policy, from the short ways to give its hierarchy."""
    if isinstance(of, Taxonomy):
        return {"hierarchy": {"tree": _nested(of), "labels": "opaque"}}
    if isinstance(of, str | Path):
        return {"hierarchy": {"file": str(of)}}
    return dict(of) if "hierarchy" in of else {"hierarchy": dict(of)}


def _nested(taxonomy: Taxonomy) -> dict[str, Any]:
    below: list[dict[str, Any]] = [{} for _ in taxonomy.nodes]
    for place, node in enumerate(taxonomy.nodes):
        if node.parent >= 0:
            below[node.parent][node.label] = below[place]
    return {taxonomy.nodes[0].label: below[0]}


def _study(
    policy: Policy, table: AnyTable, cut: Any = None
) -> tuple[FrequencyTable, SearchOutcome]:
    """Count the table's combinations, and search for a release or apply a cut."""
    return by_engine(
        table,
        embedded=lambda table: _study_here(policy, table, cut),
        distributed=lambda table: find_outcome_on_frame(policy, table, cut, None),
    )


def _study_here(
    policy: Policy, table: QueriedTable, cut: Any
) -> tuple[FrequencyTable, SearchOutcome]:
    frequency = count_combinations(policy, table)  # 2. values coded by their hierarchies
    return frequency, find_outcome(policy, frequency, cut)  # 3. from the roots, while rules hold


def _public_cut(
    policy: Policy, frequency: FrequencyTable, outcome: SearchOutcome
) -> dict[str, list[str]] | None:
    if outcome.cut is None:
        return None
    published = find_label_places(policy, outcome.labels[~outcome.suppressed])
    return public_cut(frequency.codec, published)


def _release(
    policy: Policy, table: AnyTable, frequency: FrequencyTable, outcome: SearchOutcome
) -> Any:
    """Write the release to a private file, so that what is returned is what was recounted."""
    return by_engine(
        table,
        embedded=lambda table: _release_here(policy, table, frequency, outcome),
        distributed=lambda table: release_frame(policy, table, frequency, outcome),
    )


def _release_here(
    policy: Policy, table: QueriedTable, frequency: FrequencyTable, outcome: SearchOutcome
) -> Any:
    with scratch() as folder:
        path = folder / "release.parquet"
        write_and_recount(policy, table, frequency, outcome, path)
        with pq.ParquetFile(path) as file:
            return file.read()


def _in_kind_of(X: Any, released: Any) -> Any:
    """Return the release as the kind of data frame that X is, or as an Arrow table."""
    import narwhals as nw

    if not isinstance(released, pa.Table) or isinstance(X, pa.Table):
        return released
    if not nw.dependencies.is_into_dataframe(X):
        return released
    kind = nw.from_native(X, eager_only=True).implementation
    return nw.from_arrow(released, backend=kind).to_native()
