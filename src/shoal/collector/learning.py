"""Learn groups from the sums of a campaign, and publish them, signed.

Sums suffice: how often each report was sent is all that learners use, so no row about a person is
ever needed. Everything here is computed from reports, and costs nobody anything more.
"""

import hashlib
import json
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.collector import client
from shoal.collector._campaign import (
    Campaign,
    box_of,
    check_people_are_counted,
    mechanism_of,
    question_of,
    sign_document,
)
from shoal.collector._centers_from_counts import (
    CappedCounts,
    cap_counts,
    centers_of_counts,
    scatter_of_centers,
)
from shoal.collector._storage import Store
from shoal.documents import with_digest
from shoal.errors import InvalidSetting, TooFewRows
from shoal.mechanisms import Reports
from shoal.randomness import Randomness

REPORTS = "reports.parquet"  # what `shoal learn` reads again


def reports_of(campaign: Campaign, store: Store, number: int = 0) -> Reports:
    """Return the reports of a round, in the order of their codes: nobody's place is kept."""
    question = _question_in(campaign, store, number)
    if question["mechanism"] == "nd_laplace":
        return _lattice_reports(campaign, store, number)
    values = _codes(store.sums(number))
    if question["mechanism"] == "residual_sign":
        values = np.column_stack(np.divmod(values, client.codes_of(question)))
    return Reports(values, mechanism_of(question, campaign.names))


def _lattice_reports(campaign: Campaign, store: Store, number: int) -> Reports:
    """Return reports on a lattice in the units of the columns, in the order of their bytes."""
    mechanism: Any = mechanism_of(_question_in(campaign, store, number), campaign.names)
    d = campaign.lattice_columns
    places = np.frombuffer(store.lattice_reports(number), dtype=">i8").reshape(-1, d)
    cells = mechanism.space.units(d) * mechanism.step
    return Reports(places * cells + mechanism.space.origin(d), mechanism)


def _question_in(campaign: Campaign, store: Store, number: int) -> dict[str, Any]:
    """Return what a round asked."""
    question: Any = campaign.document["rounds"][number]["question"]
    if question == "later":
        envelope = store.documents().get(("round", number))
        if envelope is None:
            raise InvalidSetting(
                f"Round {number} has no question yet.", "Run `shoal collect advance` before."
            )
        question = client.open_envelope(envelope, "round", campaign.key)[0]["question"]
    return question  # type: ignore[no-any-return]


def _codes(sums: dict[int, int]) -> Integers:
    codes = np.array(list(sums), dtype=np.int64)
    return np.repeat(codes, np.array(list(sums.values()), dtype=np.int64))


def shares_of(campaign: Campaign, store: Store) -> list[tuple[str, float, float]]:
    """Return each category of a campaign, its estimated share and the standard error."""
    reports = _enough(reports_of(campaign, store))
    mechanism: Any = reports.mechanism
    estimate = mechanism.frequencies(reports)
    pairs = zip(estimate.value.tolist(), estimate.standard_error.tolist(), strict=True)
    names = campaign.document["categories"]
    return [(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def _enough(reports: Reports) -> Reports:
    if not len(reports):
        raise TooFewRows("No report has arrived yet.", "Collect some first.")
    return reports


def export_reports(campaign: Campaign, store: Store, folder: Path) -> Path:
    """Write the reports of a campaign as `shoal learn` reads them; return the file.

    Parameters
    ----------
    folder
        Gets ``reports.parquet`` and the file beside it that says what made them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from shoal.pages import sidecar

    reports = _enough(reports_of(campaign, store))
    path = folder / REPORTS
    columns = {"cell": reports.values}
    if campaign.lattice_columns:
        columns = dict(zip(campaign.names, reports.values.T, strict=True))
    pq.write_table(pa.table(columns), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    mechanism: Any = reports.mechanism
    about = sidecar(
        mechanism,
        None,
        mechanism.domain,
        mechanism.guarantee,
        None,
        False,
        len(reports),
        {"name": path.name, "sha256": digest},
    )
    about["protects"] = "a person, who reported once"
    text = json.dumps(with_digest(about), indent=1) + "\n"
    path.with_name(f"{path.name}.json").write_text(text)
    return path


# ---- what may be released, and whether somebody lies


def sums_promise(document: dict[str, Any]) -> Any:
    """Return what the sums of a shuffled campaign promise if the server is honest, else None."""
    from shoal.collector._amplification import shuffled

    if document["setting"] != "shuffled":
        return None
    names = [column["name"] for column in document.get("columns", ())]
    mechanism = mechanism_of(document["rounds"][0]["question"], names)
    return shuffled(mechanism, document["n_least"], float(document["delta"]))


def prepare_release(campaign: Campaign, store: Store) -> None:
    """Close a shuffled campaign before its sums are used: they may be released once.

    Raises
    ------
    InvalidSetting
        If anybody could report to it, so that nobody knows how many people there are.
    TooFewRows
        If fewer people came than the campaign needs to hide anybody.
    """
    if campaign.document["setting"] != "shuffled":
        return
    check_people_are_counted(campaign.document)
    people, least = store.count(), campaign.document["n_least"]
    if people < least:
        raise TooFewRows(
            f"{people} people have reported; a shuffled campaign releases nothing below {least}.",
            "Wait for more: with fewer, its promise would not hold.",
        )
    store.close_round(0)


def alarms(campaign: Campaign, store: Store) -> dict[str, float]:
    """Return how surprising the reports are where no record can make a difference.

    Hash functions and columns are drawn without looking at the record, so they are uniform whatever
    people's records are. A liar who draws them at random passes.

    Returns
    -------
        For each check of each round the chance that honest people look as uneven.
    """
    from scipy.stats import chisquare

    chances = {}
    for number in range(len(campaign.shares)):
        sums = {} if campaign.lattice_columns else store.sums(number)
        if not sums:
            continue
        question = _question_in(campaign, store, number)
        code, n = np.array(list(sums)), np.array(list(sums.values()))
        column, code = np.divmod(code, client.codes_of(question))
        if question["mechanism"] == "residual_sign":
            counts = np.bincount(column, n, minlength=len(question["columns"]))
            chances[f"columns of round {number}"] = float(chisquare(counts).pvalue)
        oracle = question["oracle"]
        if oracle["name"] == "local_hash":
            g, t = oracle["buckets"], oracle["digits"]
            counts = np.bincount(code // g, n, minlength=g**t)
            if counts.mean() >= 5:  # below, chi-square says little
                chances[f"hash functions of round {number}"] = float(chisquare(counts).pvalue)
    return chances


def capped_centers(
    campaign: Campaign, store: Store, rng: Randomness
) -> tuple[Floats, CappedCounts]:
    """Return centres from counts without what stands out, and the counts that were cut."""
    reports = _enough(reports_of(campaign, store))
    grid: Any = reports.mechanism
    n, shape = len(reports), grid.grid.shape
    capped = cap_counts(grid.counts(reports).value, shape, grid.deviation(n))
    k = campaign.document["n_clusters"]
    centers = centers_of_counts(capped.counts, grid.domain, shape, grid.deviation(n), n, k, rng)
    return centers, capped


# ---- rounds


def _rounds_of(campaign: Campaign, store: Store, number: int) -> Any:
    """Return the state of a collection in three rounds, before the reports of a round."""
    from shoal.cluster import LocalRounds

    document, question = campaign.document, _question_in(campaign, store, number)
    centers = question.get("centers")
    state = LocalRounds(
        box_of(document),
        n_clusters=document["n_clusters"],
        epsilon=float(document["epsilon"]),
        n_expected=document["n_expected"],
        cells=document["rounds"][0]["question"]["cells"],
        round=number,
        centers=centers and tuple(tuple(map(float, center)) for center in centers),
    )
    mechanism: Any = state.mechanism
    if question_of(mechanism, document["epsilon"]) != question:
        raise InvalidSetting(
            f"Round {number} asked otherwise than this version of shoal would.",
            "Go on with the version that signed it.",
        )
    return state


class Advanced(NamedTuple):
    """What became of a round: the centres so far, and the counts of cells that were cut."""

    centers: Floats
    capped: CappedCounts | None = None


def advance(
    campaign: Campaign,
    store: Store,
    number: int,
    private: Any,
    seed: int | None = None,
    *,
    robust: bool = False,
) -> Advanced:
    """Close a round, learn from it, and publish the next question.

    Parameters
    ----------
    robust
        Whether cells of the first round that stand out from their neighbours are cut. Later rounds
        have none.
    """
    state = _rounds_of(campaign, store, number)
    # A round that closed without a report could never be learnt from.
    _enough(reports_of(campaign, store, number))
    digest = store.close_round(number)
    own = reports_of(campaign, store, number)
    reports = Reports(_enough(own).values, state.mechanism)
    cut: list[CappedCounts] = []

    def cap(counts: Floats, shape: tuple[int, ...], deviation: float) -> Floats:
        cut.append(cap_counts(counts, shape, deviation))
        return cut[0].counts

    following = state.advance(reports, random_state=seed, adjust=cap if robust else None)
    if following.mechanism is not None:
        document = {
            "format": 1,
            "type": "round",
            "campaign": campaign.id.hex(),
            "round": number + 1,
            "question": question_of(following.mechanism, campaign.document["epsilon"]),
            "before": digest,
        }
        client.check_question(document["question"], client.exact(campaign.document["epsilon"]))
        store.publish("round", number + 1, sign_document("round", document, private))
    return Advanced(np.asarray(following.cluster_centers), *cut)


# ---- the model


def shows_groups(campaign: Campaign, store: Store, seed: int | None = None) -> bool:
    """Return whether the reports of the first round show groups that noise alone would not.

    Later rounds only move the centres that the first one found: docs/decisions/certain-groups.md.
    """
    from shoal.cluster import LocalClusterer

    reports = _enough(reports_of(campaign, store))
    model = LocalClusterer(campaign.document["n_clusters"], mechanism=reports.mechanism)
    return model.evidence(reports, random_state=seed).is_certain


def center_errors(
    campaign: Campaign, store: Store, centers: Floats, rng: Randomness, runs: int = 10
) -> Floats:
    """Return how far each coordinate of the centres scatters over sums drawn anew from the sums.

    What noise and sampling do to centres, by a bootstrap; not what groups of another shape than
    the learner's would do.

    Parameters
    ----------
    campaign
        One on columns of numbers, in one round.
    store
        Where its reports are.
    centers
        As they were learnt.
    rng
        The draws and the seeds of the starts.
    runs
        How often sums are drawn.
    """
    reports = reports_of(campaign, store)
    grid: Any = reports.mechanism
    n, shape, deviation = len(reports), grid.grid.shape, grid.deviation(len(reports))
    tally = grid.oracle.tally(reports.values)

    def learn_again() -> Floats:
        counts = grid.counts_from_tally(rng.compute.multinomial(n, tally / n)).value
        return centers_of_counts(counts, grid.domain, shape, deviation, n, len(centers), rng)

    return scatter_of_centers(centers, grid.domain, learn_again, runs)


def errors_of_intervals(model: Any) -> Floats | None:
    """Return standard errors of centres from the intervals of a ``LocalClusterer``.

    None if a group moves so much when it is learnt again that it has no interval.
    """
    intervals, centers = model.intervals_, model.cluster_centers_
    # An interval ends at the box; the longer half was not cut.
    half = np.maximum(intervals.centers_high - centers, centers - intervals.centers_low)
    errors = half / NormalDist().inv_cdf((1 + intervals.rate) / 2)
    return None if np.isnan(errors).any() else np.asarray(errors)


def _promise_text(document: dict[str, Any]) -> str:
    """Return what a campaign promises about its groups, in one sentence without its full stop."""
    epsilon = document["epsilon"]
    if document["setting"] == "two_aggregators":
        return (
            f"The counts are {epsilon}-DP when one person's record is replaced, if either of the "
            "two aggregators is honest; groups cost no more"
        )
    question = document["rounds"][0]["question"]
    if question["mechanism"] == "nd_laplace":
        radius = f"{question['radius']} {question['unit']}".rstrip()
        return (
            f"A report tells values within {radius} apart by odds of at most e^{epsilon}, values "
            "further apart by more; groups cost no more"
        )
    return f"Every report is {epsilon}-LDP; groups cost no more"


def model_document(
    campaign: Campaign,
    centers: Floats,
    units: Floats,
    n_reports: int,
    control: str,
    errors: Floats | None = None,
) -> dict[str, Any]:
    """Return the model that clients label themselves with, not yet signed.

    Parameters
    ----------
    centers
        A line for each group, in the units of the columns.
    units
        How much of each column counts as one unit of distance.
    control
        What the same learner finds without data, in words.
    errors
        Of each coordinate, for the page; None leaves them out.
    """
    spread = {} if errors is None else {"errors": [[f"{e:.3g}" for e in line] for line in errors]}
    return spread | {
        "format": 1,
        "type": "model",
        "campaign": campaign.id.hex(),
        "centers": [[repr(float(c)) for c in center] for center in centers],
        "units": [repr(float(unit)) for unit in units],
        "n_reports": n_reports,
        "guarantee": _promise_text(campaign.document),
        "control": control,
    }
