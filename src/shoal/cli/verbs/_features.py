"""``shoal features``: one row a person from linked tables and logs of events."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import FeaturesPeriod, FeaturesTables, Json, OverwriteFiles, Quiet
from shoal.cli._output import Output, print_for_holder
from shoal.errors import InvalidSetting, sentence
from shoal.jobs import FeaturesRequest, check_features, explain_features, write_features
from shoal.jobs._features import events_behind, holder_texts
from shoal.pages.page import Line, Table


def features(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The features file, what a row is made of.", show_default=False
        ),
    ],
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Say what the file makes; no table of people is opened, none written."
        ),
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Show one person's row and the events behind each value; for you only.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="Parquet file to write, readable by you only; its domain goes beside it.",
            show_default=False,
        ),
    ] = None,
    period: FeaturesPeriod = None,
    replaced: FeaturesTables = None,
    overwrite: OverwriteFiles = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a table with one row a person from a table of people and logs of events.

    The file says what a row is made of: counts, shares, days, pauses of one person's own events,
    and public tables joined to them. So a method that protects one row of the result protects all
    events of a person. The result is yours and no release: publish what `shoal cluster` makes of
    it. The domain beside it has the bounds of every column.

    **Examples**

        shoal features programme.yaml --check
        shoal features programme.yaml -o pupils.parquet
        shoal features programme.yaml --explain p00017
        shoal features programme.yaml --set log=log-2026.csv --period 2026 -o pupils.parquet
    """
    say = Output(json, quiet)
    request = FeaturesRequest(
        file=file,
        output=output,
        overwrite=overwrite,
        period=period,
        replaced=tuple(replaced or ()),
    )
    with Flags().shown():
        if sum([check, explain is not None, output is not None]) != 1:
            raise InvalidSetting(
                "One of --check, --explain and --output says what to do.",
                sentence("E.g. {check}, which opens no table of people."),
            )
        if check:
            _show_check(say, check_features(request), file)
        elif explain is not None:
            found = explain_features(request, explain)
            rows = tuple(events_behind(found))
            say.result(found, Table("Row", ("column", "value", "events"), rows))
        else:
            _write(say, request)


def _show_check(say: Output, found: dict[str, object], file: Path) -> None:
    columns, words, public = found["columns"], found["features"], found["public"]
    assert isinstance(columns, dict)
    assert isinstance(words, dict)
    assert isinstance(public, dict)
    rows = tuple(
        (name, _bounds(entry), words.get(name, "copied")) for name, entry in columns.items()
    )
    period = found["period"]
    assert isinstance(period, dict)
    say.result(
        found,
        Line("Period", f"{period['from']} to the day before {period['until']}"),
        Table("Columns", ("column", "bounds", "what it is"), rows, left=("bounds", "what it is")),
        *(Line("Public", f"{name}: {source}") for name, source in public.items()),
        Line("Checked", "No table of people was opened."),
        Line("Next", f"shoal features {file} -o people.parquet", is_literal=True),
    )


def _bounds(entry: dict[str, object]) -> str:
    if "low" in entry:
        return f"{entry['low']:g} to {entry['high']:g}"
    listed = entry.get("values") or entry.get("levels")
    assert isinstance(listed, list)
    return ", ".join(map(str, listed))


def _write(say: Output, request: FeaturesRequest) -> None:
    with say.progress(1) as progress:
        table, (path, domain) = write_features(request, progress)
    command = f"shoal cluster {path} --domain {domain} -k 5 --epsilon 1"
    say.result(
        {"table": str(path), "domain": str(domain), "columns": list(table.names)},
        Line("Table", f"{path}, one row a person, for you only"),
        Line("Domain", str(domain), is_literal=True),
        Line("Next", command, is_literal=True),
    )
    print_for_holder(holder_texts(table), quiet=say.json or say.quiet)
