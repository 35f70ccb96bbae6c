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
FeaturesPeriod = Annotated[
    str | None,
    typer.Option(
        "--period",
        metavar="FROM:UNTIL",
        envvar="SHOAL_PERIOD",
        help="Another period than the features file's: 2026-03-02:2026-12-14, or a year.",
        show_default=False,
    ),
]
FeaturesTables = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=PATH",
        help="Another path of a table of the features file; may be repeated. `people` is the table "
        "of people.",
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

Sign = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        metavar="KEY",
        envvar="SHOAL_SIGN",
        help="Private key, from `shoal keys new`, to sign the release with.",
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


class _Option:
    """An option of a verb, before it has the name of what it sets."""

    def __init__(self, kind: Any, help: str, *flags: str, **settings: Any) -> None:
        self.kind, self.help, self.flags, self.settings = kind, help, flags, settings

    def named(self, name: str) -> Any:
        """Return the option as Typer reads it, with its name as a setting of the environment."""
        settings: dict[str, Any] = {"envvar": f"SHOAL_{name.upper()}", "show_default": False}
        settings |= self.settings
        return Annotated[self.kind, typer.Option(*self.flags, help=self.help, **settings)]


def _named(**options: Any) -> dict[str, Any]:
    """Return a table of options by the name of what each sets."""
    return {
        name: option.named(name) if isinstance(option, _Option) else option
        for name, option in options.items()
    }


# The options of each verb in the order of their help, by the name of what they set: a parameter of
# the verb, or a field of its request.
CLUSTER: dict[str, Any] = _named(
    table=Annotated[
        str,
        typer.Argument(
            metavar="[TABLE]",
            help="A CSV or Parquet file, a folder of Parquet files, or `-` for CSV from standard "
            "input; left out with --features.",
            show_default=False,
        ),
    ],
    features=_Option(
        Path | None,
        "A features file: one row a person is made from the tables it names.",
        metavar="FILE",
    ),
    period=FeaturesPeriod,
    replaced=FeaturesTables,
    method=_Option(str, f"Method: {_METHODS}.", metavar="NAME", show_default=True),
    groups=Groups,
    epsilon=Epsilon,
    delta=_Option(
        str | None,
        "Chance that the promise fails, e.g. 1e-9; default: none. It helps with many "
        "columns: from 6 to 14 at 1e-6, from 13 to 30 at 1e-10.",
    ),
    columns=Columns,
    domain_file=Domain,
    output=Folder,
    overwrite=Overwrite,
    curator=_Option(
        Path | None,
        "Also write a page for you only, outside the folder: it adds how many rows were "
        "left out or moved to the edge.",
        "--curator",
        metavar="FILE",
    ),
    person=_Option(
        str | None,
        "Column that tells people apart. Default: the domain's, or every row counts as one person.",
    ),
    max_rows_per_person=_Option(
        int | None, "Most rows kept for each person; the promise covers all of them.", min=1
    ),
    neighbours=_Option(
        Literal["add-remove", "replace-one"],
        "What is hidden: that someone is in the table, or only what their row says.",
        show_default=True,
    ),
    n_public=_Option(
        int | None, "Number of rows, if it is publicly known: a quota, a census.", min=1
    ),
    drop=_Option(
        bool,
        "Leave out rows that lack a number; otherwise such a table is refused.",
        "--drop",
        show_default=True,
    ),
    accept_clipping=_Option(
        bool,
        "Go on where many rows lie outside the bounds; the page then says so. Otherwise such a run "
        "stops, and most of the budget is not spent.",
        "--accept-clipping",
        show_default=True,
    ),
    choose=Choose,
    start=_Option(
        Path | None,
        "File of public rows like these to start from, such as last year's open table; "
        "never of the table itself.",
        "--init",
        envvar="SHOAL_INIT",
    ),
    title=Title,
    publisher=Publisher,
    publish_anyway=PublishAnyway,
    names=_Option(
        str | None,
        "Your own titles of the groups: a text file with one on each line, or a list with "
        "commas, in the order of their numbers; or each after its number, as in "
        "`3: commuters`. TABLE may then be the folder of an earlier run.",
        metavar="FILE|LIST",
    ),
    variant=_Option(
        Literal["block", "privqt", "privthr", "privthrem", "baseline"] | None,
        "Where the noise goes: block, the default and best, or a published method.",
        rich_help_panel=_WAVE_PANEL,
    ),
    cells=_Option(
        str | None,
        "Cells along each axis, e.g. 64, or 64,32; chosen without the rows. Default: from "
        "the budget and the number of rows.",
        metavar="N",
        rich_help_panel=_WAVE_PANEL,
    ),
    selector=_Option(
        Literal["auto", "persistence", "percentile", "density", "mass"] | None,
        "What makes a cell part of a group.",
        rich_help_panel=_WAVE_PANEL,
    ),
    level=_Option(int | None, "How often the grid is halved.", min=0, rich_help_panel=_WAVE_PANEL),
    wavelet=_Option(
        str | None,
        "Wavelet of PyWavelets; default: haar.",
        metavar="NAME",
        rich_help_panel=_WAVE_PANEL,
    ),
    engine=Engine,
    master=Master,
    numbers=Numbers,
    ledger=LedgerFile,
    seed=Seed,
    sign=Sign,
)
PERTURB: dict[str, Any] = _named(
    table=Table,
    mechanism=_Option(
        str,
        f"Mechanism: {', '.join(Name)}. `auto` is for learning groups under one limit for "
        "all pairs of rows: local-grid up to three columns of numbers, rounds else.",
        metavar="NAME",
        show_default=True,
    ),
    epsilon=_Option(
        str | None,
        "The budget of one report: smaller hides more. Per unit of distance for the "
        "Laplace family, per kilometre with `geo`.",
    ),
    columns=Columns,
    domain_file=Domain,
    output=_Option(
        str, "File to write: .parquet, .csv, .csv.gz.", "--output", "-o", show_default=True
    ),
    overwrite=_Option(bool, "Replace older reports.", "--overwrite", show_default=True),
    person=_Option(
        str | None,
        "Column that tells people apart: each person is reported once, by one of their "
        "rows. Default: the domain's `person`, or every row counts as one person.",
    ),
    keep_order=_Option(
        bool,
        "Keep the order: report i is row i. By default reports are shuffled, because a "
        "row's place can reveal it.",
        "--keep-order",
        show_default=True,
    ),
    clip=_Option(
        bool, "Move rows outside the bounds to the nearest bound.", "--clip", show_default=True
    ),
    remap=_Option(
        str | None,
        "Applied to the reports at no cost: `clamp` moves them into the bounds, "
        "`snap:N` to the nearest of N nodes along each axis, `bayes` to the best guess of "
        "their rows, given what all reports say (Laplace noise only). Groups are learnt from "
        "reports without one.",
    ),
    scale=_Option(
        str | None,
        "What counts as one unit of distance in each column: numbers, e.g. 10,0.5, or "
        "`box` for half the bounds' sides.",
    ),
    lattice=_Option(str, "Step to which reports are rounded.", show_default=True),
    cells=_Option(
        str,
        "Cells of local-grid along each axis: 12, or 12,8. Default: from the number of rows.",
        show_default=True,
    ),
    groups=_Option(
        str | None,
        "How many groups will be looked for: rounds ask about so many, and local-grid "
        "chooses its cells by it.",
        "-k",
        "--groups",
        metavar="N",
        envvar=None,
    ),
    engine=Engine,
    master=Master,
    ledger=LedgerFile,
    seed=Seed,
    sign=Sign,
)

AUDIT: dict[str, Any] = _named(
    method=Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A mechanism, an estimator or a broken twin of shoal, e.g. nd-laplace, kmeans; "
            "or `mechanisms`, `estimators` or `twins` for all of them.",
            show_default=False,
        ),
    ],
    epsilon=_Option(
        str | None,
        "The claimed epsilon, with which a case is set up; default: the case's own. "
        "With --python and no epsilon, the loss is measured and compared with nothing.",
    ),
    delta=_Option(float, "Delta of the claim, for --python.", show_default=True),
    python=_Option(
        str | None,
        "Your own mechanism: a function of an input, or of an input and a NumPy "
        "generator, or an object with release(value, rng).",
        metavar="MODULE:FUNCTION",
    ),
    pair=_Option(
        str | None,
        "For --python: two inputs that the claim compares, as a JSON list.",
        metavar="JSON",
    ),
    made_up=_Option(
        bool,
        "The pair belongs to nobody: the result may name it, and may be passed on.",
        "--made-up",
        show_default=True,
    ),
    replay=_Option(
        bool,
        "Compute the exact loss of whole fits on neighbouring tables, for an estimator "
        "of shoal or one named by --python.",
        "--replay",
        show_default=True,
    ),
    pairs=_Option(int | None, "For --replay: how many pairs of made-up tables; default 24.", min=1),
    draws=_Option(
        int | None,
        "Outputs per input; default: the case's own number, 20,000 for --python.",
        min=1000,
    ),
    alpha=_Option(
        float,
        "Chance of calling something correct violated, over all audits together.",
        show_default=True,
    ),
    seed=_Option(int | None, "Seed of the draws; default: a new one, which is printed.", min=0),
    output=Page,
    overwrite=OverwriteFile,
    names=_Option(bool, "List what can be audited.", "--list", envvar=None, show_default=True),
)
PLAN: dict[str, Any] = _named(
    model=Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A folder that `shoal cluster` wrote: what would another budget have done? Left "
            "out, the plan is made of public facts alone.",
            show_default=False,
        ),
    ],
    groups=_Option(
        str | None,
        "How many groups will be looked for: a number, or a range such as 2-8, each planned.",
        "-k",
        "--groups",
        metavar="N",
    ),
    domain=Domain,
    columns=Columns,
    n_expected=_Option(
        int | None, "How many rows are expected, as far as that is publicly known.", min=1
    ),
    epsilon=_Option(
        str | None,
        "Budgets to try, e.g. 0.5,1,2. Default: 0.05 to 5, for reports 1 to 8.",
        metavar="LIST",
    ),
    within=_Option(
        float, "Wanted error in nine of ten tables, in % of the range.", show_default=True
    ),
    shape=_Option(
        Literal["clear", "near", "touching"] | None,
        "How the groups lie, if that is known: it narrows the band.",
    ),
    trust=_Option(
        Literal["central", "local", "both"],
        "Who holds the rows: a curator, nobody (reports only), or a plan for both.",
        show_default=True,
    ),
    details=_Option(bool, "Show the shapes of made-up tables one by one.", "--details"),
    output=Page,
    overwrite=OverwriteFile,
    seed=_Option(int, "Seed of made-up tables and fits.", min=0, show_default=True),
)
EVALUATE: dict[str, Any] = _named(
    model=Annotated[
        Path, typer.Argument(metavar="MODEL", help="A folder that `shoal cluster` wrote.")
    ],
    table=Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="The rows: a CSV or Parquet file, a folder of Parquet files, or `-`.",
            show_default=False,
        ),
    ],
    against=_Option(str | None, "The same as TABLE, by a flag.", metavar="TABLE"),
    labels=_Option(
        str | None,
        "Column of the table that holds the true groups. Default: the groups of plain "
        "k-means (or k-prototypes) on the rows, as many as the model has.",
        metavar="COLUMN",
    ),
    columns=Columns,
    sample_rows=_Option(
        int,
        "Number of rows to score on, drawn at random if there are more.",
        min=2,
        show_default=True,
    ),
    controls=_Option(
        int,
        "Number of runs of the method without data, scored as controls; 0 for none.",
        min=0,
        show_default=True,
    ),
    output=PrivatePage,
    overwrite=OverwriteFile,
    seed=_Option(int, "Seed of the draws; the model does not change.", min=0, show_default=True),
    engine=Engine,
    master=Master,
)
MEMBERSHIP: dict[str, Any] = _named(
    table=Table,
    method=_Option(
        str,
        "What is attacked: a method of `shoal cluster`, or plain, k-means without noise.",
        metavar="NAME",
        show_default=True,
    ),
    groups=_Option(str | None, "How many groups the model has.", "-k", "--groups", metavar="N"),
    epsilon=_Option(str | None, "Budget of the model."),
    columns=Columns,
    domain=Domain,
    by=_Option(
        Literal["lira", "shadow", "art"],
        "lira: likelihood ratios, the strongest. shadow: shadow models and a forest. art: "
        "the same through the Adversarial Robustness Toolbox.",
        show_default=True,
    ),
    sample_rows=_Option(
        int,
        "Number of rows to attack, drawn at random if there are more.",
        min=160,
        show_default=True,
    ),
    shadows=_Option(
        int | None, "Number of shadow models; default: 64 for lira, otherwise 3 per game.", min=1
    ),
    repeats=_Option(int, "Number of models attacked.", min=1, show_default=True),
    alpha=_Option(float, "Significance level of the verdict.", show_default=True),
    seed=_Option(int, "Seed of all random draws.", min=0, show_default=True),
    output=PrivatePage,
    overwrite=OverwriteFile,
    engine=Engine,
    master=Master,
)
LINKAGE: dict[str, Any] = _named(
    released=Annotated[Path, typer.Argument(help="The released table.")],
    raw=_Option(Path, "The original table.", show_default=True),
    policy=_Option(Path, "The policy it was released under.", show_default=True),
    second=_Option(
        Path | None,
        "The adversary's file: one row per person, with the quasi-identifiers in "
        "columns of the same names. Default: the original table, for an adversary who "
        "knows everyone.",
    ),
    column=_Option(
        str | None,
        "Also guess this column for everyone, compared with guesses made without the table.",
        metavar="NAME",
    ),
    seed=_Option(int, "Seed of the guesses.", min=0, show_default=True),
    output=PrivatePage,
    overwrite=OverwriteFile,
)
ANONYMIZE: dict[str, Any] = _named(
    policy=PolicyFile,
    dry_run=_Option(
        bool,
        "Check policy, hierarchies and table, and write nothing.",
        "--dry-run",
        show_default=True,
    ),
    explain=Explain,
    population=Population,
    title=Title,
    publisher=Publisher,
    overwrite=OverwriteFiles,
    engine=Engine,
    master=Master,
)
ANONYMIZE_APPLY: dict[str, Any] = _named(
    table=Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="The rows of new people; the policy's table if none is named.",
            show_default=False,
        ),
    ],
    policy=PolicyFile,
    cut=_Option(Path | None, "The manifest of the first release, whose cut is kept."),
    new_people=_Option(
        bool,
        "State that nobody in this table was in an earlier release. Needed where people "
        "cannot be compared; manifest and pages say so.",
        "--new-people",
        envvar=None,
        show_default=True,
    ),
    explain=Explain,
    population=Population,
    title=Title,
    publisher=Publisher,
    overwrite=OverwriteFiles,
    engine=Engine,
    master=Master,
)
ANONYMIZE_CHECK: dict[str, Any] = _named(
    table=Table,
    policy=PolicyFile,
    engine=Engine,
    master=Master,
)
ANONYMIZE_INIT: dict[str, Any] = _named(
    table=Table,
    output=_Option(
        Path, "The policy to write; `-` for standard output.", "--output", "-o", show_default=True
    ),
    k=_Option(int | None, "The number of people that share every combination.", "-k", min=2),
    overwrite=OverwriteFiles,
    engine=Engine,
    master=Master,
)
ANONYMIZE_EXPLORE: dict[str, Any] = _named(
    policy=PolicyFile,
    output=_Option(Path, "The page to write.", "--output", "-o", show_default=True),
    k=_Option(str, "Values of k to try.", "-k", envvar="SHOAL_EXPLORE_K", show_default=True),
    suppression=_Option(
        str,
        "Shares of rows that may be left out.",
        envvar="SHOAL_EXPLORE_SUPPRESSION",
        show_default=True,
    ),
    recoding=_Option(
        str, "Kinds of recoding to try.", envvar="SHOAL_EXPLORE_RECODING", show_default=True
    ),
    overwrite=OverwriteFiles,
    engine=Engine,
    master=Master,
)
ANONYMIZE_UTILITY: dict[str, Any] = _named(
    policy=PolicyFile,
    target=_Option(str | None, "The column that analysts predict."),
    engine=Engine,
    master=Master,
)

VERIFY: dict[str, Any] = {
    "folder": Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of a model, a synopsis or a page, or one that holds released tables "
            "or reports.",
            show_default=False,
        ),
    ],
    "ledger": Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_LEDGER",
            help="Ledger of the table, in which the release must have its entry.",
            show_default=False,
        ),
    ],
    "key": Annotated[
        str | None,
        typer.Option(
            metavar="KEY|FILE",
            envvar="SHOAL_PUBLIC_KEY",
            help="Public key that must have signed the release: 64 digits, or a file of them.",
            show_default=False,
        ),
    ],
    "policy": Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_POLICY",
            help="Policy of a released table, to count by. Default: what the manifest says of it.",
            show_default=False,
        ),
    ],
    "output": Page,
    "overwrite": OverwriteFile,
}
DOCUMENT: dict[str, Any] = {
    "folder": Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of a model or a synopsis, or one that holds released tables or "
            "reports.",
            show_default=False,
        ),
    ],
    "kinds": Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="deployment|nist|csvw|croissant",
            help="A document to write; once for each. Default: all that fit the release.",
            show_default=False,
        ),
    ],
    "about": Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="SHOAL_ABOUT",
            help="What only you know, as YAML: name, publisher, purpose, published, license, ... "
            "What is missing is said to be not stated.",
            show_default=False,
        ),
    ],
    "overwrite": OverwriteFiles,
}


def takes(*requests: type, options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Any]:
    """Give a verb the options of a table, and hand it the dataclasses that some of them fill.

    Names, types and help of the options are those of the table. Those that are fields of a
    dataclass come first, in the order of the table, with the fields' defaults; the others are
    parameters of the verb.
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
