import os
import signal
import subprocess
import sys
import time

import pytest

CAUGHT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
"""
WAITING = """
import sys, time
import shoal.data
def slowly(*a, **k): print("ready", flush=True); time.sleep(60)
shoal.data.write_table = slowly
from shoal.cli.start import main
sys.argv = ["shoal", "demo", "-o", sys.argv[1]]
main()
"""
LOADING = """
import builtins, sys, time
load = builtins.__import__
def slowly(name, *rest):
    if name == "shoal.cli._main": print("ready", flush=True); time.sleep(60)
    return load(name, *rest)
builtins.__import__ = slowly
from shoal.cli.start import main
main()
"""


def stopped(code, number, *words):
    """Exit code and standard error of a run that gets a signal once it says it is ready."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CAUGHT + code, *words]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as started:
        assert started.stdout.readline() == "ready\n"
        time.sleep(0.2)
        started.send_signal(number)
        _, said = started.communicate(timeout=30)
    return started.returncode, said


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_a_run_that_is_stopped_leaves_nothing(tmp_path, number, code):
    assert stopped(WAITING, number, tmp_path / "demo") == (
        code,
        "Stopped: nothing half-written was left.\n",
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("number", "ending"),
    [(signal.SIGINT, (130, "Stopped before anything was started.\n")), (signal.SIGTERM, (143, ""))],
    ids=["ctrl-c", "sigterm"],
)
def test_a_run_that_is_stopped_while_it_loads_shows_no_traceback(number, ending):
    assert stopped(LOADING, number) == ending
