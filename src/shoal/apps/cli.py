"""The ``shoal`` command: its verbs, its errors, its exit codes.

    0    done
    1    a finding: a check failed, a claim is violated
    2    bad input or use
    3    over budget: a promise would be broken
    4    a part is not installed
    70   a bug in shoal, so that no script takes a crash for a finding
    130  stopped

Verbs import what they need when they run, so that ``--help`` answers at once.
"""

import json
import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from shoal.apps.demo import demo
from shoal.apps.ledger import ledger_app
from shoal.apps.output import console, wants_json
from shoal.apps.perturb import perturb
from shoal.apps.version import version
from shoal.errors import ShoalError
from shoal.figures.text import clean

__all__ = ["app", "main"]

A_BUG = 70
STOPPED = 130


class Shoal(TyperGroup):
    """The group of verbs; turns what they raise into words and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except ShoalError as error:
            _tell(ctx, type(error).__name__, error.came, error.next_step, error.exit_code)
        except KeyboardInterrupt:
            _tell(ctx, "Stopped", "nothing half-written was left.", "", STOPPED)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if hasattr(error, "show"):  # a wrong option or argument: typer words these well
                raise
            _tell(ctx, "Bug", *_about_a_bug(error), A_BUG)


app = typer.Typer(
    name="shoal",
    cls=Shoal,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a finding, 2 bad input or use, 3 over budget, 4 a part is "
    "missing, 70 a bug, 130 stopped. Every option is also a setting: SHOAL_OUTPUT, SHOAL_JSON, "
    "...; SHOAL_DEBUG=1 shows where an error arose.",
)
app.command()(demo)
app.command()(perturb)
app.add_typer(ledger_app, name="ledger")
app.command()(version)


@app.callback()
def _about() -> None:
    """Find and publish the groups in data about people, and say what each was promised.

    Start with `shoal demo`: it writes a page you can open.
    """


def main() -> None:
    """Run the command line."""
    app()


def _tell(ctx: Any, name: str, came: str, next_step: str, code: int) -> None:
    """Say what went wrong: words to standard error, and with ``--json`` a document too."""
    from rich.text import Text

    if os.environ.get("SHOAL_DEBUG", "") not in ("", "0"):
        traceback.print_exc()
    words = Text.assemble((f"{name}: ", "bold red"), clean(came))
    console(stderr=True).print(words, soft_wrap=True)
    if next_step:
        console(stderr=True).print(clean(next_step), soft_wrap=True)
    if wants_json(ctx):
        said = {"error": name, "came": came, "next_step": next_step, "exit_code": code}
        print(json.dumps(said, indent=1, ensure_ascii=False))
    sys.stdout.flush()
    raise typer.Exit(code)


def _about_a_bug(error: Exception) -> tuple[str, str]:
    """Where it arose; not its message, which may quote a row."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "shoal" in f.filename]
    place = f"{os.path.basename(ours[-1].filename)}, line {ours[-1].lineno}" if ours else "shoal"
    return (
        f"{type(error).__name__} at {place}. Its message is withheld: it could quote a row.",
        "Please report it. SHOAL_DEBUG=1 shows the message and the path that led there, to you "
        "alone.",
    )
