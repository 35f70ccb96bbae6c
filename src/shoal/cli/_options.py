"""The options that verbs of the ``shoal`` command share."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shoal.jobs import METHODS
from shoal.jobs.reports import Name

_SPARK_PANEL = "Where rows are read"
_WAVE_PANEL = "For --method wave"
_METHODS = "; ".join(f"{name}, {method.description}" for name, method in METHODS.items())

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
        "--domain",
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

Numbers = Annotated[
    Literal["1.234,5", "1,234.5"] | None,
    typer.Option(
        envvar="SHOAL_NUMBERS",
        help="How numbers are written in the table, if not like 1234.5.",
        show_default=False,
    ),
]

# Of several verbs that find groups.
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
Folder = Annotated[
    Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older model.")
]
Choose = Annotated[
    Literal["simulation", "elbow", "silhouette", "gap"] | None,
    typer.Option(
        envvar="SHOAL_CHOOSE",
        help="How to choose within a range of -k; default: simulation, and elbow for reports.",
        show_default=False,
    ),
]

# Of verbs that write a page of verdicts, and of those about a policy.
Page = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        envvar="SHOAL_OUTPUT",
        help="Page (.html) or document (.json) to write.",
        show_default=False,
    ),
]
PrivatePage = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        envvar="SHOAL_OUTPUT",
        help="Page (.html) or document (.json) to write, readable by you only.",
        show_default=False,
    ),
]
OverwriteFile = Annotated[
    bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older file.")
]
OverwriteFiles = Annotated[
    bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace older files.")
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy", envvar="SHOAL_POLICY", help="The policy's YAML file.", show_default=False
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        envvar="SHOAL_EXPLAIN",
        help="Also explain what k-anonymity does not cover, and why each column is as general as "
        "it is.",
    ),
]
Population = Annotated[
    Path | None,
    typer.Option(
        envvar="SHOAL_POPULATION",
        help="A table of the population, one row per person, for the journalist's risk.",
        show_default=False,
    ),
]

# The options of each verb in the order of their help, by the name of what they set: a parameter of
# the verb, or a field of its request.
CLUSTER: dict[str, Any] = {
    "table": Annotated[
        str,
        typer.Argument(
            metavar="[TABLE]",
            help="A CSV or Parquet file, a folder of Parquet files, or `-` for CSV from standard "
            "input; left out with --features.",
            show_default=False,
        ),
    ],
    "features": Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="SHOAL_FEATURES",
            help="A features file: one row a person is made from the tables it names.",
            show_default=False,
        ),
    ],
    "method": Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_METHOD",
            help=f"Method: {_METHODS}.",
        ),
    ],
    "groups": Groups,
    "epsilon": Epsilon,
    "delta": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_DELTA",
            help="Chance that the promise fails, e.g. 1e-9; default: none. It helps with many "
            "columns: from 6 to 14 at 1e-6, from 13 to 30 at 1e-10.",
            show_default=False,
        ),
    ],
    "columns": Columns,
    "domain_file": Domain,
    "output": Folder,
    "overwrite": Overwrite,
    "curator": Annotated[
        Path | None,
        typer.Option(
            "--curator",
            metavar="FILE",
            envvar="SHOAL_CURATOR",
            help="Also write a page for you only, outside the folder: it adds how many rows were "
            "left out or moved to the edge.",
            show_default=False,
        ),
    ],
    "person": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_PERSON",
            help="Column that tells people apart. Default: the domain's, or every row counts as "
            "one person.",
            show_default=False,
        ),
    ],
    "max_rows_per_person": Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_MAX_ROWS_PER_PERSON",
            help="Most rows kept for each person; the promise covers all of them.",
            show_default=False,
        ),
    ],
    "neighbours": Annotated[
        Literal["add-remove", "replace-one"],
        typer.Option(
            envvar="SHOAL_NEIGHBOURS",
            help="What is hidden: that someone is in the table, or only what their row says.",
        ),
    ],
    "n_public": Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_N_PUBLIC",
            help="Number of rows, if it is publicly known: a quota, a census.",
            show_default=False,
        ),
    ],
    "drop": Annotated[
        bool,
        typer.Option(
            "--drop",
            envvar="SHOAL_DROP",
            help="Leave out rows that lack a number; otherwise such a table is refused.",
        ),
    ],
    "choose": Choose,
    "start": Annotated[
        Path | None,
        typer.Option(
            "--init",
            envvar="SHOAL_INIT",
            help="File of public rows like these to start from, such as last year's open table; "
            "never of the table itself.",
            show_default=False,
        ),
    ],
    "title": Title,
    "publisher": Publisher,
    "publish_anyway": PublishAnyway,
    "names": Annotated[
        str | None,
        typer.Option(
            metavar="FILE|LIST",
            envvar="SHOAL_NAMES",
            help="Your own titles of the groups: a text file with one on each line, or a list with "
            "commas, in the order of their numbers; or each after its number, as in "
            "`3: commuters`. TABLE may then be the folder of an earlier run.",
            show_default=False,
        ),
    ],
    "variant": Annotated[
        Literal["block", "privqt", "privthr", "privthrem", "baseline"] | None,
        typer.Option(
            envvar="SHOAL_VARIANT",
            help="Where the noise goes: block, the default and best, or a published method.",
            rich_help_panel=_WAVE_PANEL,
            show_default=False,
        ),
    ],
    "cells": Annotated[
        str | None,
        typer.Option(
            metavar="N",
            envvar="SHOAL_CELLS",
            help="Cells along each axis, e.g. 64, or 64,32; chosen without the rows. Default: from "
            "the budget and the number of rows.",
            rich_help_panel=_WAVE_PANEL,
            show_default=False,
        ),
    ],
    "selector": Annotated[
        Literal["auto", "persistence", "percentile", "density", "mass"] | None,
        typer.Option(
            envvar="SHOAL_SELECTOR",
            help="What makes a cell part of a group.",
            rich_help_panel=_WAVE_PANEL,
            show_default=False,
        ),
    ],
    "level": Annotated[
        int | None,
        typer.Option(
            min=0,
            envvar="SHOAL_LEVEL",
            help="How often the grid is halved.",
            rich_help_panel=_WAVE_PANEL,
            show_default=False,
        ),
    ],
    "wavelet": Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_WAVELET",
            help="Wavelet of PyWavelets; default: haar.",
            rich_help_panel=_WAVE_PANEL,
            show_default=False,
        ),
    ],
    "engine": Engine,
    "master": Master,
    "numbers": Numbers,
    "ledger": LedgerFile,
    "seed": Seed,
}
PERTURB: dict[str, Any] = {
    "table": Table,
    "mechanism": Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_MECHANISM",
            help=f"Mechanism: {', '.join(Name)}. `auto` is for learning groups under one limit for "
            "all pairs of rows: local-grid up to three columns of numbers, rounds else.",
        ),
    ],
    "epsilon": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_EPSILON",
            help="The budget of one report: smaller hides more. Per unit of distance for the "
            "Laplace family, per kilometre with `geo`.",
            show_default=False,
        ),
    ],
    "columns": Columns,
    "domain_file": Domain,
    "output": Annotated[
        str,
        typer.Option(
            "--output", "-o", envvar="SHOAL_OUTPUT", help="File to write: .parquet, .csv, .csv.gz."
        ),
    ],
    "overwrite": Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace older reports.")
    ],
    "person": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_PERSON",
            help="Column that tells people apart: each person is reported once, by one of their "
            "rows. Default: the domain's `person`, or every row counts as one person.",
            show_default=False,
        ),
    ],
    "keep_order": Annotated[
        bool,
        typer.Option(
            "--keep-order",
            envvar="SHOAL_KEEP_ORDER",
            help="Keep the order: report i is row i. By default reports are shuffled, because a "
            "row's place can reveal it.",
        ),
    ],
    "clip": Annotated[
        bool,
        typer.Option(
            "--clip", envvar="SHOAL_CLIP", help="Move rows outside the bounds to the nearest bound."
        ),
    ],
    "remap": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_REMAP",
            help="Applied to the reports at no cost: `clamp` moves them into the bounds, "
            "`snap:N` to the nearest of N nodes along each axis, `bayes` to the best guess of "
            "their rows, given what all reports say (Laplace noise only). Groups are learnt from "
            "reports without one.",
            show_default=False,
        ),
    ],
    "scale": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_SCALE",
            help="What counts as one unit of distance in each column: numbers, e.g. 10,0.5, or "
            "`box` for half the bounds' sides.",
            show_default=False,
        ),
    ],
    "lattice": Annotated[
        str, typer.Option(envvar="SHOAL_LATTICE", help="Step to which reports are rounded.")
    ],
    "cells": Annotated[
        str,
        typer.Option(
            envvar="SHOAL_CELLS",
            help="Cells of local-grid along each axis: 12, or 12,8. Default: from the number of "
            "rows.",
        ),
    ],
    "groups": Annotated[
        str | None,
        typer.Option(
            "-k",
            "--groups",
            metavar="N",
            help="How many groups will be looked for: rounds ask about so many, and local-grid "
            "chooses its cells by it.",
            show_default=False,
        ),
    ],
    "engine": Engine,
    "master": Master,
    "ledger": LedgerFile,
    "seed": Seed,
}

AUDIT: dict[str, Any] = {
    "method": Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A mechanism, an estimator or a broken twin of shoal, e.g. nd-laplace, kmeans; "
            "or `mechanisms`, `estimators` or `twins` for all of them.",
            show_default=False,
        ),
    ],
    "epsilon": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_EPSILON",
            help="The claimed epsilon, with which a case is set up; default: the case's own. "
            "With --python and no epsilon, the loss is measured and compared with nothing.",
            show_default=False,
        ),
    ],
    "delta": Annotated[
        float,
        typer.Option(envvar="SHOAL_DELTA", help="Delta of the claim, for --python."),
    ],
    "python": Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            envvar="SHOAL_PYTHON",
            help="Your own mechanism: a function of an input, or of an input and a NumPy "
            "generator, or an object with release(value, rng).",
            show_default=False,
        ),
    ],
    "pair": Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            envvar="SHOAL_PAIR",
            help="For --python: two inputs that the claim compares, as a JSON list.",
            show_default=False,
        ),
    ],
    "made_up": Annotated[
        bool,
        typer.Option(
            "--made-up",
            envvar="SHOAL_MADE_UP",
            help="The pair belongs to nobody: the result may name it, and may be passed on.",
        ),
    ],
    "replay": Annotated[
        bool,
        typer.Option(
            "--replay",
            envvar="SHOAL_REPLAY",
            help="Compute the exact loss of whole fits on neighbouring tables, for an estimator "
            "of shoal or one named by --python.",
        ),
    ],
    "pairs": Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_PAIRS",
            help="For --replay: how many pairs of made-up tables; default 24.",
            show_default=False,
        ),
    ],
    "draws": Annotated[
        int | None,
        typer.Option(
            min=1000,
            envvar="SHOAL_DRAWS",
            help="Outputs per input; default: the case's own number, 20,000 for --python.",
            show_default=False,
        ),
    ],
    "alpha": Annotated[
        float,
        typer.Option(
            envvar="SHOAL_ALPHA",
            help="Chance of calling something correct violated, over all audits together.",
        ),
    ],
    "seed": Annotated[
        int | None,
        typer.Option(
            min=0,
            envvar="SHOAL_SEED",
            help="Seed of the draws; default: a new one, which is printed.",
            show_default=False,
        ),
    ],
    "output": Page,
    "overwrite": OverwriteFile,
    "names": Annotated[bool, typer.Option("--list", help="List what can be audited.")],
}
PLAN: dict[str, Any] = {
    "model": Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A folder that `shoal cluster` wrote: what would another budget have done? Left "
            "out, the plan is made of public facts alone.",
            show_default=False,
        ),
    ],
    "groups": Annotated[
        int | None,
        typer.Option(
            "-k",
            "--groups",
            min=1,
            envvar="SHOAL_GROUPS",
            help="How many groups will be looked for.",
            show_default=False,
        ),
    ],
    "domain": Domain,
    "columns": Columns,
    "n_expected": Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_N_EXPECTED",
            help="How many rows are expected, as far as that is publicly known.",
            show_default=False,
        ),
    ],
    "epsilon": Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            envvar="SHOAL_EPSILON",
            help="Budgets to try, e.g. 0.5,1,2. Default: 0.05 to 5, for reports 1 to 8.",
            show_default=False,
        ),
    ],
    "within": Annotated[
        float,
        typer.Option(
            envvar="SHOAL_WITHIN",
            help="Wanted error of nine in ten coordinates, in % of the range.",
        ),
    ],
    "shape": Annotated[
        Literal["clear", "near", "touching"] | None,
        typer.Option(
            envvar="SHOAL_SHAPE",
            help="How the groups lie, if that is known: it narrows the band.",
            show_default=False,
        ),
    ],
    "trust": Annotated[
        Literal["central", "local", "both"],
        typer.Option(
            envvar="SHOAL_TRUST",
            help="Who holds the rows: a curator, nobody (reports only), or a plan for both.",
        ),
    ],
    "output": Page,
    "overwrite": OverwriteFile,
    "seed": Annotated[
        int, typer.Option(min=0, envvar="SHOAL_SEED", help="Seed of made-up tables and fits.")
    ],
}
EVALUATE: dict[str, Any] = {
    "model": Annotated[
        Path, typer.Argument(metavar="MODEL", help="A folder that `shoal cluster` wrote.")
    ],
    "against": Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            envvar="SHOAL_AGAINST",
            help="The rows: a CSV or Parquet file, a folder of Parquet files, or `-`.",
            show_default=False,
        ),
    ],
    "labels": Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            envvar="SHOAL_LABELS",
            help="Column of the table that holds the true groups. Default: the groups of plain "
            "k-means (or k-prototypes) on the rows, as many as the model has.",
            show_default=False,
        ),
    ],
    "columns": Columns,
    "sample_rows": Annotated[
        int,
        typer.Option(
            min=2,
            envvar="SHOAL_SAMPLE_ROWS",
            help="Number of rows to score on, drawn at random if there are more.",
        ),
    ],
    "controls": Annotated[
        int,
        typer.Option(
            min=0,
            envvar="SHOAL_CONTROLS",
            help="Number of runs of the method without data, scored as controls; 0 for none.",
        ),
    ],
    "output": PrivatePage,
    "overwrite": OverwriteFile,
    "seed": Annotated[
        int,
        typer.Option(
            min=0, envvar="SHOAL_SEED", help="Seed of the draws; the model does not change."
        ),
    ],
    "engine": Engine,
    "master": Master,
}
MEMBERSHIP: dict[str, Any] = {
    "table": Table,
    "method": Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_METHOD",
            help="What is attacked: a method of `shoal cluster`, or plain, k-means without noise.",
        ),
    ],
    "groups": Annotated[
        str | None,
        typer.Option(
            "-k",
            "--groups",
            metavar="N",
            envvar="SHOAL_GROUPS",
            help="How many groups the model has.",
            show_default=False,
        ),
    ],
    "epsilon": Annotated[
        str | None,
        typer.Option(envvar="SHOAL_EPSILON", help="Budget of the model.", show_default=False),
    ],
    "columns": Columns,
    "domain": Domain,
    "by": Annotated[
        Literal["lira", "shadow", "art"],
        typer.Option(
            envvar="SHOAL_BY",
            help="lira: likelihood ratios, the strongest. shadow: shadow models and a forest. art: "
            "the same through the Adversarial Robustness Toolbox.",
        ),
    ],
    "sample_rows": Annotated[
        int,
        typer.Option(
            min=160,
            envvar="SHOAL_SAMPLE_ROWS",
            help="Number of rows to attack, drawn at random if there are more.",
        ),
    ],
    "shadows": Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_SHADOWS",
            help="Number of shadow models; default: 64 for lira, otherwise 3 per game.",
            show_default=False,
        ),
    ],
    "repeats": Annotated[
        int, typer.Option(min=1, envvar="SHOAL_REPEATS", help="Number of models attacked.")
    ],
    "alpha": Annotated[
        float, typer.Option(envvar="SHOAL_ALPHA", help="Significance level of the verdict.")
    ],
    "seed": Annotated[
        int, typer.Option(min=0, envvar="SHOAL_SEED", help="Seed of all random draws.")
    ],
    "output": PrivatePage,
    "overwrite": OverwriteFile,
    "engine": Engine,
    "master": Master,
}
LINKAGE: dict[str, Any] = {
    "released": Annotated[Path, typer.Argument(help="The released table.")],
    "raw": Annotated[Path, typer.Option(envvar="SHOAL_RAW", help="The original table.")],
    "policy": Annotated[
        Path, typer.Option(envvar="SHOAL_POLICY", help="The policy it was released under.")
    ],
    "second": Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_SECOND",
            help="The adversary's file: one row per person, with the quasi-identifiers in "
            "columns of the same names. Default: the original table, for an adversary who "
            "knows everyone.",
            show_default=False,
        ),
    ],
    "column": Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_COLUMN",
            help="Also guess this column for everyone, compared with guesses made without the "
            "table.",
            show_default=False,
        ),
    ],
    "seed": Annotated[int, typer.Option(min=0, envvar="SHOAL_SEED", help="Seed of the guesses.")],
    "output": PrivatePage,
    "overwrite": OverwriteFile,
}
ANONYMIZE: dict[str, Any] = {
    "policy": PolicyFile,
    "dry_run": Annotated[
        bool,
        typer.Option(
            "--dry-run",
            envvar="SHOAL_DRY_RUN",
            help="Check policy, hierarchies and table, and write nothing.",
        ),
    ],
    "explain": Explain,
    "population": Population,
    "title": Title,
    "publisher": Publisher,
    "overwrite": OverwriteFiles,
    "engine": Engine,
    "master": Master,
}
ANONYMIZE_APPLY: dict[str, Any] = {
    "policy": PolicyFile,
    "cut": Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_CUT",
            help="The manifest of the first release, whose cut is kept.",
            show_default=False,
        ),
    ],
    "new_people": Annotated[
        bool,
        typer.Option(
            # Without a setting: it is about one table, not about all to come.
            "--new-people",
            help="State that nobody in this table was in an earlier release. Needed where people "
            "cannot be compared; manifest and pages say so.",
        ),
    ],
    "explain": Explain,
    "population": Population,
    "title": Title,
    "publisher": Publisher,
    "overwrite": OverwriteFiles,
    "engine": Engine,
    "master": Master,
}
ANONYMIZE_CHECK: dict[str, Any] = {
    "table": Table,
    "policy": PolicyFile,
    "engine": Engine,
    "master": Master,
}
ANONYMIZE_INIT: dict[str, Any] = {
    "table": Table,
    "output": Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="The policy to write; `-` for standard output.",
        ),
    ],
    "k": Annotated[
        int | None,
        typer.Option(
            "-k",
            min=2,
            envvar="SHOAL_K",
            help="The number of people that share every combination.",
            show_default=False,
        ),
    ],
    "overwrite": OverwriteFiles,
    "engine": Engine,
    "master": Master,
}
ANONYMIZE_EXPLORE: dict[str, Any] = {
    "policy": PolicyFile,
    "output": Annotated[
        Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="The page to write.")
    ],
    "k": Annotated[str, typer.Option("-k", envvar="SHOAL_EXPLORE_K", help="Values of k to try.")],
    "suppression": Annotated[
        str,
        typer.Option(
            envvar="SHOAL_EXPLORE_SUPPRESSION", help="Shares of rows that may be left out."
        ),
    ],
    "recoding": Annotated[
        str, typer.Option(envvar="SHOAL_EXPLORE_RECODING", help="Kinds of recoding to try.")
    ],
    "overwrite": OverwriteFiles,
    "engine": Engine,
    "master": Master,
}
ANONYMIZE_UTILITY: dict[str, Any] = {
    "policy": PolicyFile,
    "target": Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_TARGET", help="The column that analysts predict.", show_default=False
        ),
    ],
    "engine": Engine,
    "master": Master,
}


def takes(*requests: type, options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Any]:
    """Give a verb the options of a table, and hand it the dataclasses that some of them fill.

    Names, types and help of the options are those of the table. Those that are fields of a
    dataclass come first, in the order of the table, with the fields' defaults; the others are
    parameters of the verb.

    Parameters
    ----------
    *requests
        The dataclasses, in the order of the verb's first parameters.
    """
    known = {each.name: each for kind in requests for each in fields(kind) if each.name in options}
    of_kind = [[each.name for each in fields(kind) if each.name in options] for kind in requests]
    of_fields = [_parameter(known[name], options[name]) for name in options if name in known]

    def decorate(verb: Callable[..., None]) -> Any:
        @wraps(verb)
        def run(**given: Any) -> None:
            filled = [
                kind(**{name: given.pop(name) for name in names})
                for kind, names in zip(requests, of_kind, strict=True)
            ]
            verb(*filled, **given)

        rest = [*signature(verb).parameters.values()][len(requests) :]
        if unknown := options.keys() - known.keys() - {each.name for each in rest}:
            raise TypeError(f"{verb.__name__} has no parameter {', '.join(sorted(unknown))}.")
        own = [_own_parameter(each, options) for each in rest]
        run.__signature__ = Signature([*of_fields, *own])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*of_fields, *own)}
        return run

    return decorate


def _parameter(field: "Field[Any]", annotation: Any) -> Parameter:
    default = Parameter.empty if field.default is MISSING else field.default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _own_parameter(given: Parameter, options: Mapping[str, Any]) -> Parameter:
    annotation = options.get(given.name, given.annotation)
    return given.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation)
