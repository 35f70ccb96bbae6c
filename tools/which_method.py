"""Write the measured tables of "Which method for my data?" into its page.

    python tools/which_method.py

Every number comes from a table that was committed under ``bench/results``: by ``shoal reproduce``
(methods, known groups, clusterers) or by a benchmark (k-means, mixed tables, local reports).
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "guides" / "which-method.md"
NEAR = 1.02  # a ratio that is no worse than this times the least counts as good as the least
CENTRES = {
    "ours": "`auto`",
    "adaptive grid repaired": "`adaptive-grid`",
    "hybrid": "`hybrid`",
    "EUGkM": "`uniform-grid`, as published",
    "DPLloyd": "`lloyd`",
}
SHAPES = {
    "auto": "`auto`",
    "block": "`block`",
    "privthrem": "PrivTHREM",
    "privthr": "PrivTHR",
    "privqt": "PrivQT",
    "adaptive-grid baseline": "baseline",
}
SIZES = (  # from small to large, easy to hard
    "iris", "wine", "small, d = 2", "small, d = 4", "small, d = 8", "breast cancer", "d31",
    "blobs, d = 2", "blobs, d = 4", "blobs, d = 8", "imbalanced, d = 2", "imbalanced, d = 8",
    "low rank, d = 20", "one column, d = 10", "unequal 100k, d = 8", "blobs 100k, d = 8",
)  # fmt: skip
FORMS = {"grid": "`LocalGrid`", "rounds": "`LocalRounds`", "no data": "no data at all"}
CLUSTERERS = ("KMeans", "AP", "OPTICS", "DBSCAN, chosen")


def lines_of(name: str) -> list[dict[str, str]]:
    """The rows of a committed table."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose numbers are flush right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *rows])


def marked(values: Sequence[float | None], best: Callable[..., float], digits: int) -> list[str]:
    """Numbers as text, the best in bold."""
    known = [value for value in values if value is not None]
    top = f"{best(known):.{digits}f}" if known else ""
    shown = ["" if value is None else f"{value:.{digits}f}" for value in values]
    return [f"**{text}**" if text and text == top else text for text in shown]


def centres() -> str:
    """Inertia over plain k-means, by set, budget and method."""
    found: dict[tuple[str, float], dict[str, float]] = {}
    for row in lines_of("reproduce/leteo/methods-means.csv"):
        place = (row["data"], float(row["epsilon"]))
        found.setdefault(place, {})[row["method"]] = float(row["ratio"])
    rows = [
        [data, f"{epsilon:g}", *marked([ratios.get(name) for name in CENTRES], min, 2)]
        for (data, epsilon), ratios in found.items()
    ]
    good = sum(ratios["ours"] <= NEAR * min(ratios.values()) for ratios in found.values())
    said = (
        f"`auto` is the best, or within {100 * (NEAR - 1):.0f} % of it, in {good} of "
        f"{len(found)} settings."
    )
    return f"{table(['Set', 'epsilon', *CENTRES.values()], rows)}\n\n{said}"


def enough_rows() -> str:
    """What ``auto`` reaches on sets of several sizes and columns, beside no data."""
    cells: dict[str, dict[str, Any]] = {}
    for row in lines_of("kmeans.csv"):
        if row["method"] == "auto" and row["rules"] == "present" and row["epsilon"] != "":
            own = cells.setdefault(
                row["data"], {"rows": int(row["rows"]), "no data": row["no data"]}
            )
            own[float(row["epsilon"])] = float(row["NICV ratio"])
    both = [(name, cells[name]) for name in SIZES]
    both.sort(key=lambda each: (each[1]["rows"], each[0]))
    rows = [
        [name, f"{own['rows']:,}", f"{own[1.0]:.2f}", f"{own[0.1]:.2f}", _short(own["no data"])]
        for name, own in both
    ]
    return table(["Set", "rows", "epsilon 1", "epsilon 0.1", "no data"], rows)


def _short(value: str) -> str:
    return f"{float(value):.3g}" if value else ""


def mixed() -> str:
    """Cost over the least found, of mixed tables: ours beside k-means on dummy columns."""
    measured = json.loads((RESULTS / "mixed.json").read_text(encoding="utf-8"))
    found: dict[tuple[str, int, float], dict[str, float]] = {}
    for row in measured:
        if row.get("k") == 4 and "way" in row:
            place = (row["set"], row["rows"], row["epsilon"])
            found.setdefault(place, {})[row["way"]] = row["mean"]
            found[place]["no data"] = row["no_data"]
    rows = [
        [name, f"{n:,}", f"{epsilon:g}", *marked([own.get("ours"), own.get("one-hot")], min, 2),
         f"{own['no data']:.2f}"]
        for (name, n, epsilon), own in sorted(found.items(), key=lambda each: each[0][1:])
    ]  # fmt: skip
    head = ["Set", "rows", "epsilon", "`PrivateKPrototypes`", "k-means on dummies", "no data"]
    return table(head, rows)


def shapes() -> str:
    """Agreement with known groups, by set, budget and method."""
    found: dict[tuple[str, float], dict[str, float]] = {}
    plain: dict[str, float] = {}
    for row in lines_of("reproduce/wavecluster/truth-means.csv"):
        if row["method"] == "no noise":
            plain[row["data"]] = float(row["ari"])
        else:
            place = (row["data"], float(row["epsilon"]))
            found.setdefault(place, {})[row["method"]] = float(row["ari"])
    rows = [
        [data, f"{epsilon:g}", *marked([own.get(name) for name in SHAPES], max, 2),
         f"{plain[data]:.2f}"]
        for (data, epsilon), own in found.items()
    ]  # fmt: skip
    best = sum(own["auto"] >= max(own.values()) - 0.02 for own in found.values())
    said = f"`auto` is the best, or within 0.02 of it, in {best} of {len(found)} settings."
    head = ["Set", "epsilon", *SHAPES.values(), "no noise, same grid"]
    return f"{table(head, rows)}\n\n{said}"


def reports() -> str:
    """Inertia over plain k-means from local reports, by table, people and promise."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in lines_of("local_grid.csv"):
        place = tuple(row[name] for name in ("table", "columns", "clusters", "people", "epsilon"))
        found.setdefault(place, {})[row["form"]] = f"{float(row['ratio']):.2f}"
    rows = [
        [name, columns, k, f"{int(people):,}", f"{float(epsilon):g}",
         *(own.get(form, "") for form in FORMS)]
        for (name, columns, k, people, epsilon), own in found.items()
        if set(own) & {"grid", "rounds"}
    ]  # fmt: skip
    return table(["Table", "columns", "k", "people", "epsilon", *FORMS.values()], rows)


def clusterers() -> str:
    """Agreement of clusterers on reports with their own clusters of the rows, over all budgets."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in lines_of("reproduce/nd-laplace/clusterers-means.csv"):
        if float(row["clusters"]) >= 2:  # two labellings of one cluster agree, and say nothing
            own = found.setdefault((row["data"], row["mechanism"]), {})
            own.setdefault(row["clusterer"], []).append(float(row["ami"]))
    rows = [
        [data, mechanism, *marked([_mean(own, name) for name in CLUSTERERS], max, 2)]
        for (data, mechanism), own in found.items()
    ]
    return table(["Table", "sent by", *CLUSTERERS], rows)


def _mean(own: Mapping[str, list[float]], name: str) -> float | None:
    return sum(own[name]) / len(own[name]) if name in own else None


TABLES = {
    "centres": centres,
    "rows": enough_rows,
    "mixed": mixed,
    "shapes": shapes,
    "reports": reports,
    "clusterers": clusterers,
}


def with_tables(page: str) -> str:
    """The page with what stands between its markers written anew."""
    for name, made in TABLES.items():
        begin, end = f"<!-- {name}: by tools/which_method.py -->", f"<!-- {name}: end -->"
        new = f"{begin}\n\n{made()}\n\n{end}"
        page, found = re.subn(f"{begin}.*?{end}", lambda _, new=new: new, page, flags=re.DOTALL)
        assert found == 1, f"the page has no place for the table {name}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
