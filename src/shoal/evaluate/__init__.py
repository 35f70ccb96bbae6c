"""Scores on plain arrays: how far a private answer is from the one without noise.

They read the true answer, so they are for the holder of the rows; publishing one costs a budget.
"""

from shoal.evaluate.agreement import (
    agreement_of_counts,
    ami,
    ari,
    cell_dissimilarity,
    cluster_dissimilarity,
    fowlkes_mallows,
    mi,
    mirkin,
    nmi,
    rand_index,
)
from shoal.evaluate.centers import (
    CenterErrors,
    center_errors,
    centroid_index,
    inertia,
    mean_displacement,
    normalised_inertia,
    plain_centers,
)
from shoal.evaluate.score_figure import score_picture
from shoal.evaluate.score_table import score
from shoal.evaluate.separation import calinski_harabasz, davies_bouldin, silhouette

__all__ = [
    "CenterErrors",
    "agreement_of_counts",
    "ami",
    "ari",
    "calinski_harabasz",
    "cell_dissimilarity",
    "center_errors",
    "centroid_index",
    "cluster_dissimilarity",
    "davies_bouldin",
    "fowlkes_mallows",
    "inertia",
    "mean_displacement",
    "mi",
    "mirkin",
    "nmi",
    "normalised_inertia",
    "plain_centers",
    "rand_index",
    "score",
    "score_picture",
    "silhouette",
]
