"""List the tests that `make quick` leaves out because they take long: tests/heavy_tests.txt.

pytest -n 2 -m "not slow" --junitxml=times.xml && python tools/heavy_tests.py times.xml
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).parents[1] / "tests" / "heavy_tests.txt"
MOST_SECONDS = 0.05


def heavy_tests(report: Path) -> Iterator[str]:
    """Yield the test functions of which one case took longer than a quick test may.

    Parameters
    ----------
    report
        What ``pytest --junitxml`` wrote.
    """
    listed = {*LIST.read_text().split()}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.attrib['classname']}::{case.attrib['name'].split('[')[0]}"
        was_skipped = case.find("skipped") is not None and name in listed  # its data was missing
        if was_skipped or float(case.attrib["time"]) > MOST_SECONDS:
            yield name


def main() -> None:
    """Write the list anew from a report."""
    names = sorted({*heavy_tests(Path(sys.argv[1]))})
    LIST.write_text("".join(f"{name}\n" for name in names))


if __name__ == "__main__":
    main()
