"""The options that verbs of the ``shoal`` command share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.jobs.clustering import METHODS

_SPARK_PANEL = "Where rows are read"
_WAVE_PANEL = "For --method wave"

# Of every verb that reads rows or writes a page.
Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A CSV or Parquet file, a folder of Parquet files, or `-` for CSV from standard "
        "input.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        envvar="SHOAL_COLUMNS",
        help="Columns to use, e.g. lat,lon; default: all that the domain describes.",
        show_default=False,
    ),
]
Domain = Annotated[
    Path | None,
    typer.Option(
        envvar="SHOAL_DOMAIN",
        help="YAML file of public bounds and categories.",
        show_default=False,
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(envvar="SHOAL_LEDGER", help="Ledger to write the promise to.", show_default=False),
]
Engine = Annotated[
    Literal["local", "spark"],
    typer.Option(
        envvar="SHOAL_ENGINE",
        help="`spark` reads the rows on a Spark cluster, from any path that Spark reaches, such "
        "as hdfs:// or s3a://.",
        rich_help_panel=_SPARK_PANEL,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="SHOAL_MASTER",
        help="Address of the Spark cluster: spark://host:7077, yarn, k8s://..., local[4], or "
        "sc://host for Spark Connect. Default: what spark-submit or Spark's configuration "
        "says, or this machine.",
        rich_help_panel=_SPARK_PANEL,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", envvar="SHOAL_JSON", help="Print one JSON document instead of text."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", envvar="SHOAL_QUIET", help="Print nothing but errors."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        envvar="SHOAL_SEED",
        help="Repeatable noise: a simulation, which protects nobody.",
        show_default=False,
    ),
]
Title = Annotated[
    str | None, typer.Option(envvar="SHOAL_TITLE", help="Title of the page.", show_default=False)
]
# Without a setting: a refusal is overruled each time anew.
PublishAnyway = Annotated[
    bool,
    typer.Option(
        "--publish-anyway",
        help="Publish groups that cannot be distinguished from noise; whoever sees them is told.",
    ),
]
Publisher = Annotated[
    str | None,
    typer.Option(
        envvar="SHOAL_PUBLISHER",
        help="Name of the publisher, shown on the page.",
        show_default=False,
    ),
]
Curator = Annotated[
    Path | None,
    typer.Option(
        "--curator",
        metavar="FILE",
        envvar="SHOAL_CURATOR",
        help="Also write a page for you only, outside the folder: it adds how many rows were "
        "left out or moved to the edge.",
        show_default=False,
    ),
]

Numbers = Annotated[
    Literal["1.234,5", "1,234.5"] | None,
    typer.Option(
        envvar="SHOAL_NUMBERS",
        help="How numbers are written in the table, if not like 1234.5.",
        show_default=False,
    ),
]

# Of `shoal cluster`; `shoal learn` shares the first few.
MethodName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="SHOAL_METHOD",
        help=f"Method: {'; '.join(f'{name}, {how.description}' for name, how in METHODS.items())}.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--groups",
        metavar="N",
        envvar="SHOAL_GROUPS",
        help="How many groups to find: a number, or a range such as 2-12, or auto, which is that "
        "range, to choose from at no further cost.",
        show_default=False,
    ),
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        envvar="SHOAL_EPSILON",
        help="The budget of this release: smaller hides more.",
        show_default=False,
    ),
]
Delta = Annotated[
    str | None,
    typer.Option(
        envvar="SHOAL_DELTA",
        help="Chance that the promise fails, e.g. 1e-9; default: none. It helps with many "
        "columns: from about 14 at 1e-6, from 30 at 1e-10.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older model.")
]
Entity = Annotated[
    str | None,
    typer.Option(
        envvar="SHOAL_ENTITY",
        help="Column that tells people apart. Default: the domain's, or every row counts as one "
        "person.",
        show_default=False,
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="SHOAL_MAX_ROWS_PER_PERSON",
        help="Most rows kept for each person; the promise covers all of them.",
        show_default=False,
    ),
]
Neighbours = Annotated[
    Literal["add-remove", "replace-one"],
    typer.Option(
        envvar="SHOAL_NEIGHBOURS",
        help="What is hidden: that someone is in the table, or only what their row says.",
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|LIST",
        envvar="SHOAL_NAMES",
        help="Your own titles of the groups, in the order of their numbers: a text file with one "
        "on each line, or a list with commas. TABLE may then be the folder of an earlier run.",
        show_default=False,
    ),
]
PublicNumber = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="SHOAL_N_PUBLIC",
        help="Number of rows, if it is publicly known: a quota, a census.",
        show_default=False,
    ),
]
Drop = Annotated[
    bool,
    typer.Option(
        "--drop",
        envvar="SHOAL_DROP",
        help="Leave out rows that lack a number; otherwise such a table is refused.",
    ),
]
PublicRows = Annotated[
    Path | None,
    typer.Option(
        "--init",
        envvar="SHOAL_INIT",
        help="File of public rows like these to start from, such as last year's open table; never "
        "of the table itself.",
        show_default=False,
    ),
]
Choose = Annotated[
    Literal["simulation", "elbow", "silhouette", "gap"] | None,
    typer.Option(
        envvar="SHOAL_CHOOSE",
        help="How to choose within a range of -k; default: simulation, and elbow for reports.",
        show_default=False,
    ),
]
Variant = Annotated[
    Literal["block", "privqt", "privthr", "privthrem", "baseline"] | None,
    typer.Option(
        envvar="SHOAL_VARIANT",
        help="Where the noise goes: block, the default and best, or a published method.",
        rich_help_panel=_WAVE_PANEL,
        show_default=False,
    ),
]
Cells = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        envvar="SHOAL_CELLS",
        help="Cells along each axis, e.g. 64, or 64,32; chosen without the rows. Default: from "
        "the budget and the number of rows.",
        rich_help_panel=_WAVE_PANEL,
        show_default=False,
    ),
]
Selector = Annotated[
    Literal["auto", "persistence", "percentile", "density", "mass"] | None,
    typer.Option(
        envvar="SHOAL_SELECTOR",
        help="What makes a cell part of a group.",
        rich_help_panel=_WAVE_PANEL,
        show_default=False,
    ),
]
Level = Annotated[
    int | None,
    typer.Option(
        min=0,
        envvar="SHOAL_LEVEL",
        help="How often the grid is halved.",
        rich_help_panel=_WAVE_PANEL,
        show_default=False,
    ),
]
Wavelet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="SHOAL_WAVELET",
        help="Wavelet of PyWavelets; default: haar.",
        rich_help_panel=_WAVE_PANEL,
        show_default=False,
    ),
]
