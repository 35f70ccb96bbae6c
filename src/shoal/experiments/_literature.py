"""The thesis' tables 2.1 to 2.3: what each method claims, what it keeps, and our form of it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from shoal.audit import mechanisms
from shoal.audit.twins import twins
from shoal.data import dataset_names
from shoal.experiments._cells import Cell, Row
from shoal.experiments._results import Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import Judge, Statement, audited, exact, lead_of
from shoal.experiments.document import Document
from shoal.pages import Claim, Exhibit, Reproduction


@dataclass(frozen=True)
class Review:
    """A line of the review.

    Parameters
    ----------
    title
        Its title in the table, which is what is quoted.
    preserving
        What the table's column "Preserving" says.
    real
        What the method keeps as it is described; of one with a twin, the fault to avoid.
    twin
        A broken form with a fault that such a method is prone to; None without one. It shows what
        the fault costs, not that the method has it.
    case
        A correct form of ours that is audited beside the proof, by its name in
        ``shoal.audit.mechanisms``.
    proof
        The file with the proof of our form.
    fault
        Why it cannot keep what the table says, where that needs no measurement.
    why
        Why it cannot be told here.
    """

    table: str
    name: str
    title: str
    preserving: str
    real: str
    ours: str
    twin: str | None = None
    case: str | None = None
    proof: str = ""
    fault: str = ""
    why: str = ""

    @property
    def statement(self) -> Statement:
        """The line as a statement of the thesis."""
        return Statement(
            source="thesis",
            where=self.table,
            quote=self.title,
            tested=f"{self.name} preserves: {self.preserving}.",
            number=self.preserving,
            parts=("audits",) if self.twin else (),
            proof=self.proof,
            untestable=self.why,
            exhibit=self.table,
        )


FIRST, SECOND = "Table 2.1", "Table 2.2"
NO_CODE = "Neither code nor a full description is at hand; the idea is listed for completeness."
UNSAID = (
    "The thesis does not say enough of it to tell whether it has the fault; a form that has it is "
    "audited."
)
METHODS = (
    Review(FIRST, "Sun et al. 2022, PrivBV", "PrivBV: Distance-aware encoding for distributed...",
           "(epsilon, delta)-LDP", "epsilon for each bit; two vectors differ in many",
           "LocalGrid, one report a record", twin="epsilon a bit claimed for a vector", why=UNSAID),
    Review(FIRST, "Huang et al. 2021", "Private distributed K-means clustering on inter...", "LDP",
           "each round is a release: rounds add up", "LocalClusterer, one report, all rounds free",
           twin="rounds not counted", why=UNSAID),
    Review(FIRST, "Stemmer 2021", "Locally Private k-Means Clustering", "LDP",
           "(epsilon, delta), for tables far larger than here", "LocalClusterer",
           why="Its constants need millions of people; only its promise can be read."),
    Review(FIRST, "Yuan et al. 2021, LDPK and ELDPK",
           "Privacy-preserving mechanism for mixed data clu...", "LDP",
           "a vector of clusters that keeps its bits costs epsilon for each round",
           "LocalPrototypes, one report over four rounds", twin="a bit that is never cleared",
           why=UNSAID),
    Review(FIRST, "Bozdemir et al. 2021, ppDBSCAN", "Privacy-preserving Density-based Clustering",
           "DP", "secure computation: nobody sees inputs, and the exact result leaves",
           "WaveCluster for groups of any shape",
           fault="an exact result of the rows is private for no epsilon"),
    Review(FIRST, "Cai et al. 2020, DP-AP", "DP-AP: Differential Privacy-Preserving Affinity...",
           "DP", "exemplars are rows, published as they are",
           "PrivateKMeans, or affinity propagation on a synopsis", twin="exemplars that are rows",
           why=UNSAID),
    Review(FIRST, "Xia et al. 2020, LDPKmeans",
           "Distributed K-Means clustering guaranteeing loc...", "LDP",
           "the slot of a string shows whether its owner changed cluster",
           "LocalClusterer, one report", twin="a string that hops between slots", why=UNSAID),
    Review(FIRST, "Sun et al. 2019, distance-aware bit vectors",
           "Distributed Clustering in the Anonymized Space...", "LDP",
           "epsilon for each bit, claimed for the vector", "LocalGrid, one report a record",
           twin="epsilon a bit claimed for a vector", why=UNSAID),
    Review(FIRST, "Nissim, Stemmer 2018, LDP-GoodCenter",
           "Clustering algorithms for the centralized and l...", "(epsilon, delta)-LDP",
           "as claimed, by its proof", "LocalClusterer", why=NO_CODE),
    Review(FIRST, "Kaplan, Stemmer 2018, LSH procedure (the table cites Nissim and Stemmer)",
           "Differentially private K-means with constant mu...", "-, nothing is stated",
           "(epsilon, delta)-DP by its proof, which the table does not say", "PrivateKMeans",
           why="The table states no guarantee for it."),
    Review(FIRST, "Su et al. 2015, EUGkM and hybrid EUGkM + DPLloyd",
           "Differentially Private k-Means Clustering", "DP",
           "epsilon-DP with noise on every cell and every cluster, the empty ones too",
           "UniformGrid, PrivateKMeans(method='hybrid')",
           proof="cluster/kmeans/published_methods.proof.md"),
    Review(FIRST, "Nissim et al. 2007, smooth sensitivity",
           "Smooth sensitivity and sampling in private data...", "(epsilon, delta)-LDP",
           "central, not local: a holder of all rows adds the noise", "none",
           fault="a slip of the table: a trusted holder of all rows is not the local model"),
    Review(SECOND, "Wang et al. 2019, Piecewise",
           "Collecting and Analyzing Multidimensional Data ...", "LDP",
           "epsilon-LDP for the whole record", "Piecewise", case="piecewise d=2",
           proof="mechanisms/local/bounded/piecewise.proof.md"),
    Review(SECOND, "Duchi et al. 2017, minimax, one column",
           "Minimax optimal procedures for locally private ...", "LDP",
           "epsilon-LDP in one column, as the table has it; its printed form for an even number of "
           "columns loses more", "Duchi, ties in one half",
           proof="mechanisms/local/bounded/duchi.proof.md"),
    Review(SECOND, "Nguyen et al. 2016, Harmony",
           "Collecting and analyzing data from smart device...", "epsilon-LDP", "epsilon-LDP",
           "Harmony", case="harmony d=2", proof="mechanisms/local/bounded/harmony.proof.md"),
    Review(SECOND, "Geng et al. 2015, staircase",
           "The staircase mechanism in differential privacy", "DP", "epsilon for a whole domain",
           "Staircase", case="staircase", proof="mechanisms/local/bounded/staircase.proof.md"),
    Review(SECOND, "Geng, Viswanath 2013 (the text has Soria-Comas and Domingo-Ferrer)",
           "Optimal data-independent noise for differential...", "epsilon-DP",
           "as claimed; optimal noise on the line", "Geometric, Staircase", why=NO_CODE),
)  # fmt: skip
STATEMENTS = tuple(method.statement for method in METHODS)
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
    audited_forms = {
        (kind, name): Cell("audits", {"kind": kind, "name": name, "draws": draws})
        for method in METHODS
        for kind, name in (("twin", method.twin), ("case", method.case))
        if name is not None
    }
    return list(audited_forms.values())


def run(cell: Cell) -> list[Row]:
    """Audit a broken form, or a form of ours."""
    kind, name = cell.settings["kind"], cell.settings["name"]
    cases = twins if kind == "twin" else mechanisms
    audit = cases[name].run(draws=cell.settings["draws"])
    claim = float(audit.claim or 0)
    return [{"bound": float(audit.value), "claim": claim, "verdict": audit.verdict}]


def judge(results: Results, quick: bool) -> list[Claim]:
    """Return a verdict for each line of the tables."""
    return [_claim(method, results, Judge("literature", quick)) for method in METHODS]


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return claims and tables of the review from what was audited."""
    claims = judge(results, quick)
    return Reproduction(
        title="The literature of the thesis, method by method",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(_exhibits(claims)),
        setting=setting(quick),
        again=f"shoal reproduce literature{' --quick' if quick else ''}",
        quick=quick,
    )


def setting(quick: bool) -> list[str]:
    """Return what an audit of a line can tell."""
    return [
        "A twin has one fault that such methods are prone to, and nothing else of them. Where "
        "the thesis does not say whether a method has it, no verdict is given.",
        "A bound above the claim proves a fault at level 0.01; one below proves nothing. What "
        "holds, holds by the proof beside our form; an audit of that form is shown with it.",
        f"{40_000 if quick else 200_000:,} draws a side, seed 0.",
    ]


def _claim(method: Review, results: Results, judge: Judge) -> Claim:
    effects = [exact("our form", 0.0)] if method.proof else []
    effects += [audited(method.fault, 0.0, math.inf)] if method.fault else []
    ours = method.fault
    for kind, name in (("twin", method.twin or ""), ("case", method.case or "")):
        for row in results.rows("audits", kind=kind, name=name):
            ours = f"at least {row['bound']:.2f} where {row['claim']:.3g} is claimed: {name}"
    words = "A fault to avoid" if method.twin else "As described"
    reason = f"{words}: {method.real}. Our form: {method.ours}."
    return judge.claim(method.statement, effects, ours, reason)


def _exhibits(claims: list[Claim]) -> Iterator[Exhibit]:
    columns = [
        "Review",
        "Preserving, in the table",
        "As described, or a fault to avoid",
        "Our form",
        "Verdict",
    ]
    verdicts = dict(zip(METHODS, (claim.verdict for claim in claims), strict=True))
    for number in (FIRST, SECOND):
        rows = [
            [each.name, each.preserving, each.real, each.ours, verdict]
            for each, verdict in verdicts.items()
            if each.table == number
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


DOCUMENT = Document(
    "literature",
    edition=2,
    cells=cells,
    run=run,
    judge=judge,
    conclude=conclude,
    setting=setting,
)
