"""Counts, sums, means and histograms by group under one budget, with shoal."""

# The tasks begin.
import numpy as np

import shoal

schema = shoal.Schema.load("school.yaml").select(["stage", "minutes_per_session"])
ledger = shoal.Ledger("school.ledger", limit=shoal.PureDP(1))
synopsis = shoal.MixedSynopsis(epsilon=1, domain=schema, ledger=ledger)
table = synopsis.fit("school.csv").table("stage", "minutes_per_session")
histograms = table.counts
middles = np.linspace(0, 120, 2 * synopsis.bins_ + 1)[1::2]
total, counts = synopsis.count(), histograms.sum(axis=1)
sums = histograms @ middles
means = sums / counts
# The tasks end.

stages = schema.categories["stage"].values
answers = {
    "total": float(total),
    "counts": dict(zip(stages, counts.tolist(), strict=True)),
    "sums": dict(zip(stages, sums.tolist(), strict=True)),
    "means": dict(zip(stages, means.tolist(), strict=True)),
    "histograms": dict(zip(stages, histograms.tolist(), strict=True)),
}
