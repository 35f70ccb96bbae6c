"""List the tests that `make quick` leaves out because they take long: tests/heavy_tests.txt.

pytest -n 2 -m "not slow" --junitxml=times.xml && python tools/heavy_tests.py times.xml
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).parents[1] / "tests" / "heavy_tests.txt"
MOST_SECONDS = 0.1


def heavy_tests(report: Path) -> Iterator[str]:
    """Yield the test functions of which one case took longer than a quick test may.

    Parameters
    ----------
    report
        What ``pytest --junitxml`` wrote.
    """
    for case in ElementTree.parse(report).iter("testcase"):
        if float(case.attrib["time"]) > MOST_SECONDS:
            yield f"{case.attrib['classname']}::{case.attrib['name'].split('[')[0]}"


def main() -> None:
    """Write the list anew from a report."""
    LIST.write_text("".join(f"{name}\n" for name in sorted({*heavy_tests(Path(sys.argv[1]))})))


if __name__ == "__main__":
    main()
