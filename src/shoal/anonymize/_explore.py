"""Try several settings of k, suppression and recoding on one table, and keep what they give.

What is found depends on all rows and is for their holder only. Trials are kept in a file as they
are made, so that an exploration that was stopped goes on where it was.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.anonymize._frequency_table import FrequencyTable, count_cells, frequency_of
from shoal.anonymize._policy import Policy
from shoal.anonymize.equivalence_classes import count_people, number_classes
from shoal.anonymize.release._manifest import policy_hash
from shoal.anonymize.risk._reidentification import Risk
from shoal.anonymize.search._run_search import find_outcome
from shoal.anonymize.search_problem import Problem, SearchOutcome
from shoal.errors import AlreadyExists, InvalidSetting, StartFails, TooFewRows, sentence
from shoal.files import atomic_file, private_file

FORMAT = "shoal.explore/1"
Recoding = Literal["global", "local"]


class TrialSetting(NamedTuple):
    """What is tried."""

    k: int
    suppression: float
    recoding: Recoding


@dataclass(frozen=True)
class ExploredSetting:
    """What one setting gives.

    Parameters
    ----------
    k
        As asked for.
    suppression
        As asked for.
    recoding
        As asked for.
    loss
        The certainty penalty; None if the setting has no release.
    rows_left_out
        Rows that would not be published.
    groups
        The number of classes.
    smallest
        The people in the smallest class.
    highest_risk
        The prosecutor's chance of the right record in the smallest class.
    mean_risk
        The prosecutor's chance on average over all members.
    refusal
        Why there is no release.
    """

    k: int
    suppression: float
    recoding: Recoding
    loss: float | None = None
    rows_left_out: int = 0
    groups: int = 0
    smallest: int = 0
    highest_risk: float = 0.0
    mean_risk: float = 0.0
    refusal: str = ""

    @property
    def setting(self) -> TrialSetting:
        """What was tried."""
        return TrialSetting(self.k, self.suppression, self.recoding)


def settings_to_explore(
    ks: Sequence[int], suppressions: Sequence[float], recodings: Sequence[Recoding]
) -> list[TrialSetting]:
    """Return all combinations, each once, the fastest recoding first.

    Parameters
    ----------
    ks
        Values of k.
    suppressions
        Shares of rows that may be left out.
    recodings
        Kinds of recoding.

    Raises
    ------
    InvalidSetting
        If a value makes no sense.

    Examples
    --------
    >>> len(settings_to_explore([5, 10], [0, 0.02], ["global"]))
    4
    >>> settings_to_explore([5], [0], ["local"])
    [TrialSetting(k=5, suppression=0.0, recoding='local')]
    """
    if not ks or min(ks) < 2:
        raise InvalidSetting.of("k", "must be whole numbers of 2 or more", "5,10,50", _joined(ks))
    if not suppressions or not all(0 <= share < 1 for share in suppressions):
        shares = "must be shares from 0 to below 1"
        raise InvalidSetting.of("suppression", shares, "0,0.02", _joined(suppressions))
    if not recodings or not set(recodings) <= {"global", "local"}:
        kinds = "must be global, local or both"
        raise InvalidSetting.of("recoding", kinds, "global,local", _joined(recodings))
    every = [
        TrialSetting(k, float(share), recoding)
        for recoding in recodings
        for k in ks
        for share in suppressions
    ]
    return list(dict.fromkeys(every))


def _joined(values: Sequence[Any]) -> str:
    return ",".join(map(str, values))


def policy_with(policy: Policy, setting: TrialSetting) -> Policy:
    """Return a policy with another k, suppression and recoding."""
    privacy = {"k": setting.k, "suppression": setting.suppression}
    return policy.model_copy(
        update={
            "privacy": policy.privacy.model_copy(update=privacy),
            "search": policy.search.model_copy(update={"recoding": setting.recoding}),
        }
    )


class TrialFile:
    """The trials of one table and policy, in a file that only its owner can read.

    Parameters
    ----------
    path
        The JSON file.
    policy
        The policy that is explored.
    source
        The table's file or path, which tells whether the table is still the same.
    overwrite
        Whether trials of another table or policy may be replaced.

    Attributes
    ----------
    is_resumed
        Whether the file had trials of this table and policy.

    Raises
    ------
    AlreadyExists
        If the file is of another table or policy.
    """

    def __init__(self, path: Path, policy: Policy, source: str, overwrite: bool = False) -> None:
        self.path, self._work = path, _fingerprint(policy, source)
        self._trials: dict[TrialSetting, ExploredSetting] = {}
        self.is_resumed = path.exists() and self._read(overwrite)

    def _read(self, overwrite: bool) -> bool:
        """Read the trials that were kept, and return whether they are of this work."""
        content = _content_of(self.path)
        if content is not None and content.get("work") == self._work:
            trials = [ExploredSetting(**values) for values in content["trials"]]
            self._trials = {trial.setting: trial for trial in trials}
            return True
        if not overwrite:
            raise AlreadyExists(
                f"{self.path} holds trials of another table or policy, or something else.",
                sentence("Choose another name, or add {overwrite:True}."),
            )
        return False

    def get(self, setting: TrialSetting) -> ExploredSetting | None:
        """Return the trial of a setting, if it was made."""
        return self._trials.get(setting)

    def add(self, trial: ExploredSetting) -> None:
        """Keep a trial."""
        self._trials[trial.setting] = trial
        content = {
            "format": FORMAT,
            "work": self._work,
            "trials": [asdict(trial) for trial in self._trials.values()],
        }
        with atomic_file(self.path, overwrite=True) as part:
            private_file(part).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _content_of(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(content, dict) and content.get("format") == FORMAT
    return content if is_ours else None


def _fingerprint(policy: Policy, source: str) -> str:
    """Return a hash of the policy, and of the file's path, size and time of change."""
    file, changed = Path(source), ""
    if file.is_file():
        about = file.stat()
        changed = f"{about.st_size} {about.st_mtime_ns}"
    # What is tried replaces these, so a policy that differs in them alone is the same work.
    same = policy_with(policy, TrialSetting(2, 0.0, "global"))
    return hashlib.sha256(f"{policy_hash(same)} {source} {changed}".encode()).hexdigest()


def explore(
    policy: Policy,
    X: Any,
    settings: Sequence[TrialSetting],
    trials: TrialFile,
    progress: Callable[[int, int], None] | None = None,
) -> list[ExploredSetting]:
    """Try settings on a table, which is read once; trials that were kept are not made again.

    Parameters
    ----------
    policy
        Which column is what, the l and t rules, and how to search.
    X
        The table.
    settings
        What to try.
    trials
        Where trials are kept.
    progress
        Called with the trials done and those to do.

    Returns
    -------
    A trial for each setting, in their order.
    """
    missing = [setting for setting in settings if trials.get(setting) is None]
    for done, trial in enumerate(_tried(policy, X, missing), start=1):
        trials.add(trial)
        if progress is not None:
            progress(done, len(missing))
    every = (trials.get(setting) for setting in settings)
    return [trial for trial in every if trial is not None]


def _tried(policy: Policy, X: Any, settings: Sequence[TrialSetting]) -> Iterator[ExploredSetting]:
    if not settings:
        return
    counted, by_person = count_cells(policy, X)
    for setting in settings:
        try:
            rules = policy_with(policy, setting)
            frequency = frequency_of(rules, counted, by_person)
            yield _trial(setting, frequency, find_outcome(rules, frequency))
        except (StartFails, TooFewRows) as refused:
            yield ExploredSetting(*setting, refusal=refused.message)


def _trial(
    setting: TrialSetting, frequency: FrequencyTable, outcome: SearchOutcome
) -> ExploredSetting:
    metrics = outcome.metrics
    risk = Risk.of(_class_sizes(frequency.problem, outcome), setting.k)
    return ExploredSetting(
        *setting,
        loss=round(metrics.ncp, 6),
        rows_left_out=metrics.suppressed,
        groups=metrics.classes,
        smallest=risk.smallest,
        highest_risk=risk.prosecutor,
        mean_risk=risk.prosecutor_mean,
    )


def _class_sizes(problem: Problem, outcome: SearchOutcome) -> Any:
    people = count_people(problem, number_classes(outcome.labels, outcome.suppressed))
    return np.stack(np.unique(people, return_counts=True), axis=1)
