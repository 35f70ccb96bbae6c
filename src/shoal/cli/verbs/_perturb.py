"""``shoal perturb``: report the rows of a file through a local mechanism, in one stream."""

from pathlib import Path

from shoal.cli._flags import PERTURB as FLAGS
from shoal.cli._options import PERTURB, Json, Quiet, takes
from shoal.cli._output import Output, ledger_line
from shoal.cli._signing import check_signing_key, sign_lines
from shoal.jobs import ReportsRequest, prepare_reports, resumed_lines
from shoal.pages.page import Line
from shoal.pages.reports import report_lines


@takes(ReportsRequest, options=PERTURB)
def perturb(
    request: ReportsRequest, sign: Path | None = None, json: Json = False, quiet: Quiet = False
) -> None:
    """Randomise the rows of a table one by one, and write reports that may be shared.

    Only the perturbed columns are written. Beside the reports lies a JSON file that says what
    made them and what each person was promised. Files larger than memory are read in pieces.

    `--mechanism rounds` divides people among rounds, each of which asks about the groups that the
    rounds before found: numbers, or numbers and categories. Each person is still reported once.
    From four columns of numbers on they are better than one report of a cell, and `--mechanism
    auto` takes them; in eight columns a single grid hardly finds groups at all.

    Report a table once and keep the reports: a second run draws new reports, and their budgets
    add up.

    **Examples**

        shoal perturb trips.csv --epsilon 2 --domain city.yaml -o noisy.parquet
        shoal perturb trips.csv --epsilon 2 --domain city.yaml --person rider --ledger trips.ledger
        shoal perturb trips.csv --epsilon 0.5 --domain city.yaml --remap bayes -o guesses.csv
        shoal perturb people.parquet --mechanism mixed --epsilon 4 --domain people.yaml --clip
        shoal perturb trips.csv --mechanism local-grid --epsilon 2 --domain city.yaml --clip
        shoal perturb people.csv --mechanism rounds -k 4 --epsilon 4 --domain people.yaml
        shoal perturb people.csv --mechanism auto -k 4 --epsilon 4 --domain people.yaml
        zcat ages.csv.gz | shoal perturb - --mechanism piecewise --epsilon 1 --domain ages.yaml

    where `city.yaml` holds what is public, and `geo` makes epsilon count per kilometre:

        version: 1
        columns: {lat: {low: 52.3, high: 52.7}, lon: {low: 13.1, high: 13.8}}
        geo: {latitude: lat, longitude: lon}
    """
    say = Output(json, quiet)
    check_signing_key(sign)
    with FLAGS.shown():
        prepared = prepare_reports(request)
        for note in prepared.notes:
            say.note(note)
        with say.progress(2) as progress:
            reported = prepared.release(progress)
    place = Path(reported.files[0])
    signed = sign_lines(sign, place.parent, [place.name])
    say.result(
        reported.values,
        *resumed_lines(reported.is_resumed),
        *report_lines(reported.document, reported.guarantee),
        Line("Reports", reported.files[0], is_literal=True),
        Line("About", reported.files[1], is_literal=True),
        ledger_line(reported.ledger),
        *signed,
    )
