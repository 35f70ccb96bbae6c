"""The Java that Spark runs on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from shoal.errors import JavaMissing

__all__ = ["check_java"]

_OLDEST = 17


def check_java() -> None:
    """Refuse, in words, what Spark would only stumble over: no Java, or one too old."""
    program = _program()
    if program is None:
        raise JavaMissing(
            "Spark needs Java, and there is none: neither JAVA_HOME nor the path leads to it.",
            f"Install Java {_OLDEST} or later, e.g. openjdk-{_OLDEST}-jre-headless.",
        )
    version = _version(program)
    if version is not None and version < _OLDEST:
        raise JavaMissing(
            f"Java {version} came; Spark needs {_OLDEST} or later.",
            f"Install Java {_OLDEST}, or let JAVA_HOME lead to it.",
        )


def _program() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        inside = Path(home) / "bin" / "java"
        return str(inside) if inside.exists() else None
    return shutil.which("java")


def _version(program: str) -> int | None:
    """Its major version; none if it does not say."""
    try:
        done = subprocess.run(
            [program, "-version"], check=False, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return None if said is None else int(said[1])
