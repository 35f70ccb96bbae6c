"""``python -m shoal`` is the command."""

import subprocess
import sys


def test_the_module_runs_the_command_line():
    shown = subprocess.run(
        [sys.executable, "-m", "shoal", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("shoal ")
