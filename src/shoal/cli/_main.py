"""The ``shoal`` command: its verbs, its errors, its exit codes.

    0    done
    1    a finding: a check failed, a claim is violated
    2    bad input or use
    3    over budget: a promise would be broken
    4    a part is not installed
    70   a bug in shoal, so that no script takes a crash for a finding
    130  stopped by Ctrl-C; 143 by SIGTERM; 141 when nobody reads the output any more

Verbs import what they need when they run, so that ``--help`` answers at once.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from shoal.cli._exit import flush_output, report_error
from shoal.cli._output import write_text
from shoal.cli.start import STOPPED
from shoal.cli.verbs._anonymize import anonymize_app
from shoal.cli.verbs._attack import attack_app
from shoal.cli.verbs._audit import audit
from shoal.cli.verbs._cluster import cluster
from shoal.cli.verbs._data import data_app
from shoal.cli.verbs._demo import demo
from shoal.cli.verbs._document import document
from shoal.cli.verbs._evaluate import evaluate
from shoal.cli.verbs._features import features
from shoal.cli.verbs._init import init
from shoal.cli.verbs._keys import keys_app
from shoal.cli.verbs._learn import learn
from shoal.cli.verbs._ledger import ledger_app
from shoal.cli.verbs._perturb import perturb
from shoal.cli.verbs._plan import plan
from shoal.cli.verbs._report import report
from shoal.cli.verbs._reproduce import reproduce
from shoal.cli.verbs._verify import verify
from shoal.cli.verbs._version import version
from shoal.cli.verbs.collect import collect_app
from shoal.jobs import VERBOSE

_YES = ("1", "true", "t", "yes", "y", "on")  # what typer reads as true


class Shoal(TyperGroup):
    """The group of verbs; whatever they raise becomes a message and an exit code."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run the verb that the arguments name, and exit.

        Parameters
        ----------
        args
            The arguments; None takes those of the process.
        """
        arguments = sys.argv[1:] if args is None else list(args)
        as_json = "--json" in arguments or os.environ.get("SHOAL_JSON", "").lower() in _YES
        settings = {**extra, "standalone_mode": False}
        try:
            code = super().main(arguments, *rest, **settings) or 0
            if code == STOPPED:  # typer swallows the interrupt
                code = report_error(KeyboardInterrupt(), as_json)
        except BaseException as error:
            code = report_error(error, as_json)
        sys.exit(flush_output(code))


app = typer.Typer(
    name="shoal",
    cls=Shoal,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a finding, 2 bad input or use, 3 over budget, 4 a part is "
    "missing, 70 a bug, 130 and 143 stopped. Most options can also be set in the "
    "environment: SHOAL_OUTPUT, SHOAL_JSON, ...; SHOAL_DEBUG=1 shows where an error "
    "arose.",
)
app.command()(demo)
app.command()(init)
app.command()(features)
app.command()(plan)
app.command()(cluster)
app.command()(evaluate)
app.command()(perturb)
app.command()(learn)
app.command()(report)
app.add_typer(collect_app, name="collect")
app.add_typer(anonymize_app, name="anonymize")
app.command()(audit)
app.add_typer(attack_app, name="attack")
app.add_typer(ledger_app, name="ledger")
app.add_typer(data_app, name="data")
app.command()(reproduce)
app.command()(verify)
app.command()(document)
app.add_typer(keys_app, name="keys")
app.command()(version)


def _print_version(is_wanted: bool) -> None:
    """Print the version as `--version` of other commands does, before any verb is looked for."""
    if is_wanted:
        from importlib.metadata import version as version_of

        write_text(f"shoal {version_of('shoal')}\n")
        raise typer.Exit


def _be_verbose(is_wanted: bool) -> None:
    if is_wanted:
        os.environ[VERBOSE] = "1"


@app.callback()
def _about(
    _: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    _verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            callback=_be_verbose,
            envvar=VERBOSE,
            help="Show what Spark's Java machine prints, too.",
        ),
    ] = False,
) -> None:
    """Find and publish the groups in data about people, and say what each was promised.

    Start with `shoal demo`: it writes a page you can open.
    """
