"""``shoal cluster``: find the groups in a file, and leave a folder that may be published."""

from dataclasses import replace
from pathlib import Path

import typer

from shoal.cli._flags import cluster_flags
from shoal.cli._options import CLUSTER, Json, Quiet, takes
from shoal.cli._output import Output, ledger_line, print_for_holder
from shoal.cli._signing import check_signing_key, sign_lines
from shoal.jobs import (
    GroupsRequest,
    ReleasedGroups,
    WaveOptions,
    is_model_folder,
    name_released,
    release_groups,
    resumed_lines,
)
from shoal.pages.page import NOT_PUBLISHED, Line


@takes(GroupsRequest, WaveOptions, options=CLUSTER)
def cluster(
    request: GroupsRequest,
    waves: WaveOptions,
    sign: Path | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the groups in a table with differential privacy, and write what may be published.

    Writes a folder: the noisy cells, with `centers.csv` or the group of each cell; for a table with
    categories `profiles.csv`, what is typical of each group; `model.json` for `shoal.load_model`;
    and `report.html`, a page that says what was found and what each person was promised. Everything
    in it may be published. Files larger than memory are read in pieces. How many rows were left out
    or moved to the edge of the bounds is for you only: it appears in your terminal and on the page
    that --curator writes. If no group can be distinguished from noise, the page does not show any,
    and the exit code is 1.

    **Examples**

        shoal cluster visits.csv -k 8 --epsilon 1 --domain visits.yaml -o model
        shoal cluster visits.csv -k 2-12 --epsilon 1 --domain visits.yaml --ledger visits.ledger
        shoal cluster trips.parquet -k 20 --epsilon 1 --domain city.yaml --person rider
            --max-rows-per-person 10
        shoal cluster students.csv -k 6 --epsilon 1 --domain students.yaml -o groups
        shoal cluster class.csv -k 3 --epsilon 1 --domain class.yaml --init last_year.csv
        shoal cluster --features programme/features.yaml -k 4 --epsilon 1
            --ledger programme.ledger
        shoal cluster groups --names titles.txt -o named
        shoal cluster visits.csv --method wave --epsilon 1 --domain visits.yaml
        zcat visits.csv.gz | shoal cluster - -k 8 --epsilon 0.5 --domain visits.yaml --json
        shoal cluster hdfs:///visits.parquet -k 8 --epsilon 1 --domain visits.yaml --engine spark
            --master yarn

    where `visits.yaml` holds what is public about the columns, stated without looking:

        version: 1
        columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}

    and `students.yaml` categories too: `sex: {values: [F, M]}`, `level: {levels: [basic, higher]}`.

    The folder of an earlier run with --names is the same groups under your titles: it reads no rows
    and costs nothing.
    """
    say = Output(json, quiet)
    check_signing_key(sign)
    with say.progress(3) as progress, cluster_flags(request.method).shown():
        if request.table and is_model_folder(request.table):
            released = name_released(request)
        else:
            released = release_groups(replace(request, waves=waves), progress)
    key = sign if released.is_published else None  # what is for the holder alone is not signed
    signed = sign_lines(key, released.folder, [file.name for file in released.files])
    say.result(
        released.values,
        *resumed_lines(released.is_resumed),
        *released.page.lines,
        *_place_lines(released),
        *signed,
    )
    print_for_holder(released.for_holder, quiet=json or quiet)
    if not released.is_published:
        raise typer.Exit(1)


def _place_lines(released: ReleasedGroups) -> list[Line]:
    """Where it is, what counts it, and what next."""
    withheld = [] if released.is_published else [Line("Withheld", NOT_PUBLISHED)]
    return [
        *withheld,
        Line("Page", str(released.files[0]), is_literal=True),
        ledger_line(released.ledger),
        Line(
            "Next",
            f'shoal.load_model("{released.folder}").predict(rows) labels rows, for their holder.',
        ),
    ]
