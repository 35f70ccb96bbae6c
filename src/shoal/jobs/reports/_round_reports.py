"""Reports in rounds: drawn of all rows of a table, written, and read again by the learner."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import InvalidSetting, NotAReport, TooLarge, sentence, setting
from shoal.jobs._cluster_methods import parse_groups
from shoal.jobs._progress import Progress
from shoal.jobs._table_inputs import chosen_columns, schema_of
from shoal.jobs.reports._load_reports import parse_sidecar, read_sidecar
from shoal.jobs.reports._mechanism import MechanismOptions, Name, columns_of
from shoal.jobs.reports._perturb_run import ReportsTask
from shoal.jobs.reports._report_file import sidecar_of
from shoal.privacy import exact_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.cluster.local.transcript import State, Transcript
    from shoal.domain import Box, Schema
    from shoal.engine import Rows
    from shoal.engine.table import OutputPlace
    from shoal.privacy import Guarantee, Page
    from shoal.randomness import Randomness


MOST_NUMBERS = 40_000_000  # held in memory: 320 MB
_CLASSES = ("LocalPrototypes", "LocalRounds")
_AGAIN = "Use the two files as `shoal perturb` wrote them, with the version of shoal that did."


def choose_mechanism(settings: MechanismOptions) -> Name:
    """Return the mechanism asked for; for ``auto`` the better of one report of a cell and rounds.

    The rule was measured: docs/decisions/local-auto.md.
    """
    from shoal.cluster.local import ROUNDS_FROM

    if settings.name is not Name.auto:
        return settings.name
    schema = schema_of(settings.domain)
    chosen = schema.select(chosen_columns(settings.columns, schema.columns, settings.domain))
    is_numeric = not (chosen.categories or chosen.missing)
    is_narrow = len(chosen.columns) < ROUNDS_FROM
    return Name.local_grid if is_numeric and is_narrow else Name.rounds


def rounds_task(
    settings: MechanismOptions,
    groups: str | None,
    person: str | None,
    ledger: Path | None,
    seed: int | None,
) -> "RoundsTask":
    """Check what is asked for, before a row is read or a file made.

    Parameters
    ----------
    person
        The column that says whose a row is; None takes the domain's.
    """
    given = (("scale", settings.scale is not None), ("lattice", settings.lattice != "auto"))
    for name, is_given in (*given, ("cells", settings.cells != "auto")):
        if is_given:
            raise InvalidSetting(
                f"{Name.rounds} does not take " + setting(name) + ".", "Leave it out."
            )
    schema = schema_of(settings.domain)
    domain = _domain(schema, chosen_columns(settings.columns, schema.columns, settings.domain))
    run = (person or schema.person, settings.clip, ledger, seed)
    return RoundsTask(domain, *run, n_clusters=_n_clusters(groups), epsilon=settings.epsilon)


class RoundsTask(ReportsTask):
    """One run of ``shoal perturb --mechanism rounds``."""

    def __init__(
        self,
        domain: "Box | Schema",
        person: str | None,
        clip: bool,
        ledger: Path | None,
        seed: int | None,
        *,
        n_clusters: int,
        epsilon: str,
    ) -> None:
        super().__init__(domain, person, clip, ledger, seed)
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.first(1)  # bad settings are refused here

    @property
    def promise(self) -> "Guarantee":
        """The promise of one report."""
        return self.first(1).guarantee

    def first(self, people: int) -> "State":
        """Return the state before the first round."""
        return _state(self.domain, self.n_clusters, self.epsilon, people)

    def settings(self) -> dict[str, Any]:
        """Return the kind of rounds, their groups and the budget."""
        return {"mechanism": self._mechanism(self.first(1))}

    def write(
        self, rows: "Rows", page: "Page", place: "OutputPlace", output: str, progress: Progress
    ) -> dict[str, Any]:
        """Bring all records into memory, run the rounds, and write what they made public."""
        import pyarrow as pa

        from shoal.cluster.local.transcript import COLUMNS, AllRounds, hold_records
        from shoal.data import write_table

        _check_number(rows.size(), len(columns_of(self.domain)))
        records = hold_records(rows)
        rng = self._randomness()
        if self.draft is not None:
            self.begin([self.draft.digest(records)])
        progress.step("Drawing reports")
        mechanism = AllRounds(self.first(max(len(records), 1)), rng.seed(), self.draft)
        transcript = page.release(mechanism, records, rng.noise, of="reports")
        table = pa.table(dict(zip(COLUMNS, transcript.reports.T, strict=True)))
        write_table(table, place.made)
        return self._sidecar(transcript, Path(output).name, place.digest())

    def _randomness(self) -> "Randomness":
        """Return the streams of this run; the learner's comes again in a run that goes on."""
        from shoal.randomness import Randomness

        if self.seed is not None or self.draft is None:
            return Randomness(self.seed)
        # The run's name is random and protects nothing, as is true of what the learner draws.
        return Randomness(compute_seed=int(self.draft.run, 16))

    def _sidecar(self, transcript: "Transcript", name: str, digest: str) -> dict[str, Any]:
        from shoal.pages.reports import sidecar

        file, n = {"name": name, "sha256": digest}, len(transcript.reports)
        made = (None, self.domain, self.guarantee, self.person, False, n, file)
        settings = self._mechanism(transcript.first) | {"n_expected": n}
        rounds = {"seed": transcript.seed, "rounds": list(transcript.questions)}
        return sidecar(transcript.first, *made) | {"mechanism": settings} | rounds

    def _mechanism(self, first: "State") -> dict[str, Any]:
        return {
            "class": type(first).__name__,
            "n_clusters": self.n_clusters,
            "epsilon": exact_text(first.guarantee.epsilon),
        }


class LoadedRounds(NamedTuple):
    """Reports of all rounds, and what their sidecar says of them.

    Parameters
    ----------
    guarantee
        Their promise, marked if their noise came from a seed.
    """

    transcript: "Transcript"
    guarantee: "Guarantee"
    protects: str


def is_in_rounds(table: str) -> bool:
    """Return whether a file beside reports says that they were made in rounds.

    Parameters
    ----------
    table
        The path of the reports.
    """
    try:
        about = Path(sidecar_of(table.rstrip("/"))).read_text(encoding="utf-8")
        return _class_of(parse_sidecar(about, table)) in _CLASSES
    except (OSError, ValueError):  # whoever reads the reports says what is wrong
        return False


def load_rounds(table: str, progress: Callable[[int], None]) -> LoadedRounds:
    """Read reports of rounds with their sidecar.

    Parameters
    ----------
    table
        The path of the reports.
    progress
        Called with how many were read.
    """
    from shoal.cluster.local.transcript import Transcript

    about = read_sidecar(table)
    try:
        settings, seed = about["mechanism"], _whole(about["seed"])
        first = _state(
            _read_domain(settings["class"], about["domain"]),
            settings["n_clusters"],
            settings["epsilon"],
            _whole(settings["n_expected"]),
        )
        questions = [dict(question) for question in about["rounds"]]
        guarantee = first.guarantee.simulated(about["simulation"] is not False)
    except (KeyError, TypeError, ValueError, AttributeError):  # an error of ours is a ValueError
        raise NotAReport(
            f"{Path(table).name}.json does not say how these rounds were made.", _AGAIN
        ) from None
    transcript = Transcript(first, _read_reports(table, progress), questions, seed)
    return LoadedRounds(transcript, guarantee, str(about.get("protects", "a row")))


def _class_of(about: Mapping[str, Any]) -> Any:
    mechanism = about.get("mechanism")
    return mechanism.get("class") if isinstance(mechanism, Mapping) else None


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError("no whole number")
    return value


def _read_domain(name: str, domain: Mapping[str, Any]) -> "Box | Schema":
    from shoal.domain import Schema
    from shoal.synopsis import read_box

    return read_box(domain) if name == "LocalRounds" else Schema.of(domain)


def _read_reports(table: str, progress: Callable[[int], None]) -> "NDArray[np.int64]":
    """Return a line for each report: round, question, answer."""
    import numpy as np

    from shoal.cluster.local.transcript import COLUMNS
    from shoal.data import source_of
    from shoal.data.encode import encode_numbers

    parts, total = [np.empty((0, len(COLUMNS)))], 0
    for batch in source_of(table).batches(COLUMNS):
        parts.append(encode_numbers(batch, COLUMNS))
        total += batch.num_rows
        progress(total)
        _check_number(total, len(COLUMNS))
    values = np.concatenate(parts)
    if not (np.isfinite(values).all() and np.all(values == np.rint(values))):
        raise NotAReport("Some reports are not whole numbers.", _AGAIN)
    return values.astype(np.int64)


def _check_number(people: int, columns: int) -> None:
    """Refuse more than memory holds; how many there are is public."""
    if people * columns > MOST_NUMBERS:
        raise TooLarge(
            f"Rounds hold every record in memory, at most {MOST_NUMBERS:,} numbers; got "
            f"{people:,} rows of {columns} columns.",
            sentence("Take fewer {columns}, or draw a sample of the people first."),
            reason="rows in memory",
        )


def _n_clusters(groups: str | None) -> int:
    wanted = parse_groups(groups)
    if wanted is None or len(wanted) != 1:
        raise InvalidSetting(
            sentence("{mechanism:rounds} asks about a number of groups that is fixed beforehand."),
            sentence(
                "Give one number, e.g. {n_clusters:5}; to choose among several, collect with "
                "{mechanism:local-grid}."
            ),
            setting="n_clusters",
        )
    return wanted[0]


def _domain(schema: "Schema", columns: tuple[str, ...]) -> "Box | Schema":
    """Return a box if all columns are plain numbers, else a schema without people."""
    chosen = replace(schema.select(columns), person=None, max_rows_per_person=None)
    weighted = any(weight != 1 for weight in chosen.weights.values())
    return chosen if chosen.categories or chosen.missing or weighted else chosen.box


def _state(domain: "Box | Schema", n_clusters: int, epsilon: str, people: int) -> "State":
    """Return the state before the first round: of numbers, or of mixed records."""
    from shoal.cluster import LocalPrototypes, LocalRounds
    from shoal.domain import Box

    given: dict[str, Any] = {"n_clusters": n_clusters, "epsilon": epsilon, "n_expected": people}
    if isinstance(domain, Box):
        return LocalRounds(domain, **given)
    return LocalPrototypes(domain, **given)
