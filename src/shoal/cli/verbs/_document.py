"""``shoal document``: what registries, reviewers and catalogues ask for, made from a release."""

from pathlib import Path
from typing import Any

from shoal.cli._flags import Flags
from shoal.cli._options import DOCUMENT, Json, Quiet, takes
from shoal.cli._output import Output
from shoal.pages.page import Line, labelled_lines

_FLAGS = Flags({"kinds": "--as"})


@takes(options=DOCUMENT)
def document(
    folder: Path,
    kinds: list[str] | None = None,
    about: Path | None = None,
    overwrite: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write documents that others ask for, from the files of a release alone: no row is read.

    `deployment` is a record for the registry of differential-privacy deployments, `nist` a page in
    the order of NIST SP 800-226 and of the three risks of WP216, `csvw` the columns of released
    CSV files and the public bounds behind them as CSV on the Web, `croissant` what data catalogues
    read. What the files do not say is asked of you: write what you know into a YAML file, and give
    it with `--about`. `shoal verify` draws the documents again, so an edited one is caught.

    The answers of `--about` are name, publisher, publisher_type, description, purpose, sector,
    region, published, license, url, rows, collection, preparation, justification, unprotected,
    actors, security, biases, impact, maintenance and authors; each may be left out.

    **Examples**

        shoal document model
        shoal document model --as deployment --as nist --about about.yaml
        shoal document handed-over --as csvw --overwrite
    """
    from shoal.verify import document_folder

    say = Output(json, quiet)
    with say.progress(1) as progress, _FLAGS.shown():
        progress.step("Checking the release")
        done = document_folder(folder, kinds=kinds or None, about=about, overwrite=overwrite)
    values = {"schema": "shoal.documented/1", "releases": [_values(each) for each in done]}
    say.result(values, *(line for each in done for line in _lines(each, folder)))


def _values(done: Any) -> dict[str, Any]:
    return {**done._asdict(), "files": [str(path) for path in done.files]}


def _lines(done: Any, folder: Path) -> list[Line]:
    """Return what was written of a release, what was not, and what its publisher may add."""
    left = [f"{kind}: {why}" for kind, why in done.left_out.items()]
    asked = ", ".join(done.not_stated)
    signed = f"The signature does not cover these documents: shoal keys sign {folder} KEY"
    return [
        Line("Release", done.release),
        *(
            Line("Written" if not i else "", str(path), is_literal=True)
            for i, path in enumerate(done.files)
        ),
        *labelled_lines("Left out", left),
        *([Line("Not stated", f"{asked}: answer what you know with --about.")] if asked else []),
        *([Line("Note", signed)] if done.is_signed else []),
    ]
