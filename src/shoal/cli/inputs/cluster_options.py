"""What ``shoal cluster`` can be asked for, one name an option."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.cli.inputs.cluster_methods import METHODS
from shoal.cli.verbs.cluster_local import NAMES as LOCAL

__all__ = [
    "Cells",
    "Choose",
    "Delta",
    "Drop",
    "Entity",
    "Epsilon",
    "Folder",
    "Groups",
    "Level",
    "Local",
    "MaxRows",
    "MethodName",
    "Neighbours",
    "Overwrite",
    "PublicNumber",
    "Selector",
    "Variant",
    "Wavelet",
]

_WAVE = "For --method wave"

MethodName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="SHOAL_METHOD",
        help=f"How: {'; '.join(f'{name}, {how.words}' for name, how in METHODS.items())}.",
    ),
]
Local = Annotated[
    bool,
    typer.Option(
        "--local",
        envvar="SHOAL_LOCAL",
        help="Learn from reports that `shoal perturb` wrote, and from the file beside them; no "
        f"budget is spent. --method is then one of {', '.join(LOCAL)}.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--groups",
        metavar="N",
        envvar="SHOAL_GROUPS",
        help="How many groups to find: a number, or a range such as 2-12 to choose from at no "
        "further cost.",
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
        help="A chance with which the promise may fail, e.g. 1e-9; left out, none. It helps "
        "in many columns: from about 14 up for 1e-6, from 30 for 1e-10.",
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
        help="Column that tells people apart. Left out, the domain's, or every row is a "
        "person of its own.",
        show_default=False,
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="SHOAL_MAX_ROWS_PER_PERSON",
        help="How many rows of a person are kept; the promise covers all of them.",
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
PublicNumber = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="SHOAL_N_PUBLIC",
        help="How many rows there are, if that is known without them: a quota, a census.",
        show_default=False,
    ),
]
Drop = Annotated[
    bool,
    typer.Option(
        "--drop", envvar="SHOAL_DROP", help="Leave out rows that lack a number; else refuse."
    ),
]
Choose = Annotated[
    Literal["elbow", "silhouette", "gap"] | None,
    typer.Option(
        envvar="SHOAL_CHOOSE",
        help="How to choose within a range of -k; left out, elbow.",
        show_default=False,
    ),
]
Variant = Annotated[
    Literal["block", "privqt", "privthr", "privthrem", "baseline"] | None,
    typer.Option(
        envvar="SHOAL_VARIANT",
        help="Where the noise goes: block, the default and best, or a published method.",
        rich_help_panel=_WAVE,
        show_default=False,
    ),
]
Cells = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        envvar="SHOAL_CELLS",
        help="Cells along each axis, e.g. 64, or 64,32; chosen without the rows. Left out, as "
        "many as budget and rows are worth.",
        rich_help_panel=_WAVE,
        show_default=False,
    ),
]
Selector = Annotated[
    Literal["auto", "persistence", "percentile", "density", "mass"] | None,
    typer.Option(
        envvar="SHOAL_SELECTOR",
        help="What makes a cell part of a group.",
        rich_help_panel=_WAVE,
        show_default=False,
    ),
]
Level = Annotated[
    int | None,
    typer.Option(
        min=0,
        envvar="SHOAL_LEVEL",
        help="How often the grid is halved.",
        rich_help_panel=_WAVE,
        show_default=False,
    ),
]
Wavelet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="SHOAL_WAVELET",
        help="By which wavelet of PyWavelets; left out, haar.",
        rich_help_panel=_WAVE,
        show_default=False,
    ),
]
