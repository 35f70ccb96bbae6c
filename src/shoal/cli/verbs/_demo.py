"""``shoal demo``: made-up students, from rows to a page of groups that may leave."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._options import Json, Quiet, Seed
from shoal.cli._output import Output
from shoal.jobs import Progress
from shoal.pages.page import Line

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.domain import Schema
    from shoal.pages.page import Page
    from shoal.privacy import Ledger
    from shoal.randomness import Randomness


STUDENTS = 30_000
LEDGER = "ledger.sqlite"
TABLE, DOMAIN, POLICY = "students.csv", "students.yaml", "policy.yaml"
FILES = {f"report{mark}.{kind}" for mark in ("", "-simulation") for kind in ("html", "json")}
FILES |= {TABLE, DOMAIN, POLICY, *(LEDGER + end for end in ("", "-wal", "-shm"))}
# What the printed commands leave: made of the same students, so as much of a demo.
GROUPS_FOLDER, RELEASED = "groups", "released"
FILES |= {"cells.parquet", GROUPS_FOLDER}  # the first, of older demos
FILES |= {
    f"{RELEASED}{end}"
    for end in (
        ".csv",
        ".manifest.json",
        ".mapping.csv",
        ".report.html",
        ".report.json",
        ".report.curator.html",
    )
}
POLICY_TEXT = f"""\
# Who may learn what from the table that is handed over. Every key: docs/guides/policy-reference.md.
version: 1
input: {{path: {TABLE}}}
attributes:
  stage: {{role: quasi, hierarchy: {{tree: {{"*": [primary, secondary, vocational]}}}}}}
  lives_in:
    role: quasi
    hierarchy: {{tree: {{"*": {{towns: [capital, other towns], country: [villages]}}}}}}
  device: {{role: quasi, hierarchy: {{tree: {{"*": [phone, school computer, home computer]}}}}}}
  time_of_day: {{role: quasi, hierarchy: {{tree: {{"*": [morning, afternoon, evening]}}}}}}
  age: {{role: quasi, type: int, domain: [6, 20], hierarchy: {{kind: interval, width: 1}}}}
  sessions_per_week: {{role: other, transform: {{round: 1}}}}
  minutes_per_session: {{role: other, transform: {{round: 5}}}}
  exercises_right: {{role: sensitive}}
privacy: {{k: 10, suppression: 0.02}}
output: {{path: {RELEASED}.csv}}
"""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
    ] = Path("shoal-demo"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older demo.")
    ] = False,
    epsilon: Annotated[
        str, typer.Option(envvar="SHOAL_EPSILON", help="The budget: smaller hides more.")
    ] = "1.0",
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make up 30,000 students, find their groups privately, and write a page about them.

    The page names the groups and says what each student was promised. Nobody is in the table, so
    it also shows the groups without noise, four budgets, and an attack. The folder holds the table,
    its domain file and a policy; three commands to try on them are printed.

    **Examples**

        shoal demo
        shoal demo --epsilon 0.1 -o rough     # more noise, a tighter promise
        shoal demo --seed 7 -o rehearsal      # repeatable: a simulation
    """
    from shoal.cli.inputs._demo_results import make_demo
    from shoal.data import atomic_folder
    from shoal.pages.demo import page
    from shoal.privacy import Ledger, PureDP

    promise = PureDP(epsilon)  # type: ignore[arg-type]
    _check_ours(output)
    say = Output(json, quiet)
    with say.progress(5) as progress, atomic_folder(output, overwrite) as part:
        made = _write_table(part, seed, progress)
        ledger = Ledger(part / LEDGER, limit=promise * 3)  # room for two more releases
        shown = page(make_demo(*made, promise, ledger, seed, progress))
        progress.step("Writing the page")
        names = [*_write(shown, ledger, part), TABLE, DOMAIN, POLICY]
    files = [output / name for name in names]
    commands = _commands(output, epsilon)
    say.result(
        {
            "report": str(files[0]),
            "files": [str(file) for file in files],
            "commands": commands,
            **shown.values,
        },
        *shown.lines,
        Line("Page", str(files[0]), is_literal=True),
        Line("Next", "Open the page in a browser; it needs no connection. Then try"),
        *(Line("", command, is_literal=True) for command in commands),
    )


def _check_ours(folder: Path) -> None:
    """Overwriting replaces the whole folder: make sure that loses nothing but a demo."""
    from shoal.errors import AlreadyExists, quantity

    others = [f for f in folder.iterdir() if f.name not in FILES] if folder.is_dir() else []
    if others:
        raise AlreadyExists(
            f"{folder} holds {quantity(len(others), 'file')} that no demo wrote.",
            "Choose another folder.",
        )


def _write_table(
    folder: Path, seed: int | None, progress: Progress
) -> tuple["pa.Table", "Schema", "Randomness"]:
    """Make up students, and write them with their domain file and a policy."""
    import yaml

    from shoal.data import write_table
    from shoal.data.made_up import MADE_UP
    from shoal.randomness import Randomness

    progress.step(f"Making up {STUDENTS:,} students")
    rng, example = Randomness(seed), MADE_UP["school"]
    students = example.table(STUDENTS, rng.seed())
    write_table(students, folder / TABLE)
    text = yaml.safe_dump(example.domain.to_dict(), sort_keys=False, default_flow_style=None)
    (folder / DOMAIN).write_text(text, encoding="utf-8")
    (folder / POLICY).write_text(POLICY_TEXT, encoding="utf-8")
    return students, example.domain, rng


def _write(page: "Page", ledger: "Ledger", folder: Path) -> list[str]:
    from shoal.pages import findings, write

    return [path.name for path in write(findings(page.to_result(), ledger=ledger), folder)]


def _commands(folder: Path, epsilon: str) -> list[str]:
    """Commands that run as they are on the files of the demo, from the folder it was started in."""
    from shoal.cli.inputs._demo_results import GROUPS
    from shoal.pages.demo import MAP

    shoal = _own_path()
    table, domain, policy, ledger, groups = (
        shlex.quote(str(folder / name)) for name in (TABLE, DOMAIN, POLICY, LEDGER, GROUPS_FOLDER)
    )
    common = f"--epsilon {shlex.quote(epsilon)} --domain {domain}"
    return [
        f"{shoal} cluster {table} -k {GROUPS} {common} --ledger {ledger} -o {groups}",
        f"{shoal} anonymize --policy {policy}",
        f"{shoal} attack membership {table} -k {GROUPS} {common} --columns {','.join(MAP)}",
    ]


def _own_path() -> str:
    """How this program is called from here: its name if the shell finds it, else its path."""
    own = Path(sys.argv[0])
    if own.name != "shoal" or not own.exists():  # called from Python: that of its environment
        own = Path(sys.executable).with_name("shoal")
    on_path = shutil.which("shoal")
    if on_path is not None and os.path.realpath(on_path) == os.path.realpath(own):
        return "shoal"
    shown = os.path.relpath(own) if own.absolute().is_relative_to(Path.cwd()) else own.absolute()
    return shlex.quote(str(shown))
