"""Draw the picture of "Architecture": the layers that the import contract names, and the gate.

python tools/layers_picture.py
"""

import tomllib
from pathlib import Path

from shoal.figures.svg import Svg

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "layers.svg"
WIDTH, ROW, TOP, LEFT, SPLIT, RIGHT = 800, 34, 16, 44, 476, 500
GATE = ("privacy", "estimator")  # where the gate is, and through what methods reach it

HOLDS = {
    "errors": "every exception",
    "arrays": "two array types",
    "documents": "YAML and JSON, read strictly",
    "domain": "what is public",
    "randomness": "noise, compute",
    "files": "whole or not at all",
    "privacy": "guarantees, the ledger and its gate, results",
    "figures": "pictures of plain arrays",
    "mechanisms": "noise and proofs",
    "evaluate": "scores",
    "data": "tables in and out",
    "engine": "Rows: the verbs that read people's rows",
    "bounds_check": "rows outside the bounds",
    "estimator": "PrivateEstimator and Spending",
    "perturb": "a local mechanism over a table",
    "synopsis": "private summaries worth publishing alone",
    "anonymize": "k-anonymity",
    "cluster": "groups",
    "planning": "errors to expect",
    "audit": "the adversary",
    "pages": "what each kind of result says; HTML and JSON",
    "experiments": "one file a paper",
    "jobs": "releases, drafts, progress: what faces call",
    "spark_ml": "stages of pyspark.ml pipelines",
    "collector": "reports from devices",
    "verify": "releases checked from outside",
    "cli": "the command line",
}
SIDES = {
    ("errors", "files"): "what everyone may use",
    ("privacy", "privacy"): "the promise",
    ("figures", "figures"): "shown",
    ("mechanisms", "mechanisms"): "noise, scores",
    ("data", "engine"): "rows",
    ("estimator", "cluster"): "methods",
    ("audit", "audit"): "attacked",
    ("pages", "pages"): "shown",
    ("spark_ml", "cli"): "doors",
}


def layers() -> list[list[str]]:
    """The packages of each layer, from what everyone may import to what nobody imports."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = content["tool"]["importlinter"]["contracts"]
    (names,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    rows = [[_package(name) for name in row.split("|")] for row in reversed(names)]
    return [kept for row in rows if (kept := [name for name in row if _exists(name)])]


def picture() -> str:
    """The layers from top to bottom, what each holds, and where rows and noise meet."""
    rows = layers()
    places = {name: i for i, row in enumerate(rows) for name in row}
    bottom = TOP + ROW * len(rows)
    svg = Svg(WIDTH, bottom + 34, "The layers of shoal", _description(rows))
    for i, row in enumerate(rows):
        _draw_row(svg, row, TOP + ROW * i)
    svg.path(f"M22 {bottom - 6}V{TOP + 8}M16 {TOP + 18}L22 {TOP + 6}L28 {TOP + 18}", "frame")
    svg.text(14, (TOP + bottom) / 2, "imports point up", "middle", upwards=True)
    for (first, last), text in SIDES.items():
        top, end = TOP + ROW * places[first] + 5, TOP + ROW * (places[last] + 1) - 5
        svg.path(f"M{RIGHT - 12} {top}h6V{end}h-6", "frame")
        svg.text(RIGHT + 4, (top + end) / 2 + 4, text, "start")
    first, last = (TOP + ROW * places[name] + ROW / 2 for name in GATE)
    svg.path(f"M{RIGHT + 118} {first}H{RIGHT + 132}V{last}H{RIGHT + 118}", "line l2")
    for i, text in enumerate(("Rows and noise meet", "in one line,", "Page.release")):
        svg.text(RIGHT + 142, (first + last) / 2 - 12 + 18 * i, text, "start")
    svg.text(LEFT, bottom + 20, "Packages side by side do not know each other.", "start")
    return svg.render(page=False)


def _draw_row(svg: Svg, row: list[str], top: float) -> None:
    wide = (SPLIT - LEFT) / len(row)
    for i, name in enumerate(row):
        left = LEFT + wide * i
        svg.path(f"M{left + 2} {top + 2}h{wide - 4}v{ROW - 4}h{4 - wide}z", "trough")
        svg.text(left + 10, top + 22, name, "start axis-title")
        if len(row) < 3:
            svg.text(left + 104, top + 22, HOLDS[name], "start")


def _description(rows: list[list[str]]) -> str:
    order = "; ".join(" and ".join(row) for row in rows)
    return (
        f"Packages from top to bottom: {order}. Each imports from those above it only. "
        "Rows and noise meet in one line, Page.release, in privacy."
    )


def _package(written: str) -> str:
    return written.strip(" ()").removeprefix("shoal.")


def _exists(name: str) -> bool:
    path = ROOT / "src" / "shoal" / name
    return path.is_dir() or path.with_suffix(".py").is_file()


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
