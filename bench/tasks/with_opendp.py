"""Counts, sums, means and histograms by group under one budget, with OpenDP."""

# The tasks begin.
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
stages = pl.LazyFrame({"stage": ["primary", "secondary", "vocational"]})
edges = [7.5 * i for i in range(17)]
bins = [str(i) for i in range(16)]
rows = pl.scan_csv("school.csv", ignore_errors=True)
minutes = pl.col("minutes_per_session").fill_null(0.0).fill_nan(0.0)
context = dp.Context.compositor(
    data=rows,
    privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(epsilon=1.0),
    split_evenly_over=4,
    margins=[dp.polars.Margin(by=[], max_length=100_000)],
)
total = context.query().select(dp.len()).release().collect().item()
by_stage = context.query().group_by("stage").agg(dp.len()).with_keys(stages)
counts = by_stage.release().collect()
by_stage = context.query().group_by("stage").agg(minutes.dp.sum((0.0, 120.0))).with_keys(stages)
sums = by_stage.release().collect()
cut = minutes.cut(edges[1:-1], labels=bins).alias("bin")
keys = stages.join(pl.LazyFrame({"bin": pl.Series(bins, dtype=pl.Categorical)}), how="cross")
by_bin = context.query().with_columns(cut).group_by("stage", "bin").agg(dp.len()).with_keys(keys)
histograms = by_bin.release().collect()
both = sums.join(counts, on="stage")  # each release has the groups in an order of its own
means = dict(zip(both["stage"], both["minutes_per_session"] / both["len"], strict=True))
# The tasks end.

answers = {
    "total": float(total),
    "counts": dict(counts.select("stage", "len").iter_rows()),
    "sums": dict(sums.select("stage", "minutes_per_session").iter_rows()),
    "means": means,
    "histograms": {
        stage: histograms.filter(pl.col("stage") == stage)
        .sort(pl.col("bin").cast(str).cast(int))["len"]
        .to_list()
        for stage in ("primary", "secondary", "vocational")
    },
}
