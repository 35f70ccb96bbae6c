"""Scores on plain arrays: how far a private clustering is from the one without noise.

They read the true answer, so they are for the holder of the rows only; to publish one would need
noise and a budget.

Words: a *labelling* gives each row a cluster, -1 for none; *agreement* compares two labellings
whatever the clusters are called; *separation* measures how far apart clusters are, by rows alone;
*inertia* is the sum of squared distances to the nearest centre; *plain* is the answer without
noise; a *control* is the same method without data, *shuffled* are the labels dealt out at random;
*closed* is the share of the gap from control to plain; a *missing* centre is a true one without a
partner, a *spurious* one is estimated without a partner.
"""

from shoal.evaluate._agreement import (
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
from shoal.evaluate._centers import (
    CenterErrors,
    PerturbationArea,
    center_errors,
    centroid_index,
    inertia,
    mean_displacement,
    normalised_inertia,
    perturbation_area,
    plain_centers,
)
from shoal.evaluate._mixed_scores import gower_distances, gower_silhouette, mixed_cost
from shoal.evaluate._score_figure import score_picture
from shoal.evaluate._separation import calinski_harabasz, davies_bouldin, silhouette
from shoal.evaluate.score_table import score

__all__ = [
    "CenterErrors",
    "PerturbationArea",
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
    "gower_distances",
    "gower_silhouette",
    "inertia",
    "mean_displacement",
    "mi",
    "mirkin",
    "mixed_cost",
    "nmi",
    "normalised_inertia",
    "perturbation_area",
    "plain_centers",
    "rand_index",
    "score",
    "score_picture",
    "silhouette",
]
