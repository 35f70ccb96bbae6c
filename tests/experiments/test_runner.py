import json
import os
import signal
import subprocess
import sys
import time

import pytest

from shoal.experiments._cells import Cell, CellFile
from shoal.experiments._runner import run_cells, time_left_text

RUN = {"document": "test", "edition": 1, "quick": True}
CELLS = [Cell("square", {"x": x}) for x in range(6)]


def square(cell):
    return [{"y": cell.settings["x"] ** 2}]


def refuse(cell):
    raise AssertionError("a finished cell was run again")


@pytest.mark.heavy
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_cell_is_run_once_and_kept(tmp_path, jobs, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    import cell_functions

    with CellFile(tmp_path, RUN).opened() as file:
        assert run_cells(CELLS, cell_functions.square, file, jobs=jobs) == 6
        assert [row["y"] for row in file.rows(CELLS)] == [0, 1, 4, 9, 16, 25]


def test_a_second_run_does_nothing(tmp_path):
    with CellFile(tmp_path, RUN).opened() as file:
        run_cells(CELLS, square, file)
        assert run_cells(CELLS, refuse, file) == 0


def test_what_was_finished_before_an_error_is_kept(tmp_path):
    def fails_at_three(cell):
        if cell.settings["x"] == 3:
            raise ValueError("three")
        return square(cell)

    with CellFile(tmp_path, RUN).opened() as file:
        with pytest.raises(ValueError, match="three"):
            run_cells(CELLS, fails_at_three, file)
        assert [file.has(cell) for cell in CELLS] == [True, True, True, False, False, False]


def test_progress_ends_at_the_whole(tmp_path):
    said = []
    with CellFile(tmp_path, RUN).opened() as file:
        run_cells(CELLS, square, file, progress=lambda state, share: said.append((state, share)))
    assert said[-1][1] == 1
    assert said[0][0].startswith("1 of 6 cells, about ")


KILLED = """
import sys, time
from pathlib import Path
from shoal.experiments._cells import Cell, CellFile
from shoal.experiments._runner import run_cells
def slow(cell):
    time.sleep(0.05)
    return [{"y": cell.settings["x"]}]
with CellFile(Path(sys.argv[1]), {"document": "test", "edition": 1, "quick": True}).opened() as f:
    run_cells([Cell("square", {"x": x}) for x in range(200)], slow, f)
"""


@pytest.mark.heavy
def test_a_run_killed_at_once_goes_on_where_it_was(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    path = tmp_path / "cells.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < 4:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    many = [Cell("square", {"x": x}) for x in range(200)]
    with CellFile(tmp_path, RUN).opened() as file:
        finished = sum(file.has(cell) for cell in many)
        assert 3 <= finished < 200
        assert run_cells(many, square, file) == 200 - finished
    lines = [json.loads(line) for line in path.read_text().splitlines() if line]
    assert len(lines) >= 201


@pytest.mark.parametrize(("seconds", "text"), [(1, "5 seconds"), (89, "90 seconds"), (91, "2 min")])
def test_a_time_is_told_in_round_numbers(seconds, text):
    assert text in time_left_text(seconds)


KILLED_WITH_WORKERS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import cell_functions
from shoal.experiments._cells import Cell, CellFile
from shoal.experiments._runner import run_cells
if __name__ == "__main__":
    run = {"document": "test", "edition": 1, "quick": True}
    with CellFile(Path(sys.argv[1]), run).opened() as f:
        cells = [Cell("slow", {"x": x}) for x in range(2000)]
        run_cells(cells, cell_functions.process_after_a_while, f, jobs=2)
"""


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:  # a child that nobody waits for is no run
        return file.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_run_leaves_no_process_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(KILLED_WITH_WORKERS)
    folder = tmp_path / "run"
    command = [sys.executable, str(script), str(folder), os.path.dirname(__file__)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
    }
    process = subprocess.Popen(command, env=environment)
    path = folder / "cells.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < 12:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:-1]]
    workers = {line["rows"][0]["process"] for line in lines}
    until = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(workers) == 2
    assert not any(map(is_running, workers))
