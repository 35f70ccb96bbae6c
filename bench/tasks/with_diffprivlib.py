"""Counts, sums, means and histograms by group under one budget, with diffprivlib."""

# The tasks begin.
import pandas as pd
from diffprivlib import BudgetAccountant, tools

stages, bounds = ["primary", "secondary", "vocational"], (0, 120)
table = pd.read_csv("school.csv")
minutes = {stage: table.minutes_per_session[table.stage == stage] for stage in stages}
accountant = BudgetAccountant(epsilon=1.0)
share = 1.0 / (1 + 4 * len(stages)) * (1 - 1e-9)  # it adds up groups though they share no row
spend = {"epsilon": share, "accountant": accountant}
total = tools.count_nonzero(table.stage.notna(), **spend)
counts = {s: tools.count_nonzero(m.notna(), **spend) for s, m in minutes.items()}
sums = {s: tools.sum(m, bounds=bounds, **spend) for s, m in minutes.items()}
means = {s: tools.mean(m, bounds=bounds, **spend) for s, m in minutes.items()}
histograms = {s: tools.histogram(m, bins=16, range=bounds, **spend)[0] for s, m in minutes.items()}
# The tasks end.

answers = {
    "total": float(total),
    "counts": {s: float(v) for s, v in counts.items()},
    "sums": {s: float(v) for s, v in sums.items()},
    "means": {s: float(v) for s, v in means.items()},
    "histograms": {s: [float(x) for x in v] for s, v in histograms.items()},
}
