"""k-anonymous tables as an estimator: fit finds the cut, transform publishes under it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin

from shoal.anonymize.frames import release_frame
from shoal.anonymize.frequency_table import Frequency
from shoal.anonymize.policy import AnyPolicy, Policy, guarantee_of, policy_of
from shoal.anonymize.problem import Outcome
from shoal.anonymize.release.manifest import public_cut
from shoal.anonymize.release.people import Register, not_stated, people_in
from shoal.anonymize.release.result import occurring
from shoal.anonymize.release.run import produce
from shoal.anonymize.study import Studied, studied
from shoal.anonymize.table import AnyTable, Table, table_of
from shoal.data import source_of
from shoal.domain import Taxonomy
from shoal.engine.entry import by_engine
from shoal.engine.scratch import scratch
from shoal.errors import InvalidPolicy, InvalidSetting

__all__ = ["TopDownSpecialization"]

Columns = Mapping[str, Any] | Iterable[str]


class TopDownSpecialization(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Generalise quasi-identifiers so that each published combination is shared by k people.

    Guarantee
    ---------
    k-anonymity: every combination of published quasi-identifiers that occurs is shared by at
    least ``k`` entities, counted again in what was written. It is not differential privacy: it
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
    sensitive, identifiers, other
        The remaining columns: names, or names with a policy's entry, such as
        ``{"income": {"l": {"value": 3}}}``. Every column of the table needs a place.
    entity
        The column that says whose a row is, if people may have several.
    suppression
        Share of the rows that may be left out.
    nulls
        ``own_value``, ``suppress`` or ``as_root``.
    score, objective, recoding, restarts, random_state
        How to search: see ``Policy``. ``recoding="local"`` loses far less and has no cut to keep.
    suppressed, intervals
        ``drop`` or ``star``; ``label``, ``bounds`` or ``midpoint``.
    policy
        A ``Policy`` that says all of this instead; or its content, or the path of its file.

    Attributes
    ----------
    cut_
        For each quasi-identifier its published labels; ``None`` with local recoding.
    guarantee_
        What holds for what ``transform`` returns.
    metrics_
        How much the release of ``fit`` keeps.

    Examples
    --------
    >>> table = pa.table({"age": [21, 22, 23, 64, 65, 66], "visits": [1, 2, 1, 2, 1, 2]})
    >>> ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
    >>> model = TopDownSpecialization(k=3, hierarchies={"age": ages}, other=["visits"])
    >>> released = model.fit_transform(table)
    >>> sorted(set(released["age"].to_pylist())), model.guarantee_.k
    (['[20, 30)', '[60, 70)'], 3)

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
        entity: str | None = None,
        suppression: float = 0.02,
        nulls: Literal["own_value", "suppress", "as_root"] = "own_value",
        score: str = "auto",
        objective: str = "ncp",
        recoding: Literal["global", "local"] = "global",
        restarts: int | None = None,
        suppressed: Literal["drop", "star"] = "drop",
        intervals: Literal["label", "bounds", "midpoint"] = "label",
        policy: AnyPolicy | None = None,
        random_state: int = 1,
    ) -> None:
        self.k = k
        self.hierarchies = hierarchies
        self.sensitive = sensitive
        self.identifiers = identifiers
        self.other = other
        self.entity = entity
        self.suppression = suppression
        self.nulls = nulls
        self.score = score
        self.objective = objective
        self.recoding = recoding
        self.restarts = restarts
        self.suppressed = suppressed
        self.intervals = intervals
        self.policy = policy
        self.random_state = random_state

    # What was released under the cut; a model that is loaded may have released anything.
    _has_released: bool = True
    _register: Register | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the register of people: its key is the curator's, and a copy would forget."""
        state: dict[str, Any] = dict(super().__getstate__())
        for name in ("_register", "_has_released"):
            state.pop(name, None)
        return state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the cut under which the table may be published."""
        self._search(table_of(X))
        return self

    def fit_transform(self, X: Any, y: None = None, **params: Any) -> Any:
        """Find a release and return it: the kind of table that came, rows in random order."""
        table = table_of(X)
        frequency, outcome = self._search(table)
        return self._released(X, table, frequency, outcome, new_people=False)

    def transform(self, X: Any, new_people: bool = False) -> Any:
        """Publish rows under the cut found by ``fit``, and count again.

        Classes that break the promise are suppressed; more than the budget of them raises.

        Parameters
        ----------
        X
            The rows. People of an earlier release of this model raise ``ReleasedBefore``: two
            tables that share people can be subtracted.
        new_people
            States that nobody of ``X`` was in an earlier release, which a second release needs
            where people cannot be compared: without an entity, or by a model that was loaded.
        """
        if not hasattr(self, "policy_"):
            raise InvalidSetting("The estimator is not fitted.", "Call fit first.")
        if self.cut_ is None:
            raise InvalidSetting(
                "Local recoding has no cut that could be kept.", "Use fit_transform."
            )
        table = table_of(X)
        frequency, outcome = studied(self.policy_, table, self.cut_)
        return self._released(X, table, frequency, outcome, new_people)

    def _released(
        self, X: Any, table: AnyTable, frequency: Frequency, outcome: Outcome, new_people: bool
    ) -> Any:
        register = self._register_after(table, new_people)
        released = _as_came(X, _release(self.policy_, table, frequency, outcome))
        self._register, self._has_released = register, True
        return released

    def _register_after(self, table: AnyTable, new_people: bool) -> Register | None:
        """The people of all releases, this one's among them; None if they are not told apart."""
        entity, register = self.policy_.privacy.entity, self._register
        is_known = register is not None and register.complete
        if self._has_released and not is_known and not new_people:
            raise not_stated(by_entity=entity is not None)
        if entity is None:
            return None
        register = register or Register.new(entity, complete=not self._has_released)
        return register.with_people(people_in(table, entity))

    def _search(self, table: AnyTable) -> Studied:
        policy = self._policy()
        frequency, outcome = studied(policy, table)
        self._has_released, self._register = False, None
        self.policy_ = policy
        self.cut_ = _labels(policy, frequency, outcome)
        self.metrics_ = outcome.metrics
        self.guarantee_ = guarantee_of(policy)
        return frequency, outcome

    def _policy(self) -> Policy:
        if self.policy is not None:
            policy = policy_of(self.policy)
            if self.k not in (None, policy.privacy.k) or self.hierarchies:
                raise InvalidSetting(
                    "A policy came, and beside it k or hierarchies.", "Say each in one place."
                )
            return policy
        if self.k is None or not self.hierarchies:
            raise InvalidPolicy(
                "k or the hierarchies are missing; k has no default.",
                "E.g. TopDownSpecialization(k=10, hierarchies={'age': ...}), or pass a policy.",
            )
        return Policy.of(
            {
                "version": 1,
                "attributes": self._attributes(self.hierarchies),
                "privacy": {
                    "k": self.k,
                    "suppression": self.suppression,
                    "entity": self.entity,
                    "nulls": self.nulls,
                },
                "search": {
                    "score": self.score,
                    "objective": self.objective,
                    "recoding": self.recoding,
                    "restarts": self.restarts,
                    "seed": self.random_state,
                },
                "output": {"suppressed": self.suppressed, "intervals": self.intervals},
            }
        )

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
    """A quasi-identifier's entry in a policy, from the short ways to give its hierarchy."""
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


def _labels(policy: Policy, frequency: Frequency, outcome: Outcome) -> dict[str, list[str]] | None:
    if outcome.cut is None:
        return None
    found = occurring(policy, outcome.labels[~outcome.suppressed])
    return public_cut(frequency.codec, found)


def _release(policy: Policy, table: AnyTable, frequency: Frequency, outcome: Outcome) -> Any:
    """Through a private file, so that what is returned is what was counted again."""
    return by_engine(
        table,
        embedded=lambda table: _release_here(policy, table, frequency, outcome),
        distributed=lambda table: release_frame(policy, table, frequency, outcome),
    )


def _release_here(policy: Policy, table: Table, frequency: Frequency, outcome: Outcome) -> Any:
    with scratch() as folder:
        path = folder / "release.parquet"
        produce(policy, table, frequency, outcome, path)
        source = source_of(str(path))
        return pa.Table.from_batches(list(source.batches(source.names)))


def _as_came(X: Any, released: Any) -> Any:
    """The release as the kind of data frame that came; as an Arrow table for anything else."""
    import narwhals as nw

    if not isinstance(released, pa.Table) or isinstance(X, pa.Table):
        return released
    if not nw.dependencies.is_into_dataframe(X):
        return released
    kind = nw.from_native(X, eager_only=True).implementation
    return nw.from_arrow(released, backend=kind).to_native()
