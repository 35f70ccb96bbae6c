"""The entry point of the ``shoal`` command, which handles signals before anything is loaded.

The verbs take a moment to load; if stopped meanwhile, the command prints one line, as it does
later.
"""

import signal
import sys
from types import FrameType

STOPPED = 130  # 128 + SIGINT, by the convention of shells
TERMINATED = 143  # 128 + SIGTERM


def main() -> None:
    """Run the command line."""
    try:
        signal.signal(signal.SIGTERM, _exit_on_sigterm)
        from shoal.cli._main import app

        app()
    except KeyboardInterrupt:
        print("Stopped before anything was started.", file=sys.stderr)
        sys.exit(STOPPED)


def _exit_on_sigterm(_signal: int, _frame: FrameType | None) -> None:
    """Exit by an exception, so that incomplete files are removed on the way out."""
    if "py4j" in sys.modules:
        _quieten_spark()
    sys.exit(TERMINATED)


def _quieten_spark() -> None:
    """Hide what its gateway logs: a Spark that got the same signal is gone before it is closed."""
    import logging
    import warnings

    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="pyspark")
