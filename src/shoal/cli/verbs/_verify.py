"""``shoal verify``: whether a release is what it says it is, as far as its files show."""

from pathlib import Path

import typer

from shoal.cli._options import VERIFY, Json, Quiet, takes
from shoal.cli._output import Output, check_page, show_verdicts


@takes(options=VERIFY)
def verify(
    folder: Path,
    ledger: Path | None = None,
    key: str | None = None,
    policy: Path | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a release from its files alone: no row is read, and nothing is spent.

    Every file is held against the digests that were written with it, the page against its numbers,
    the numbers against the files, the promise against the budget and its shares; intervals are
    computed again, and k, l and t of a table counted again. What nobody outside can see is listed
    too. Exit code 1: something does not hold.

    **Examples**

        shoal verify model
        shoal verify model -o verified.html
        shoal verify model --ledger students.ledger
        shoal verify model --key publisher.key.pub
        shoal verify handed-over --policy policy.yaml --json
    """
    from shoal.pages.verification import page
    from shoal.verify import verify_folder

    check_page(output, overwrite, "verified.html")
    say = Output(json, quiet)
    with say.progress(1) as progress:
        progress.step("Checking the release")
        verification = verify_folder(folder, ledger=ledger, key=key, policy=policy)
    show_verdicts(page(verification), say, output, overwrite=overwrite, private=False)
    if not verification.holds:
        raise typer.Exit(1)
