"""Mark the tests that `make quick` leaves out because they take long: ``@pytest.mark.heavy``.

pytest -n 2 --quick --heavy --junitxml=times.xml && python tools/heavy_tests.py times.xml
"""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 0.05
MARK = "@pytest.mark.heavy"


def times_of(report: Path) -> dict[str, dict[str, float]]:
    """Return by module, then by test, what its longest case took; a skipped one has no time.

    Parameters
    ----------
    report
        What ``pytest --junitxml`` wrote.
    """
    times: dict[str, dict[str, float]] = defaultdict(dict)
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            tests, name = times[case.attrib["classname"]], case.attrib["name"].split("[")[0]
            tests[name] = max(tests.get(name, 0.0), float(case.attrib["time"]))
    return times


def marked(source: str, times: dict[str, float]) -> str:
    """Return a test file with the mark on every test that took long, and on no other that ran.

    Parameters
    ----------
    source
        The file's text.
    times
        What each test took.
    """
    lines = source.splitlines(keepends=True)
    tests = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    for test in reversed([each for each in tests if each.name in times]):
        first = min([test.lineno, *(each.lineno for each in test.decorator_list)]) - 1
        own = [line for line in lines[first : test.lineno - 1] if line.strip() != MARK]
        lines[first : test.lineno - 1] = own
        if times[test.name] > MOST_SECONDS:
            lines.insert(first, f"{MARK}\n")
    if f"{MARK}\n" in lines and "import pytest\n" not in lines:
        has_docstring = ast.get_docstring(ast.parse(source)) is not None
        lines.insert((ast.parse(source).body[0].end_lineno or 0) * has_docstring, "import pytest\n")
    return "".join(lines)


def main() -> None:
    """Mark tests anew by the times in a report."""
    changed = []
    for module, times in times_of(Path(sys.argv[1])).items():
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        if not module.startswith("tests.") or not path.is_file():
            continue
        before = path.read_text()
        if (after := marked(before, times)) != before:
            path.write_text(after)
            changed.append(str(path))
    if changed:
        ruff = [sys.executable, "-m", "ruff"]
        fix = ["check", "--quiet", "--fix", "--select", "I,F401"]
        subprocess.run([*ruff, *fix, *changed], check=True)
        subprocess.run([*ruff, "format", "--quiet", *changed], check=True)
    print(f"Marks changed in {len(changed)} files.")


if __name__ == "__main__":
    main()
