"""Play the scripts of tests/roles as a person would, and count what they ask of one.

    python tools/first_hours.py

Each script runs in an empty folder, with an empty home and no other shoal on the path than the one
of this environment. Printed for each: how many commands or cells, how many names of shoal they use
(verbs, options, functions, attributes, parameters), and how long the machine took.
"""

import ast
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import shoal

FOLDER = Path(__file__).parents[1] / "tests" / "roles"
CELLS = Path(__file__).with_name("notebooks.py")
ROLES = ("newcomer.sh", "analyst.sh", "officer.sh", "researcher.cells", "spark.cells", "auditor.sh",
         "shell.sh")  # fmt: skip
# Runs the cells of a script as a notebook would, and prints what each shows.
PLAYER = """
import runpy, sys
run = runpy.run_path(sys.argv[1])["run"]
scope = {"__name__": "__main__"}
for number, cell in enumerate(open(sys.argv[2]).read().split("# %%\\n")[1:], 1):
    for output in run(cell, scope, number):
        data = output.get("data", {})
        shown = "".join(output.get("text", ()) or data["text/plain"])
        print(shown, *(["<html>"] if "text/html" in data else []), sep="\\n")
"""
OTHERS = {  # names of pandas and pyspark that the scripts use
    "read_csv", "assign", "groupby", "mean", "head", "round", "shape", "sql", "builder", "master",
    "getOrCreate", "read", "csv", "header", "inferSchema", "groupBy", "count", "group",
}  # fmt: skip


class Played(NamedTuple):
    """A script that was run: its exit code, what it printed, the seconds it took."""

    code: int
    printed: str
    seconds: float


def commands_of(text: str) -> list[str]:
    """The logical lines that a person types at a prompt; of Python, the cells."""
    if "# %%\n" in text:
        return text.split("# %%\n")[1:]
    whole = re.sub(r"<<'END'\n.*?^END$", "", text.replace("\\\n", " "), flags=re.S | re.M)
    return [line for line in whole.splitlines() if line.strip() and not line.startswith("#")]


def names_of(text: str) -> set[str]:
    """The names of shoal that a script uses."""
    if "# %%\n" not in text:
        return {name for line in commands_of(text) for name in _shell_names(line)}
    nodes = [*ast.walk(ast.parse(text))]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    columns = {"age", "visits"}
    return (attributes | keywords) - OTHERS - columns


def _shell_names(line: str) -> set[str]:
    settings = set(re.findall(r"SHOAL_\w+", line))
    called = re.search(r"\bshoal ((?:[a-z]+ ?)*)", line)
    if called is None:
        return settings
    verbs = called[1].split()[: 2 if called[1].split()[:1] in VERBS_IN_TWO else 1]
    return settings | {" ".join(verbs)} - {""} | set(re.findall(r"(?<= )--?[a-z][\w-]*", line))


VERBS_IN_TWO = (["anonymize"], ["attack"], ["ledger"], ["data"])


def write_tables(folder: Path) -> None:
    """What the people of the scripts bring along: made-up tables, one of them messy."""
    rng = random.Random(3)
    _write_visits(folder / "visits.csv", rng)
    _write_marks(folder / "marks.csv", rng)
    _write_people(folder / "people.csv", rng)
    (folder / "codebook.csv").write_text(
        "variable;min;max;levels\nAttendance %;0;100;\nMean mark;0;10;\n"
        "Household income;0;100000;\nGrade level;1;6;\n"
        "School type;;;public|private|rural public\nRegion;;;North|South|Centre\n"
        "Nationality;;;1 = Chile|41 = Peru\n"
    )


def _write_visits(path: Path, rng: random.Random) -> None:
    lines = ["age,visits"]
    for age, visits in ((28, 2), (52, 9), (77, 15)):
        pairs = ((rng.gauss(age, 6), rng.gauss(visits, 1.2)) for _ in range(700))
        lines += [f"{max(0, a):.0f},{max(0, v):.0f}" for a, v in pairs]
    path.write_text("\n".join(lines) + "\n")


def _write_marks(path: Path, rng: random.Random) -> None:
    """Semicolons, decimal commas, blanks around and instead of values, dates, free text."""
    head = "Student ID;Birth date;School type;Region;Grade level;Attendance %;Mean mark"
    lines = [f"{head};Household income;Comments;Scholarship;Nationality"]
    for number in range(3_000):
        good = rng.random() < 0.4
        kind = rng.choice(["public", "private", "Public ", "rural public"]) if good else "public"
        region = rng.choice(["North", "South", "Centre", ""])
        birth = f"{rng.randint(1, 28):02d}/{rng.randint(1, 12):02d}/{rng.randint(2006, 2016)}"
        attendance = min(rng.gauss(92 if good else 74, 5), 100)
        mark, income = rng.gauss(7.8 if good else 5.2, 0.8), rng.gauss(30 if good else 12, 4)
        numbers = f"{attendance:.1f};{mark:.2f}".replace(".", ",")
        money = f"{max(income, 1):.3f},50"
        note = rng.choice(["", "", "moved here in March"])
        lines.append(
            f"S{number:05d};{birth};{kind};{region};{rng.randint(1, 6)};{numbers};{money};{note};"
            f"{rng.randint(0, 1)};{rng.choice((1, 1, 41))}"
        )
    path.write_text("\n".join(lines) + "\n")


def _write_people(path: Path, rng: random.Random) -> None:
    lines = ["name,age,town,diagnosis,telephone,steps"]
    towns, ills = ["York", "Rome", "Oslo", "Lyon"], ["asthma", "diabetes", "flu", "none"]
    for number in range(2_000):
        age = min(max(round(rng.gauss(45, 18)), 0), 100)
        known = f"Person {number},{age},{rng.choice(towns)},{rng.choice(ills)}"
        lines.append(f"{known},{rng.choice(('yes', 'no'))},{rng.randint(5, 200) * 100}")
    path.write_text("\n".join(lines) + "\n")


def play(role: str, folder: Path) -> Played:
    """Run a script in a folder as a person at a fresh machine would."""
    write_tables(folder)
    home = folder / ".home"
    home.mkdir()
    script = FOLDER / role
    words = ["bash", "-eu", str(script)]
    if script.suffix == ".cells":
        words = [sys.executable, "-c", PLAYER, str(CELLS), str(script)]
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
        # Where this checkout is not the installed one, as in a second worktree.
        "PYTHONPATH": str(Path(shoal.__file__).parents[1]),
    } | {name: os.environ[name] for name in ("JAVA_HOME", "TMPDIR") if name in os.environ}
    started = time.monotonic()
    done = subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    return Played(done.returncode, done.stdout, time.monotonic() - started)


def expected_of(text: str) -> tuple[list[str], list[str]]:
    """The files that a script must leave, and the texts that it must print."""
    return re.findall(r"^#\? (.*)$", text, re.M), re.findall(r"^#= (.*)$", text, re.M)


if __name__ == "__main__":
    print("| role | commands or cells | names of shoal | seconds |\n|---|---|---|---|")
    for name in sys.argv[1:] or ROLES:
        text = (FOLDER / name).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as place:
            played = play(name, Path(place))
        if played.code:
            print(played.printed)
        counts = f"{len(commands_of(text))} | {len(names_of(text))}"
        print(f"| {name} | {counts} | {played.seconds:.0f} |", flush=True)
