"""The sentences of the thesis and its drafts that are tested, in their own words and its order."""

from typing import Any

from shoal.experiments._verdicts import Statement
from shoal.experiments.nd_laplace._chapter_six import PLACES, PRINTED_RATES
from shoal.experiments.nd_laplace._exhibits import ALGORITHMS, LENGTHS, SETTINGS, STAGES
from shoal.experiments.nd_laplace._hypothesis_exhibits import ADVANTAGE, DIMENSIONS, NODES, SHAPES

AMI = 0.05  # the smallest difference of agreement that matters
ADVANTAGE_MATTERS = 0.05  # of TPR - FPR
SIMILAR = 0.9  # the rank correlation from which two scores give the same information
_AMI = f"{AMI:g} of AMI"
_ADVANTAGE = f"{ADVANTAGE_MATTERS:g} of TPR - FPR"
RESULT_FILES = (
    "the author's result files (tjvanderende/privacy-preserved-clustering-with-nD-Laplace, c75b620)"
)


def _statement(
    where: str, quote: str, tested: str, source: str = "thesis", **more: Any
) -> Statement:
    return Statement(source=source, where=where, quote=quote, tested=tested, **more)


# Chapter 2: definitions and literature.
SUM = _statement(
    "Section 2.1.1", "if there is a method called sum for the summation of data points, the "
    "sensitivity of the method is 1",
    "One point more or less changes a sum by at most 1.", number="1",
)  # fmt: skip
DELTA = _statement(
    "Section 2.1.1", "This means the sensitivity (now denoted as delta δ) is used to loosen up the "
    "definition.",
    "The delta of (epsilon, delta)-DP is the sensitivity.",
)  # fmt: skip
LOCAL_SENSITIVITY = _statement(
    "Section 2.1.2", "As a result, the trade-off for noise is much more precise, and the balance "
    "between utility and privacy is much better.",
    "Noise of the local sensitivity is no larger than that of the global one, and it keeps "
    "epsilon; the median of three values from 0 to 1.",
)  # fmt: skip
RAND_RANGE = _statement(
    "Section 2.2.2", "Both the Rand Index (RI) and Adjusted Rand Index (ARI) ... report a value "
    "between 0 and 1.",
    "Neither is ever below 0.", number="between 0 and 1",
)  # fmt: skip
DUCHI = _statement(
    "Section 2.3.3", "Duchi et al.'s performs better in terms of variance for epsilons smaller "
    "than 2",
    "The worst variance of Duchi et al.'s report of a number from -1 to 1 is below that of Laplace "
    "noise on it.",
    number="smaller than 2",
)  # fmt: skip
DUCHI_LATER = _statement(
    "Section 2.3.3", "However, it performs worse when the epsilon value is higher",
    "The same at budgets above 2, from 2.1 on.",
)  # fmt: skip
PIECEWISE = _statement(
    "Section 2.3.3", "two LDP mechanisms fall into this category: Harmony and Piecewise ... the "
    "authors generate a randomly sampled set of values",
    "Piecewise keeps epsilon for the whole record, if the sampled values share it equally.",
    proof="mechanisms/local/bounded/piecewise.proof.md",
)  # fmt: skip

# Chapter 3: the mechanism.
SHRINKS = _statement(
    "Section 3.3.2", "If we continue adding dimensions, we notice the noise is shrinking "
    "proportionally.",
    "The mean length of the noise falls from each number of dimensions to the next.",
    matters=0.05, margin="0.05/epsilon of length", parts=("noise",), exhibit=LENGTHS,
)  # fmt: skip
MORE_COLUMNS = _statement(
    "Section 3.3.2", "The noise decreases as the dimensions increase, increasing utility.",
    "k-means on Laplace reports of all columns agrees better with k-means on the rows than on "
    "reports of two columns, at one epsilon for each raw unit.",
    matters=AMI, margin=_AMI, parts=("utility",), exhibit=DIMENSIONS,
)  # fmt: skip
ANY_REMAP = _statement(
    "Section 3.3.3", "Any remap function preserves geo-indistinguishability",
    "A function of the report, and of public things, costs no privacy.",
    proof="mechanisms/local/laplace/remaps.proof.md",
)  # fmt: skip
STILL_PRESERVED = _statement(
    "Section 3.3.3", "so the required privacy is still preserved",
    "The remaps of algorithms 3 to 5, which read the true rows, keep epsilon.",
    number="epsilon", parts=("audits",), exhibit=ALGORITHMS,
)  # fmt: skip
KD_TREE = _statement(
    "Section 3.3.3", "Constructing the kd-tree only costs",
    "The cost of a row does not grow with the number of rows: O(kn).", number="O(kn)",
)  # fmt: skip
MORE_CELLS = _statement(
    "Section 3.3.3", "Increasing the number of grid cells can improve the utility",
    "Somewhere, reports moved to a public grid of 48 nodes an axis agree better than with 4.",
    matters=AMI, margin=_AMI, is_possibility=True, parts=("nodes",), exhibit=NODES,
)  # fmt: skip
SHAPE_LOST = _statement(
    "Section 3.3.5", "However, the original shape of the data is mostly lost. ... This results in "
    "the restoration of the original shape of the data and consequently the clusters.",
    "On heart in three columns at epsilon 0.1: less than half of the agreement is left after the "
    "grid remap, and more than half after the optimal one.",
    margin="an AMI of 0.5 is half", parts=("utility",), exhibit=STAGES,
)  # fmt: skip

# Chapter 4: attacks.
SUPERVISED = _statement(
    "Section 4.1", "The attack happens exclusively on supervised learning models",
    "No model without labels shows who was in its training data.",
)  # fmt: skip
FALSE_POSITIVES = _statement(
    "Section 4.3.1", "the FPR represents the number of correctly predicted non-member data",
    "The false positive rate is the share of non-members that are recognised as such.",
)  # fmt: skip

# Chapter 5: methodology, and the appendix.
ELBOW = _statement(
    "Table 5.1", "K-value Calculated based on an \"elbow\" plot. 4 (see figure 31) Seeds dataset",
    "The elbow of the seeds table, in two, three and seven columns.",
    number="4", parts=("settings",), exhibit=SETTINGS,
)  # fmt: skip
FIRST_ELBOW = _statement(
    "Appendix .1", "Dataset 1: 4 clusters (see figure: 31)",
    "Dataset 1 of the earlier draft: 50 made-up rows, 4 centres, two columns, deviation 0.6.",
    number="4", parts=("settings",), exhibit=SETTINGS,
)  # fmt: skip
FIRST_RADIUS = _statement(
    "Appendix .2", "Dataset 1: 0.9 epsilon (see figure: 32)",
    "The k-distance plot of the same 50 rows bends at 0.9, standardised or in raw units.",
    number="0.9", margin="0.1 of the radius", parts=("settings",), exhibit=SETTINGS,
)  # fmt: skip
SAME_INDEX = _statement(
    "Section 5.3.2", "The expectation is that both will give a similar result",
    "CHI and silhouette rank mechanisms and budgets alike, on each table.",
    margin=f"a rank correlation of {SIMILAR:g} is similar", parts=("utility",),
)  # fmt: skip

# Chapter 6: results.
TOO_SLOW = _statement(
    "Section 6.1", "This algorithm required too much computational power for our experimental "
    "setup.",
    "CPU time of one fit of affinity propagation on heart, here.",
    untestable="It is about the author's machine. Here too it is left out on heart, in two columns "
    "as well, where the thesis has it.",
    exhibit=SETTINGS,
)  # fmt: skip
SAME_INFORMATION = _statement(
    "Section 6.2", "Since both ARI and AMI provide the same information",
    "ARI and AMI rank mechanisms and budgets alike, on each table.",
    margin=f"a rank correlation of {SIMILAR:g} is the same", parts=("utility",),
)  # fmt: skip
# AMI by table and mechanism, at each budget. Figures carry no numbers; these are of result files.
CURVES: dict[tuple[str, str], dict[float, float]] = {
    ("heart-2d", "laplace"): {0.5: 0.75, 1: 0.87, 2: 0.94, 3: 0.96, 5: 0.96, 9: 0.98},
    ("heart-2d", "piecewise"): {0.5: 0.01, 1: 0.04, 2: 0.16, 3: 0.33, 5: 0.67, 9: 0.93},
    ("seeds-3d", "laplace"): {0.5: 0.13, 1: 0.29, 2: 0.43, 3: 0.52, 5: 0.58, 7: 0.53, 9: 0.55},
    ("seeds-3d", "piecewise"): {0.5: 0.01, 1: 0.07, 2: 0.14, 3: 0.38, 5: 0.57, 7: 0.77, 9: 0.82},
    ("seeds-3d", "laplace-optimal-truncated"): {
        0.5: 0.65, 1: 0.71, 2: 0.64, 3: 0.63, 5: 0.58, 7: 0.63, 9: 0.69,
    },
    ("seeds-nd", "laplace"): {0.5: 0.74, 1: 0.84},
}  # fmt: skip
_FIGURES = {
    "heart-2d": ("Figure 6.20", "Adjusted Mutual Information comparison for the heart-dataset"),
    "seeds-3d": (
        "Figure 6.21", "Adjusted Mutual Information comparison for the 3-dimensional seeds-dataset",
    ),
    "seeds-nd": (
        "Figure 6.23",
        "Adjusted Mutual Information comparison for all numerical features for the seeds-dataset",
    ),
}  # fmt: skip
_FORMS = {"piecewise": "piecewise, epsilon on every column and bounds from the rows"}
NEAR = 0.1  # AMI of k-means in ten runs of the author, whose seeds are not known
PRINTED_CURVES = {
    (data, mechanism): _statement(
        _FIGURES[data][0], _FIGURES[data][1],
        f"AMI of k-means on {data} with {_FORMS.get(mechanism, mechanism)}, by budget.",
        number="; ".join(f"{ami:g} at {epsilon:g}" for epsilon, ami in curve.items())
        + f" ({RESULT_FILES}"
        + ("; that file lost its decimal points)" if data == "seeds-nd" else ")"),
        margin=f"{NEAR:g} of AMI", parts=("utility",), exhibit=_FIGURES[data][0],
    )
    for (data, mechanism), curve in CURVES.items()
}  # fmt: skip
READINGS = {
    "true": "asked by the true record",
    "perturbed": 'asked by the noisy record, "the private training data"',
}
RATES = {
    (table, query): _statement(
        table, PRINTED_RATES[table], f"TPR - FPR of the printed settings, {reading}.",
        margin="0.1 of TPR - FPR", parts=("privacy",), exhibit=PLACES[table],
    )
    for table in PRINTED_RATES
    for query, reading in READINGS.items()
}  # fmt: skip

# The hypotheses, which the thesis leaves open.
H1 = "The privacy leakage (adversary advantage) increases for a higher number of dimensions"
H1_EXACT = _statement(
    "Hypothesis 1", H1, "The best possible advantage between two records at distance 1, and at a "
    "distance that grows as the root of d, rises with the number of dimensions; epsilon 1.",
    matters=0.02, margin="0.02 of TPR - FPR", exhibit=ADVANTAGE,
)  # fmt: skip
H1_GAME = _statement(
    "Hypothesis 1", H1, "In the membership game on made-up tables of two and five columns.",
    matters=ADVANTAGE_MATTERS, margin=_ADVANTAGE, parts=("dimensions",), exhibit=DIMENSIONS,
)  # fmt: skip
H2 = "Adding optimal remapping improves utility without sacrificing privacy."
H2_UTILITY = _statement(
    "Hypothesis 2", H2, "Utility: k-means on optimally remapped reports agrees better than on "
    "reports as they are, at each table and budget.",
    matters=AMI, margin=_AMI, parts=("utility",), exhibit="Figure 6.21",
)  # fmt: skip
H2_PRIVACY = _statement(
    "Hypothesis 2", H2, "Privacy: algorithm 5 keeps epsilon.", number="epsilon",
    parts=("audits",), exhibit=ALGORITHMS,
)  # fmt: skip
H3 = "The impact of the data shape has an impact on privacy leakage and utility of the mechanism."
H3_UTILITY = _statement(
    "Hypothesis 3", H3, "Utility: agreement on a ring, a line and skewed data differs.",
    matters=AMI, margin=_AMI, parts=("shapes",), exhibit=SHAPES,
    untestable="The skewed rows lie closer together: 2.1 from their mean, those of the line 5.0, "
    "of the ring 6.1. So one noise weighs more on them, whatever their shape.",
)  # fmt: skip
H3_LEAKAGE = _statement(
    "Hypothesis 3", H3, "Leakage: the advantage on a ring, a line and skewed data differs.",
    matters=ADVANTAGE_MATTERS, margin=_ADVANTAGE, parts=("shape games",), exhibit=SHAPES,
)  # fmt: skip

# Earlier drafts.
REDRAWN = _statement(
    "Sections 4.3.2, 4.3.3", "This validates that we applied the algorithms in the right way and "
    "automatically inherit the strong privacy guarantees provided by GI ... re-calculating the "
    "noise until it will be within the domain",
    "Redrawing until a report lies in the box (its algorithm 1) keeps epsilon.",
    source="first draft", number="epsilon", parts=("audits",), exhibit=ALGORITHMS,
)  # fmt: skip
HALF_SIGMA = _statement(
    "Algorithm 2", r"r = \frac{\sigma}{2}",
    "A radius of half the rows' deviation, and so epsilon = l/r, keeps a promise.",
    source="draft", number="epsilon = l/r",
)  # fmt: skip
STATEMENTS = (
    SUM, DELTA, LOCAL_SENSITIVITY, RAND_RANGE, DUCHI, DUCHI_LATER, PIECEWISE, SHRINKS, MORE_COLUMNS,
    ANY_REMAP, STILL_PRESERVED, KD_TREE, MORE_CELLS, SHAPE_LOST, SUPERVISED, FALSE_POSITIVES, ELBOW,
    FIRST_ELBOW, FIRST_RADIUS, SAME_INDEX, TOO_SLOW, SAME_INFORMATION, *PRINTED_CURVES.values(),
    *RATES.values(), H1_EXACT, H1_GAME, H2_UTILITY, H2_PRIVACY, H3_UTILITY, H3_LEAKAGE, REDRAWN,
    HALF_SIGMA,
)  # fmt: skip
