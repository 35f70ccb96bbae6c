"""Write docs/reproduction.md and docs/gallery.md: claims, figures and tables of the documents.

    python tools/reproduction_table.py [FOLDER]

They are made from the tables that ``shoal reproduce`` wrote and that were committed under
``bench/results/reproduce``. With the folder of newer runs, one subfolder a document, the tables of
the parts they ran and the figures of the gallery are copied first, and claims are judged again.
"""

import csv
import html
import json
import re
import shutil
import sys
from pathlib import Path

from shoal.experiments import document_named
from shoal.experiments._results import Results
from shoal.experiments.document import claim_rows
from shoal.pages._reproduction import VERDICTS

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
        "figures-3-1-3-2-3-4-3-5-3-7-1", "figure-3-8-1", "figure-3-13-1", "figure-3-14-1",
        "figures-6-1-6-2-6-3-1", "figure-6-20-1", "figure-6-20-2", "figure-6-21-1",
        "figure-6-25-table-6-2-1", "section-6-2-at-equal-guarantee-1", "section-6-4-1",
        "hypothesis-1-exactly-1", "hypothesis-1-exactly-2", "hypothesis-3-1",
        "drafts-figure-5-6-1",
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

Claims of the documents that shoal grew from, those that can be measured or calculated, and every
figure and table: our counterpart, and the verdict, as [`shoal reproduce`](guides/reproduce.md) gave
them. This page is made from
`bench/results/reproduce/` by `tools/reproduction_table.py`; the commands that made those tables are
named below. What was not run is not claimed. Figures are in [the gallery](gallery.md), and the
thesis' questions and hypotheses are answered [by name](thesis-questions.md).

A claim is quoted in the document's own words, with what was tested beside it, which is our reading.
What counts as a difference that matters stands beside it, and in the code before any new run. (It
was set when most tables of the thesis and of LETEO had been measured already; dissimilarities of
WaveCluster were drawn 36 times after 12 draws had left one set unclear, PrivTHREM was compared with
its baseline on draws that were there, and the report's own index took the place of a stricter one
on the same draws. Its threshold as printed and the second reading of its baseline's noise were
decided on when 12 draws of them had been seen.) One rule judges all: a claim **holds** if every
setting speaks for it (of something that "can" happen: if one does), it **does not hold** if more
speak against it than for it or none shows a difference that matters (of something that "can"
happen: only if no setting is unclear), and **cannot be told here** where what is clear does not
suffice. Between these it **holds in part**, and the line says where. An equality does not speak for
"less" or "more". What is clear is judged by Student's t for the number of draws and allows for how
many settings are compared; beside means stand two standard errors. An audit can refute a promise of
privacy and never prove it: what holds there, holds by a proof.
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
    return "\n".join(
        [HEAD, counts(), *(section(name, title, RESULTS / name) for name, title in TITLES.items())]
    )


def counts() -> str:
    """How many claims of each document have each verdict."""
    out = [f"| document | {' | '.join(VERDICTS)} |", "|---|" + "---|" * len(VERDICTS)]
    for name, title in TITLES.items():
        verdicts = [claim["verdict"] for claim in lines_of(RESULTS / name / "claims.csv")]
        out.append(f"| {title} | {' | '.join(str(verdicts.count(v)) for v in VERDICTS)} |")
    return "\n".join(out) + "\n"


def section(name: str, title: str, folder: Path) -> str:
    """One document: its command, its claims, its figures and tables."""
    command = (folder / "command.txt").read_text(encoding="utf-8").strip()
    claims, exhibits = (lines_of(folder / f"{kind}.csv") for kind in ("claims", "exhibits"))
    out = [f"## {title}\n", f"Made by `{command}`. How it was run:\n"]
    out += [*(f"- {each}" for each in document_named(name).setting(False)), ""]
    out += ["| where | verdict | its words, and what was tested | there | ours |",
            "|---|---|---|---|---|"]  # fmt: skip
    out += [line_of(claim) for claim in claims]
    out += ["", "| figure or table | counterpart |", "|---|---|"]
    out += [f"| {cell(each['number'])} | {counterpart(name, each)} |" for each in exhibits]
    return "\n".join(out) + "\n"


def line_of(claim: dict[str, str]) -> str:
    """A claim as a line of the table."""
    where = f"{claim['where']} ({claim['source']})"
    tested = f'"{claim["quote"]}" Tested: {claim["text"]}'
    if claim["margin"]:
        tested += f" What matters: {claim['margin']}."
    ours = " ".join(filter(None, (claim["ours"], claim["reason"] and f"({claim['reason']})")))
    verdict = " ".join(filter(None, (f"**{claim['verdict']}**", claim["detail"])))
    return f"| {' | '.join(map(cell, (where, verdict, tested, claim['document'], ours)))} |"


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
    """Copy the small tables of newer runs, and the figures of the gallery that they drew."""
    for name, figures in GALLERY.items():
        run, kept = folder / name, RESULTS / name
        if not (run / "report.html").exists():
            continue
        old = lines_of(kept / "exhibits.csv") if kept.exists() else []
        kept.mkdir(parents=True, exist_ok=True)
        for path in sorted((run / "tables").glob("*-means.csv")):
            shutil.copyfile(path, kept / path.name)
        new = lines_of(run / "tables" / "exhibits.csv")
        write(kept / "exhibits.csv", with_former(new, old))
        write_command(run, kept)
        for figure in figures:
            path = run / "figures" / f"{figure}.svg"
            if path.exists():
                shutil.copyfile(path, PICTURES / f"reproduce-{name}-{figure}.svg")


def with_former(new: list[dict[str, str]], old: list[dict[str, str]]) -> list[dict[str, str]]:
    """Exhibits of a run, and those of former ones for parts that were not run again."""
    former = {line["number"]: line for line in old}
    return [
        former.get(line["number"], line) if line["missing"].startswith("Not run") else line
        for line in new
    ]


def write_command(run: Path, kept: Path) -> None:
    """Write the command that makes these tables."""
    first = json.loads((run / "cells.jsonl").read_text(encoding="utf-8").splitlines()[0])
    spark = (kept / "spark-times-means.csv").exists()
    words = ["shoal reproduce", kept.name, "--quick" * first["quick"], "--engine spark" * spark]
    (kept / "command.txt").write_text(" ".join(filter(None, words)) + "\n", encoding="utf-8")


def judged(name: str) -> list[dict[str, str]]:
    """The claims of a document, from the tables that were committed."""
    return claim_rows(document_named(name).judge(Results.of_tables(RESULTS / name), False))


def write(path: Path, lines: list[dict[str, str]]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


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
    for document in TITLES:
        write(RESULTS / document / "claims.csv", judged(document))
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    GALLERY_PAGE.write_text(gallery(), encoding="utf-8", newline="\n")
