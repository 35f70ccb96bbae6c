"""Write docs/reproduction.md: every claim, figure and table of the documents, with its verdict.

python tools/reproduction_table.py

It reads the tables that ``shoal reproduce`` wrote and that were committed under
``bench/results/reproduce``.
"""

import csv
import html
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results" / "reproduce"
PAGE = ROOT / "docs" / "reproduction.md"
TITLES = {
    "nd-laplace": "nD-Laplace for privacy-preserving clustering (thesis)",
    "wavecluster": "WaveCluster with differential privacy (report)",
    "leteo": "LETEO: scalable anonymization and private k-means (report)",
    "literature": "The literature that the thesis reviews",
}
GALLERY = {  # figures of these runs, copied to docs/pictures
    "nd-laplace": ("reproduce-figure-6-20", "reproduce-figure-6-19"),
    "wavecluster": ("reproduce-wave-aggregation",),
    "leteo": ("reproduce-leteo-students",),
    "literature": (),
}
HEAD = """\
# What the documents claim

Every claim, figure and table of the documents that shoal grew from, our counterpart, and the
verdict, as [`shoal reproduce`](guides/reproduce.md) gave them. This page is made from
`bench/results/reproduce/` by `tools/reproduction_table.py`; the commands that made those tables are
named below. What was not run is not claimed.
"""


def lines_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cell(text: str) -> str:
    """A text as one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, title in TITLES.items():
        folder = RESULTS / name
        if (folder / "claims.csv").exists():
            parts.append(section(name, title, folder))
    return "\n".join(parts)


def section(name: str, title: str, folder: Path) -> str:
    """One document: its command, its claims, its figures and tables."""
    command = (folder / "command.txt").read_text(encoding="utf-8").strip()
    claims, exhibits = (lines_of(folder / f"{kind}.csv") for kind in ("claims", "exhibits"))
    verdicts = [claim["verdict"] for claim in claims]
    counted = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(sorted(verdicts)))
    note = folder / "note.txt"
    more = f" {note.read_text(encoding='utf-8').strip()}" if note.exists() else ""
    out = [f"## {title}\n", f"Made by `{command}`.{more} Claims: {counted}.\n"]
    out += ["| where | claim | document | ours | verdict |", "|---|---|---|---|---|"]
    for claim in claims:
        shown = (claim[key] for key in ("where", "text", "document", "ours"))
        out.append(f"| {' | '.join(map(cell, shown))} | **{claim['verdict']}** |")
    out += ["", "| figure or table | counterpart |", "|---|---|"]
    out += [f"| {cell(each['number'])} | {counterpart(name, each)} |" for each in exhibits]
    return "\n".join([*out, "", *map(picture, GALLERY[name])]).rstrip() + "\n"


def picture(name: str) -> str:
    """A picture with its own title."""
    svg = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    title = html.unescape(re.search(r"<title[^>]*>([^<]*)</title>", svg)[1])
    return f"![{title}](pictures/{name}.svg)\n"


def counterpart(name: str, exhibit: dict[str, str]) -> str:
    """What stands beside a figure or table here."""
    if exhibit["missing"]:
        return f"none: {cell(exhibit['missing'])}"
    counts = (("figure", int(exhibit["figures"])), ("table", int(exhibit["tables"])))
    many = " and ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in counts if n)
    return f"{cell(exhibit['title'])}: {many or 'text'} on the page of `shoal reproduce {name}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
