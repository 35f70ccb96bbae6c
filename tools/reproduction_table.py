"""Write docs/reproduction.md and docs/gallery.md: claims, figures and tables of the documents.

    python tools/reproduction_table.py [FOLDER]

They are made from the tables that ``shoal reproduce`` wrote and that were committed under
``bench/results/reproduce``. With the folder of newer runs, one subfolder a document, their small
tables and the figures of the gallery are copied first.
"""

import csv
import html
import json
import re
import shutil
import sys
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
PICTURES = ROOT / "docs" / "pictures"
GALLERY_PAGE = ROOT / "docs" / "gallery.md"
GALLERY = {  # figures of these runs, by their names there
    "nd-laplace": (
        "figures-3-1-3-2-3-4-3-5-3-7-1", "figure-3-8-1", "figure-3-14-1",
        "figures-6-1-6-2-6-3-1", "figure-6-20-1", "figure-6-20-2", "figure-6-21-1",
        "figure-6-25-table-6-2-1", "section-6-2-at-equal-guarantee-1", "section-6-4-1",
        "hypothesis-3-1", "drafts-figure-5-6-1",
    ),
    "wavecluster": (
        "pictures-1-2-4-1", "picture-3-baseline-result-1", "picture-5-true-wavecluster-1",
        "picture-6-privqt-1", "picture-7-privthr-1", "picture-8-privthrem-1",
        "not-in-the-report-block-noise-1", "dissimilarity-over-epsilon-1",
        "agreement-with-known-groups-1",
    ),
    "leteo": (
        "figure-1-1", "figure-2-1", "figure-3-1", "figure-3-2", "run-time-1",
        "section-4-methods-1",
    ),
    "literature": (),
}  # fmt: skip
GALLERY_HEAD = """\
# Gallery of the documents

Figures of the documents that shoal grew from, drawn again by
[`shoal reproduce`](guides/reproduce.md); what each of them shows is on
[the page of claims](reproduction.md). All are of public or made-up tables. Each command writes
these and many more, in the order of its document.
"""
HEAD = """\
# What the documents claim

Every claim, figure and table of the documents that shoal grew from, our counterpart, and the
verdict, as [`shoal reproduce`](guides/reproduce.md) gave them. This page is made from
`bench/results/reproduce/` by `tools/reproduction_table.py`; the commands that made those tables are
named below. What was not run is not claimed. Figures are in [the gallery](gallery.md).
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
    out = [f"## {title}\n", f"Made by `{command}`. Claims: {counted}.\n"]
    out += ["| where | claim | document | ours | verdict |", "|---|---|---|---|---|"]
    for claim in claims:
        shown = (claim[key] for key in ("where", "text", "document", "ours"))
        out.append(f"| {' | '.join(map(cell, shown))} | **{claim['verdict']}** |")
    out += ["", "| figure or table | counterpart |", "|---|---|"]
    out += [f"| {cell(each['number'])} | {counterpart(name, each)} |" for each in exhibits]
    return "\n".join(out) + "\n"


def gallery() -> str:
    """The page of pictures."""
    parts = [GALLERY_HEAD]
    for document, names in GALLERY.items():
        if names:
            parts.append(f"## {TITLES[document]}\n")
            parts += [picture(document, name) for name in names]
    return "\n".join(parts)


def picture(document: str, name: str) -> str:
    """A picture with its number in the document and its own title."""
    stem = f"reproduce-{document}-{name}"
    svg = (PICTURES / f"{stem}.svg").read_text(encoding="utf-8")
    title = html.unescape(re.search(r"<title[^>]*>([^<]*)</title>", svg)[1])
    return f"### {number_of(document, name)}\n\n![{title}](pictures/{stem}.svg)\n"


def number_of(document: str, name: str) -> str:
    """The number of a figure as the document has it; ours is one of several there."""
    anchor, place = name.rsplit("-", 1)
    for each in lines_of(RESULTS / document / "exhibits.csv"):
        if re.sub(r"[^a-z0-9]+", "-", each["number"].lower()).strip("-") == anchor:
            return f"{each['number']} ({place} of {each['figures']})"
    raise AssertionError(f"{document} has no exhibit {anchor}")


def copy_runs(folder: Path) -> None:
    """Copy the small tables of finished runs, and the figures of the gallery."""
    missing = [name for name in GALLERY if not (folder / name / "report.html").exists()]
    if missing:
        raise SystemExit(f"{folder} has no finished run of {', '.join(missing)}.")
    for old in PICTURES.glob("reproduce-*.svg"):
        old.unlink()
    for name, figures in GALLERY.items():
        run, kept = folder / name, RESULTS / name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for path in sorted((run / "tables").glob("*.csv")):
            if path.stem in ("claims", "exhibits") or path.stem.endswith("-means"):
                shutil.copyfile(path, kept / path.name)
        first = json.loads((run / "cells.jsonl").read_text(encoding="utf-8").splitlines()[0])
        spark = (kept / "spark-times-means.csv").exists()
        words = ["shoal reproduce", name, "--quick" * first["quick"], "--engine spark" * spark]
        (kept / "command.txt").write_text(" ".join(filter(None, words)) + "\n", encoding="utf-8")
        for figure in figures:
            shutil.copyfile(
                run / "figures" / f"{figure}.svg", PICTURES / f"reproduce-{name}-{figure}.svg"
            )


def counterpart(name: str, exhibit: dict[str, str]) -> str:
    """What stands beside a figure or table here."""
    if exhibit["missing"]:
        return f"none: {cell(exhibit['missing'])}"
    counts = (("figure", int(exhibit["figures"])), ("table", int(exhibit["tables"])))
    many = " and ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in counts if n)
    return f"{cell(exhibit['title'])}: {many or 'text'} on the page of `shoal reproduce {name}`"


if __name__ == "__main__":
    if sys.argv[1:]:
        copy_runs(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    GALLERY_PAGE.write_text(gallery(), encoding="utf-8", newline="\n")
