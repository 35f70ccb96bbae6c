"""``shoal data``: public data sets by name, made-up tables, and copies for spreadsheets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli._options import Json, OverwriteFiles, Quiet
from shoal.cli._output import Output
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from shoal.data.known_files import DataFile


data_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="List or fetch public data sets, make up a table, or copy one for a spreadsheet.",
)


@data_app.command("list")
def list_sets(json: Json = False, quiet: Quiet = False) -> None:
    """List every data set by name: whether it is here, and how to get it.

    With `--json` also where each is published, and what its file must hash to.

    **Examples**

        shoal data list
        shoal data list --json
    """
    from shoal.data import dataset_names
    from shoal.data.catalogue import BUNDLED
    from shoal.data.known_files import FILES

    here = {*dataset_names()}
    sets = [
        {"name": name, "here": name in here, **_source(FILES.get(name))}
        for name in (*BUNDLED, *FILES)
    ]
    rows = [[one["name"], "yes" if one["here"] else "no", _way_to_get(one)] for one in sets]
    table = Table(
        "Data sets", ("Name", "Here", "How to get it"), rows, left=("Here", "How to get it")
    )
    Output(json, quiet).result({"sets": sets}, table)


@data_app.command("fetch")
def fetch_set(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A name of `shoal data list`.", show_default=False),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_DATA",
            help="The folder to put it into, made if need be.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", envvar="SHOAL_OVERWRITE", help="Replace a file of other content."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Download a data set whose published bytes are the ones shoal was tested with.

    It gets its name only after its SHA-256 was checked; whatever goes wrong leaves what was there.

    **Examples**

        shoal data fetch seeds --to data
        SHOAL_DATA=data shoal data fetch adult_hierarchy_age
    """
    from shoal.data import fetch
    from shoal.data.known_files import FILES

    path = fetch(name, to, overwrite=overwrite)
    file = FILES[name]
    document = {"name": name, "file": str(path), "sha256": file.sha256, "url": file.url}
    lines = [
        Line("Here", str(path)),
        Line("Checked", f"SHA-256 {file.sha256}"),
        Line("To load", f"SHOAL_DATA={path.parent} and shoal.data.load({name!r})", is_literal=True),
    ]
    Output(json, quiet).result(document, *lines)


@data_app.command("make")
def make_set(
    name: Annotated[
        Literal["students", "school", "visits", "trips", "programme"],
        typer.Argument(
            metavar="NAME",
            help="students (numbers), school (numbers and categories), visits, trips, or programme "
            "(pupils, courses and a log of events, in a folder).",
            show_default=False,
        ),
    ],
    rows: Annotated[
        int, typer.Option(min=1, envvar="SHOAL_ROWS", help="How many rows to make up.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(envvar="SHOAL_SEED", help="Makes another table.")] = 0,
    overwrite: OverwriteFiles = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make up a table to try things on, with its domain file: NAME.csv and NAME.yaml.

    Nobody is in it, and the same seed makes the same rows anywhere.

    **Examples**

        shoal data make students
        shoal data make school
        shoal data make visits --rows 1000
        shoal data make programme
    """
    import yaml

    from shoal.data import write_table
    from shoal.data.made_up import MADE_UP
    from shoal.files import atomic_file

    if name == "programme":
        _make_programme(rows, seed, overwrite, Output(json, quiet))
        return
    example = MADE_UP[name]
    table, domain = Path(f"{name}.csv"), Path(f"{name}.yaml")
    with atomic_file(domain, overwrite) as part:
        text = yaml.safe_dump(example.domain.to_dict(), sort_keys=False, default_flow_style=None)
        part.write_text(text, encoding="utf-8")
        write_table(example.table(rows, seed), table, overwrite)
    Output(json, quiet).result(
        {"table": str(table), "domain": str(domain), "rows": rows},
        Line("Table", str(table), is_literal=True),
        Line("Domain", str(domain), is_literal=True),
    )


def _make_programme(rows: int, seed: int, overwrite: bool, say: Output) -> None:
    """Write the tables of an invented programme and its features file to a folder."""
    from shoal.data import write_table
    from shoal.data.programme import PROGRAMME_FILE, draw_programme
    from shoal.files import atomic_file

    folder = Path("programme")
    folder.mkdir(exist_ok=True)
    tables = draw_programme(rows, seed)
    endings = {"pupils": ".csv", "courses": ".csv", "log": ".parquet"}
    with atomic_file(folder / "features.yaml", overwrite) as part:
        part.write_text(PROGRAMME_FILE, encoding="utf-8")
        for name, table in tables.items():
            write_table(table, folder / f"{name}{endings[name]}", overwrite)
    file = folder / "features.yaml"
    say.result(
        {"folder": str(folder), "features": str(file), "events": tables["log"].num_rows},
        Line("Tables", ", ".join(f"{name}{endings[name]}" for name in tables) + f" in {folder}"),
        Line("Next", f"shoal features {file} --check", is_literal=True),
    )


@data_app.command("for-spreadsheets")
def copy_for_spreadsheets(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE", help="A CSV, TSV or Parquet file, as shoal writes.", show_default=False
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="The copy to write: .csv or .csv.gz.",
            show_default=False,
        ),
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older copy.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy a table so that a spreadsheet runs nothing in it as a formula.

    Text that begins with = + - @ or a tab gets an apostrophe before it; numbers stay. The copy is
    to be looked at: the file itself holds the true values, and was counted and hashed.

    **Examples**

        shoal data for-spreadsheets groups/profiles.csv -o profiles-to-read.csv
        shoal data for-spreadsheets visits.released.csv -o to-read.csv --overwrite
    """
    from shoal.data import source_of, write_table

    source = source_of(table)
    write_table(source.batches(source.names), output, overwrite, for_spreadsheets=True)
    Output(json, quiet).result(
        {"table": str(table), "copy": str(output)}, Line("Copy", str(output), is_literal=True)
    )


def _source(file: "DataFile | None") -> dict[str, Any]:
    if file is None:
        return {"home": "scikit-learn"}
    return {name: value for name, value in file._asdict().items() if value}


def _way_to_get(one: dict[str, Any]) -> str:
    if "sha256" not in one:
        return "comes with scikit-learn"
    return "shoal data fetch" if "url" in one else f"by hand: {one['changes']}"
