"""All rounds of reports over a table held in one place, and what reports alone say of groups.

rows ─► everybody's one report, round by round ─► transcript: reports and questions, all public
                                                      └─► the same learner again ─► model
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.cluster.local._mixed_report_tables import GroupAnswers
from shoal.cluster.local._prototypes import LocalPrototypes
from shoal.cluster.local._rounds import LocalRounds
from shoal.cluster.prototypes._mixed_rows import hold_admitted
from shoal.documents import parse_json
from shoal.domain import Box
from shoal.engine import Rows
from shoal.errors import NotAReport, TooFewRows, sentence
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local.categories import ResidualSign
from shoal.perturb import settings_of
from shoal.perturb.report_draft import Draft
from shoal.privacy import LocalDP

State = LocalRounds | LocalPrototypes
COLUMNS = ("round", "question", "answer")
FEWEST_PEOPLE = 100  # of fewer, a round might well be empty
_MISFIT = "Use the two files as `shoal perturb` wrote them, with the version of shoal that did."


@dataclass(frozen=True, eq=False)
class Transcript:
    """Everything that a collection in rounds makes public."""

    first: State
    reports: Integers
    questions: Sequence[Mapping[str, Any]]
    seed: int


@dataclass(frozen=True)
class AllRounds:
    """A mechanism for a whole table: everybody reports once, in the round they are drawn for.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for everybody. See ``transcript.proof.md``.

    Parameters
    ----------
    first
        The state before the first round; ``n_expected`` is the number of records.
    draft
        Stores the rounds of all people, and each round's question and reports, before anything is
        made of them, so that a killed run goes on without a second report of anybody.

    Examples
    --------
    >>> from shoal.domain import Box
    >>> from shoal.randomness import Randomness
    >>> first = LocalRounds(Box.unit(3), n_clusters=2, epsilon=2.0, n_expected=500)
    >>> people = np.random.default_rng(0).random((500, 3))
    >>> made = AllRounds(first, seed=7).release(people, Randomness(1).noise)
    >>> made.reports.shape, sorted(set(made.reports[:, 0].tolist()))
    ((500, 3), [0, 1, 2])
    """

    first: State
    seed: int
    draft: Draft | None = None

    @property
    def draft_run(self) -> str | None:
        """The run whose draft stores the rounds; None if lost reports must be paid again."""
        return None if self.draft is None else self.draft.run

    @property
    def guarantee(self) -> LocalDP:
        """The promise of one report, which is all that anybody sends."""
        return self.first.guarantee

    def check(self, records: Floats) -> None:
        """Refuse too few people; their number is public, since reports are counted."""
        if len(records) < FEWEST_PEOPLE:
            raise TooFewRows(
                f"Rounds divide people among questions, and need at least {FEWEST_PEOPLE}; got "
                f"{len(records)}.",
                sentence("Collect more, or ask everybody the same: {mechanism:local-grid}."),
            )

    def release(self, records: Floats, rng: np.random.Generator) -> Transcript:
        """Run all rounds, in each of which the people drawn for it report."""
        state, lines, questions = self.first, [], []
        n = len(records)
        (groups,) = self._stored(0, n, lambda: [self.first.groups(n, rng)])  # [P1]
        while state.mechanism is not None:
            number, own = state.round, records[groups == state.round]
            state = self._with_stored_question(state)
            mechanism: Any = state.mechanism
            values = self._answers(mechanism, own, number, rng)
            lines.append(np.column_stack([np.full(len(values), number), values]))
            questions.append(settings_of(mechanism))
            state = state.advance(_reports(mechanism, values), self.seed + number)  # [P4]
        return Transcript(self.first, np.concatenate(lines), tuple(questions), self.seed)

    def _with_stored_question(self, state: State) -> State:
        """Return the state with the question that was asked before the run was killed, if any."""
        written = json.dumps(settings_of(state.mechanism)).encode()
        number = 2 * state.round + 1
        (text,) = self._stored(number, None, lambda: [np.frombuffer(written, np.uint8)])  # [P5]
        stored = text.tobytes()
        return state if stored == written else _as_published(state, parse_json(stored.decode()))

    def _answers(
        self, mechanism: Any, own: Floats, number: int, rng: np.random.Generator
    ) -> Integers:
        """Return question and answer of each report of a round, in random order."""

        def draw() -> list[NDArray[Any]]:
            values = _lines(mechanism.release(own, rng))  # [P2]
            return list(values[rng.permutation(len(values))].T)  # [P3]

        return np.column_stack(self._stored(2 * number + 2, len(own), draw))

    def _stored(
        self, number: int, lines: int | None, draw: Callable[[], list[NDArray[Any]]]
    ) -> Sequence[NDArray[Any]]:
        """Return what was drawn before the run was killed; else draw it, on disk before use."""
        return draw() if self.draft is None else self.draft.block(number, lines, draw)  # [P5]


def hold_records(rows: Rows) -> Floats:
    """Return the record of each row as the mechanisms of the rounds take it, in memory."""
    if not isinstance(rows.domain, Box):
        held = hold_admitted(rows)
        return np.hstack([held.numbers, held.codes])
    names = rows.domain.names
    mapped = rows.map(lambda block: list(block.numbers.T), names)
    parts = [
        np.column_stack([np.asarray(column) for column in batch.columns])
        for batch in mapped.batches()
    ]
    return np.concatenate([np.empty((0, len(names))), *parts])


class LearntGroups(NamedTuple):
    """What a transcript says.

    Parameters
    ----------
    shares
        The share of people in each group: nearest to its centre as the last round asked, or of
        the records made up from reports.
    """

    state: State
    shares: Floats
    share_error: float


def learn_groups(transcript: Transcript) -> LearntGroups:
    """Return the groups of a transcript, learnt from reports and published questions alone.

    Questions are taken as they were published, so that another machine's rounding cannot make
    people seem to have answered another one.

    Raises
    ------
    NotAReport
        If a question or an answer is none that these rounds have.
    """
    state: State = transcript.first
    shares, error = np.ones(state.n_clusters) / state.n_clusters, 1.0
    for number, question in enumerate(transcript.questions):
        state = _as_published(state, question)
        mechanism: Any = state.mechanism
        own = transcript.reports[transcript.reports[:, 0] == number, 1:]
        _check_answers(mechanism, own)
        reports = _reports(mechanism, own)
        if number and len(own):
            shares, error = _shares(mechanism, reports)
        state = state.advance(reports, transcript.seed + number)
    if state.mechanism is not None or transcript.reports[:, 0].max() >= state.round:
        raise NotAReport("These reports are not those of all rounds.", _MISFIT)
    if isinstance(state, LocalPrototypes):  # groups were sought anew, and stand in another order
        shares, drawn = _shares_of_synthetic(state)
        error = math.hypot(error, drawn)
    return LearntGroups(state, shares, error)


def _lines(reports: Reports) -> Integers:
    """Return question and answer of each report; a grid asks only one question."""
    values = np.asarray(reports.values, dtype=np.int64)
    return values if values.ndim == 2 else np.column_stack([np.zeros_like(values), values])


def _reports(mechanism: Any, lines: Integers) -> Reports:
    """Return lines of question and answer as the reports they are."""
    return Reports(lines[:, 1] if isinstance(mechanism, LocalGrid) else lines, mechanism)


def _as_published(state: State, question: Mapping[str, Any]) -> State:
    """Return the state that asked this question."""
    try:
        if isinstance(state, LocalRounds) and state.round:
            state = replace(state, centers=_tuples(question["centers"]))
        elif isinstance(state, LocalPrototypes) and state.round:
            lines, reach = _tuples(question["prototypes"]), tuple(question["reach"])
            state = replace(state, prototype_lines=np.array(lines, dtype=float), reach=reach)
        same = state.mechanism is not None and settings_of(state.mechanism) == question
    except (KeyError, TypeError, ValueError):
        same = False
    if not same:
        raise NotAReport(f"Round {state.round} asked otherwise than this version would.", _MISFIT)
    return state


def _tuples(lines: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, line)) for line in lines)


def _check_answers(mechanism: Any, lines: Integers) -> None:
    """Refuse questions that were not asked, and answers that no oracle gives."""
    for question in np.unique(lines[:, 0]).tolist():
        codes = lines[lines[:, 0] == question, 1]
        most = _codes(mechanism, question)
        if not (codes.min() >= 0 and codes.max() < most):
            raise NotAReport("Some of these are not reports of their round.", _MISFIT)


def _codes(mechanism: Any, question: int) -> int:
    """Return how many answers a question has; none if it was not asked."""
    if isinstance(mechanism, LocalGrid):
        return mechanism.oracle.codes if question == 0 else 0
    if isinstance(mechanism, ResidualSign):
        return mechanism.oracle.codes if 0 <= question < mechanism.domain.d else 0
    if not 0 <= question < len(mechanism.questions):
        return 0
    oracle = mechanism.oracle(question)
    return 1 if oracle is None else int(oracle.codes)


def _shares(mechanism: Any, reports: Reports) -> tuple[Floats, float]:
    """Return the share of people nearest to each centre or prototype, and its standard error."""
    if isinstance(mechanism, ResidualSign):
        estimate = mechanism.shares(reports)
        return estimate.value, float(estimate.standard_error[0])
    answers = GroupAnswers.of(mechanism, reports)
    return answers.shares, answers.share_error


def _shares_of_synthetic(state: LocalPrototypes) -> tuple[Floats, float]:
    """Return the shares of made-up records, which agree with reports, and the error of drawing."""
    assert state.synthetic is not None
    labels = state.synthetic.labels(state._prototypes)
    shares = np.bincount(labels, minlength=len(state._prototypes)) / len(labels)
    return shares, 0.5 / math.sqrt(len(labels))
