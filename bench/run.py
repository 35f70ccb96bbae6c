"""Run every benchmark beside this file, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = sorted(
    path for path in HERE.glob("*.py") if path.name not in ("run.py", "measure.py", "adult_rows.py")
)


def main() -> int:
    wanted = sys.argv[1:]
    failed = []
    for script in SCRIPTS:
        if wanted and script.stem not in wanted:
            continue
        print(f"== {script.stem}", flush=True)
        if subprocess.run([sys.executable, script], check=False).returncode:
            failed.append(script.stem)
    if failed:
        print("failed:", ", ".join(failed))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
