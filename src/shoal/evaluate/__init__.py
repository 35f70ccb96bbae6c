"""Scores on plain arrays: how far a private answer is from the one without noise.

They read the true answer, so they are for the holder of the rows; publishing one costs a budget.
"""

from shoal.evaluate.dissimilarity import cell_dissimilarity, cluster_dissimilarity

__all__ = ["cell_dissimilarity", "cluster_dissimilarity"]
