"""CPU and memory of features against one hand-written GROUP BY of the same columns."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEATURES = {
    "logins": {"count": "log", "where": {"kind": "login"}, "high": 400},
    "minutes": {"sum": "log.minutes", "high": 6000},
    "score": {"mean": "log.score", "where": {"kind": "exercise"}, "none": "missing"},
    "evening": {"share": "log", "which": {"hour": [18, 23]}, "none": 0},
    "days": {"days": "log"},
    "weeks": {"weeks": "log"},
    "pause": {"gap": "log"},
    "evenness": {"evenness": "log", "none": 0},
    "recency": {"last": "log", "none": 287},
    "items": {"distinct": "log.item", "where": {"kind": "exercise"}, "high": 500},
    "change": {
        "change": "log", "window": ["2025-03-03", "2025-07-01", "2025-12-15"], "none": 0
    },
}  # fmt: skip
BY_HAND = """
COPY (WITH log AS (
  SELECT pupil, kind, minutes, score, item, "at" - INTERVAL 3 HOUR AS local,
    CAST(floor(epoch("at" - INTERVAL 3 HOUR - TIMESTAMP '2025-03-03') / 604800) AS INT) AS week
  FROM read_parquet('{log}')),
weekly AS (SELECT pupil, sum(n * n) AS squares, sum(n) AS n FROM
  (SELECT pupil, week, count(*) AS n FROM log GROUP BY pupil, week) GROUP BY pupil)
SELECT log.pupil, count(*) FILTER (WHERE kind = 'login') AS logins, sum(minutes) AS minutes,
  avg(score) FILTER (WHERE kind = 'exercise') AS score,
  count(*) FILTER (WHERE hour(local) >= 18) / count(*) AS evening,
  count(DISTINCT CAST(local AS DATE)) AS days, bit_count(bit_or(1::BIGINT << week)) AS weeks,
  any_value(1 - squares / (n * n)) AS evenness, max(local) AS recency,
  count(DISTINCT item) FILTER (WHERE kind = 'exercise') AS items,
  count(*) FILTER (WHERE local >= TIMESTAMP '2025-07-01') / count(*) AS change
FROM log JOIN weekly USING (pupil) GROUP BY log.pupil) TO '{out}' (FORMAT parquet)
"""


def write_tables(folder: Path, events: int, pupils: int) -> None:
    rng = np.random.default_rng(0)
    ids = pa.array([f"U{i:06d}" for i in range(pupils)])
    pq.write_table(pa.table({"pupil": ids}), folder / "pupils.parquet")
    start = np.datetime64("2025-03-03T03:00:00", "us").astype(np.int64)
    kinds, items = pa.array(["login", "exercise", "video"]), pa.array([f"i{i}" for i in range(500)])
    writer = None
    for _ in range(0, events, 500_000):
        n = min(500_000, events)
        part = pa.table(
            {
                "pupil": ids.take(pa.array(rng.integers(0, pupils, n))),
                "at": pa.array(
                    start + rng.integers(0, 287 * 86_400, n) * 1_000_000, pa.timestamp("us")
                ),
                "kind": kinds.take(pa.array(rng.integers(0, 3, n))),
                "minutes": rng.uniform(0, 60, n).round(1),
                "score": rng.uniform(0, 100, n).round(1),
                "item": items.take(pa.array(rng.integers(0, 500, n))),
            }
        )
        writer = writer or pq.ParquetWriter(folder / "log.parquet", part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def compiled(folder: Path) -> None:
    from shoal.domain.features import FeaturesFile
    from shoal.engine import features

    columns = {
        "kind": {"values": ["login", "exercise", "video"]},
        "minutes": {"low": 0, "high": 60, "step": 0.1},
        "score": {"low": 0, "high": 100, "step": 0.1},
        "item": {"text": True},
    }
    file = FeaturesFile.of(
        {
            "version": 1,
            "person": "pupil",
            "period": {"from": "2025-03-03", "until": "2025-12-15", "zone": "America/Montevideo"},
            "people": {"table": "pupils.parquet"},
            "events": {"log": {"table": "log.parquet", "time": "at", "columns": columns}},
            "features": FEATURES,
        },
        folder,
    )
    features(file).to_parquet(folder / "compiled.parquet", overwrite=True)


def by_hand(folder: Path) -> None:
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET memory_limit = '256MB'")
        con.execute("SET preserve_insertion_order = false")
        con.execute("SET threads = 1")
        con.execute("SET temp_directory = ?", [str(folder / "spill")])
        con.execute(BY_HAND.format(log=folder / "log.parquet", out=folder / "hand.parquet"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--pupils", type=int, default=60_000)
    parser.add_argument("--only", choices=["compiled", "by_hand"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.only:
        begun = time.process_time()
        {"compiled": compiled, "by_hand": by_hand}[given.only](given.folder)
        used, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{given.only}: {used:.1f} CPU s, {most / 1024:.0f} MB at most", flush=True)
        return
    with tempfile.TemporaryDirectory() as name:
        write_tables(Path(name), given.events, given.pupils)
        for way in ("compiled", "by_hand"):
            words = [sys.executable, __file__, "--only", way, "--folder", name]
            subprocess.run(words, check=True, env=os.environ)


if __name__ == "__main__":
    main()
