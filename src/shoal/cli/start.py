"""Where the ``shoal`` command begins: ready to be stopped before anything else is loaded.

The verbs take a moment to load; stopped meanwhile, the command says so in a line, as it does later.
"""

import signal
import sys
from types import FrameType

__all__ = ["STOPPED", "TERMINATED", "main"]

STOPPED = 130  # 128 + SIGINT, as shells have it
TERMINATED = 143  # 128 + SIGTERM


def main() -> None:
    """Run the command line."""
    try:
        signal.signal(signal.SIGTERM, _exit_on_sigterm)
        from shoal.cli.main import app

        app()
    except KeyboardInterrupt:
        print("Stopped before anything was started.", file=sys.stderr)
        sys.exit(STOPPED)


def _exit_on_sigterm(_signal: int, _frame: FrameType | None) -> None:
    """Leave as by an exception, so that what is half-written is taken away on the way out."""
    sys.exit(TERMINATED)
