"""The page on the thesis' questions gives the verdicts and numbers of the committed run."""

import csv
import re
from pathlib import Path

from shoal.experiments.nd_laplace._advantage import best_advantage

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "thesis-questions.md").read_text(encoding="utf-8")


def test_the_hypotheses_have_the_verdicts_of_the_run():
    path = ROOT / "bench" / "results" / "reproduce" / "nd-laplace" / "claims.csv"
    with path.open(encoding="utf-8", newline="") as file:
        run = [
            (f"H{row['where'].split()[1]}", row["verdict"])
            for row in csv.DictReader(file)
            if row["where"].startswith("Hypothesis")
        ]
    assert re.findall(r"^\| (H\d) \|.*\*\*(.*)\*\* \|$", PAGE, re.MULTILINE) == run


def test_every_question_and_hypothesis_is_answered_by_name_in_order():
    heads = re.findall(r"^##+ ((?:RQ|H)\d)", PAGE, re.MULTILINE)
    assert heads == ["RQ1", "RQ2", "RQ3", "H1", "H2", "H3"]


def test_the_best_advantages_are_those_of_the_integral():
    columns = [int(d) for d in re.search(r"^\| d \|(.*)\|$", PAGE, re.MULTILINE)[1].split("|")]
    for name, distance in (("1", lambda d: 1.0), ("sqrt(d)", lambda d: d**0.5)):
        line = re.search(rf"^\| distance {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)[1]
        assert [float(value) for value in line.split("|")] == [
            round(best_advantage(1.0, distance(d), d), 3) for d in columns
        ]
