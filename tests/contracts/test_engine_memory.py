"""Peak memory does not grow with the file."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from shoal.domain import Box

# From some two million rows on, the readers' own buffers are full: growth after that is ours.
CHUNK, SMALL, LARGE = 500_000, 2_500_000, 7_500_000
GROWTH_HELD_MB = (LARGE - SMALL) * 2 * 8 / 2**20  # what a reader that held the rows would add: 76
COUNT = """
import json, sys
from pathlib import Path
from shoal.domain import Box, Grid
from shoal.engine import rows_of

box = Box.unit(2)
total = int(rows_of(sys.argv[1], box).count(Grid(box, 16)).sum())
status = Path("/proc/self/status").read_text()
print(json.dumps([total, int(status.split("VmHWM:")[1].split()[0]) / 1024]))
"""


def write(path, n):
    values = np.random.default_rng(5).random((2, CHUNK)).round(4)
    chunk = pa.Table.from_arrays(list(values), names=list(Box.unit(2).names))
    if path.suffix == ".parquet":
        with pq.ParquetWriter(path, chunk.schema) as writer:
            for _ in range(n // CHUNK):
                writer.write_table(chunk)
        return path
    pa_csv.write_csv(chunk, path)
    header, _, lines = path.read_bytes().partition(b"\n")
    path.write_bytes(header + b"\n" + lines * (n // CHUNK))
    return path


def peak_mb(path, n):
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "SHOAL_THREADS": "2"},  # each holds a block
    )
    total, peak = json.loads(done.stdout)
    assert total == n
    return peak


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_longer_file_needs_no_more_memory(tmp_path, kind):
    small = peak_mb(write(tmp_path / f"small.{kind}", SMALL), SMALL)
    large = peak_mb(write(tmp_path / f"large.{kind}", LARGE), LARGE)
    assert large - small < GROWTH_HELD_MB / 2
