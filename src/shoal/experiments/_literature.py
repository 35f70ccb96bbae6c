"""The thesis' tables 2.1 to 2.3: what each method claims, what it keeps, and our form of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.audit import mechanisms
from shoal.audit.twins import twins
from shoal.data import dataset_names
from shoal.experiments._cells import Cell, Row
from shoal.experiments._results import Results
from shoal.experiments._tables import NOT_RUN, lead_of, table_of
from shoal.experiments.document import Document
from shoal.pages import CANNOT_TEST, DOES_NOT_HOLD, HOLDS, Claim, Exhibit, Reproduction


@dataclass(frozen=True)
class Review:
    """A line of the review.

    Parameters
    ----------
    twin
        A broken form with the fault that the description has; None without one.
    case
        A correct form of ours to be audited instead, by its name in ``shoal.audit.mechanisms``.
    """

    table: str
    name: str
    claimed: str
    real: str
    ours: str
    twin: str | None = None
    case: str | None = None
    why: str = ""


FIRST, SECOND = "Table 2.1", "Table 2.2"
NO_CODE = "Neither code nor a full description is at hand; the idea is listed for completeness."
METHODS = (
    Review(FIRST, "Sun et al. 2022, PrivBV", "(epsilon, delta)-LDP",
           "epsilon for each bit; two vectors differ in many", "LocalGrid, one report a record",
           twin="epsilon a bit claimed for a vector"),
    Review(FIRST, "Huang et al. 2021, distributed k-means on intervals", "condensed LDP",
           "each round is a release: rounds add up", "LocalClusterer, one report, all rounds free",
           twin="rounds not counted"),
    Review(FIRST, "Stemmer 2021, locally private k-means", "LDP",
           "(epsilon, delta), for tables far larger than here", "LocalClusterer",
           why="Its constants need millions of people; only its promise can be read."),
    Review(FIRST, "Yuan et al. 2021, LDPK and ELDPK", "LDP",
           "a vector of clusters that keeps its bits costs epsilon for each round",
           "LocalPrototypes, one report over four rounds", twin="a bit that is never cleared"),
    Review(FIRST, "Bozdemir et al. 2021, ppDBSCAN", "DP",
           "secure computation: nobody sees inputs, and the exact result leaves",
           "WaveCluster for groups of any shape",
           why="It promises nothing about its result, so there is no epsilon to test."),
    Review(FIRST, "Cai et al. 2020, DP-AP", "DP",
           "exemplars are rows, published as they are", "PrivateKMeans, or AP on a synopsis",
           twin="exemplars that are rows"),
    Review(FIRST, "Xia et al. 2020, LDPKmeans", "LDP",
           "the slot of a string shows whether its owner changed cluster",
           "LocalClusterer, one report", twin="a string that hops between slots"),
    Review(FIRST, "Xia et al. 2020, first form", "LDP",
           "the true cluster is sent in every round", "clients label themselves and send nothing",
           twin="true cluster label sent each round"),
    Review(FIRST, "Sun et al. 2019, distance-aware bit vectors", "LDP",
           "epsilon for each bit, claimed for the vector", "LocalGrid, one report a record",
           twin="epsilon a bit claimed for a vector"),
    Review(FIRST, "Nissim, Stemmer 2018, LDP-GoodCenter", "(epsilon, delta)-LDP",
           "as claimed, by its proof", "LocalClusterer", why=NO_CODE),
    Review(FIRST, "Kaplan, Stemmer 2018, LSH procedure", "(epsilon, delta)-DP",
           "as claimed, by its proof", "PrivateKMeans", why=NO_CODE),
    Review(FIRST, "Su et al. 2015, EUGkM", "DP",
           "epsilon-DP with noise on every cell, the empty ones too", "UniformGrid, PrivateKMeans",
           case="geometric"),
    Review(FIRST, "Su et al. 2015, DPLloyd", "DP",
           "epsilon-DP: counts and sums of every cluster, the empty ones too",
           "PrivateKMeans(method='lloyd')", case="geometric"),
    Review(FIRST, "DPLloyd in a library that leaves empty clusters without noise", "DP",
           "a centre beyond all starts shows that somebody is there",
           "PrivateKMeans(method='lloyd')", twin="Lloyd that skips empty clusters"),
    Review(FIRST, "Nissim et al. 2007, sample and aggregate", "(epsilon, delta)-LDP",
           "central, not local: a holder of all rows adds the noise", "none",
           why="The review's 'LDP' is a slip: the method has a trusted holder. " + NO_CODE),
    Review(SECOND, "Wang et al. 2019, Piecewise", "LDP", "epsilon-LDP for the whole record",
           "Piecewise", case="piecewise d=2"),
    Review(SECOND, "Wang et al. 2019, Piecewise as the thesis uses it", "LDP",
           "epsilon on every column: d epsilon", "Piecewise",
           twin="Piecewise, epsilon on every column, d = 2"),
    Review(SECOND, "Duchi et al. 2017, minimax", "LDP",
           "epsilon + ln(1 + e^-epsilon) in its printed even form", "Duchi, ties in one half",
           twin="Duchi with ties in both halves, d = 2"),
    Review(SECOND, "Nguyen et al. 2016, Harmony", "epsilon-LDP", "epsilon-LDP", "Harmony",
           case="harmony d=2"),
    Review(SECOND, "Geng et al. 2015, staircase", "DP", "epsilon for a whole domain", "Staircase",
           case="staircase"),
    Review(SECOND, "Geng et al. 2015, staircase per unit of distance", "epsilon per unit",
           "all of epsilon between two stairs", "NDLaplace",
           twin="Staircase sold as MetricDP"),
    Review(SECOND, "Soria-Comas, Domingo-Ferrer 2013", "epsilon-DP",
           "as claimed; optimal noise on the line", "Geometric, Staircase", why=NO_CODE),
)  # fmt: skip
# Data sets of table 2.3, and their names here; None: not at hand.
SETS = {
    "Adult": "adult", "Seeds": "seeds", "Iris": "iris", "CarGPS": None,
    "3D Road Network": "road3d_excerpt", "Pathbased": "pathbased", "Aggregation": "aggregation",
    "Digit": "digits", "Lsun": "lsun", "S1": "s1", "Deer": None, "Gowalla": "gowalla_nyc",
}  # fmt: skip
_PARTS_ONLY = {"3D Road Network": "an excerpt", "Gowalla": "New York only"}


def cells(quick: bool) -> list[Cell]:
    """Return an audit for each line that can be tested."""
    draws = 40_000 if quick else 200_000
    audited = {
        (kind, name): Cell("audits", {"kind": kind, "name": name, "draws": draws})
        for method in METHODS
        for kind, name in (("twin", method.twin), ("case", method.case))
        if name is not None
    }
    return list(audited.values())


def run(cell: Cell) -> list[Row]:
    """Audit a broken form, or a form of ours."""
    kind, name = cell.settings["kind"], cell.settings["name"]
    cases = twins if kind == "twin" else mechanisms
    audit = cases[name].run(draws=cell.settings["draws"])
    claim = float(audit.claim or 0)
    return [{"bound": float(audit.value), "claim": claim, "verdict": audit.verdict}]


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return a verdict for each line of the tables."""
    claims = [_claim(method, results) for method in METHODS]
    return Reproduction(
        title="The literature of the thesis, method by method",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(_exhibits(results)),
        setting=[
            "A twin has the fault that the review's description of a method has, and nothing else "
            "of it: a verdict is about the description, not about code that was not read.",
            "A bound above the claim proves a fault at level 0.01; one below proves nothing.",
            f"{40_000 if quick else 200_000:,} draws a side, seed 0.",
        ],
        again=f"shoal reproduce literature{' --quick' if quick else ''}",
        quick=quick,
    )


def _claim(method: Review, results: Results) -> Claim:
    text = f"{method.name}, as described: {method.claimed}."
    kind, name = ("twin", method.twin) if method.twin else ("case", method.case)
    rows = results.rows("audits", kind=kind, name=name) if name else []
    if not rows:
        return Claim(method.table, text, CANNOT_TEST, method.claimed,
                     reason=method.why or NOT_RUN, exhibit=method.table)  # fmt: skip
    row = rows[0]
    verdict = DOES_NOT_HOLD if row["verdict"] != "consistent" else HOLDS
    ours = f"at least {row['bound']:.2f} where {row['claim']:.3g} is claimed"
    reason = f"As described: {method.real}. Audited: {name}. Our form: {method.ours}."
    return Claim(method.table, text, verdict, method.claimed, ours, reason, method.table)


def _exhibits(results: Results) -> Iterator[Exhibit]:
    columns = ["Method", "Claimed", "As described", "Our form", "Verdict"]
    for number in (FIRST, SECOND):
        lines = [method for method in METHODS if method.table == number]
        rows = [
            [each.name, each.claimed, each.real, each.ours, _claim(each, results).verdict]
            for each in lines
        ]
        yield Exhibit(
            number, "Methods and what they keep", tables=[table_of(number, columns, rows)]
        )
    here = dataset_names()
    rows = [
        [name, "no" if ours is None or ours not in here else _PARTS_ONLY.get(name, "yes"),
         ours or "not at hand"]
        for name, ours in SETS.items()
    ]  # fmt: skip
    table = table_of("Data sets", ["Set", "Here", "Name here"], rows,
                     "Sets that are files are looked for in SHOAL_DATA.")  # fmt: skip
    yield Exhibit("Table 2.3", "Data sets of the literature", tables=[table])


DOCUMENT = Document("literature", edition=1, cells=cells, run=run, conclude=conclude)
