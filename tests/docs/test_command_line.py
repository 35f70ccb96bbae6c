"""The page on the command line names every verb, every setting and every exit code."""

import re
from pathlib import Path

import pytest
import typer

from shoal.cli._main import app

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "command-line.md").read_text()
SETTINGS = PAGE[PAGE.index("## Settings") : PAGE.index("## Exit codes")]


def verbs(command, *names):
    if not hasattr(command, "commands"):
        return {" ".join(names): command}
    return {k: v for n, c in command.commands.items() for k, v in verbs(c, *names, n).items()}


VERBS = verbs(typer.main.get_command(app))


def settings_of(*names):
    return {p.envvar for name in names for p in VERBS[name].params if p.envvar}


def row_of(words):
    """The settings in the row of the table that ends in these words."""
    (row,) = [line for line in SETTINGS.splitlines() if line.endswith(f"| {words} |")]
    return set(re.findall(r"SHOAL_\w+", row))


def test_every_verb_is_listed():
    for name in VERBS:
        assert f"$ shoal {name} " in PAGE


def test_the_table_of_settings_is_the_one_of_the_options():
    everywhere = row_of("`--json` and `--quiet` of every verb")
    released = row_of("the options of `demo`, `cluster` and `perturb`")
    rows = row_of("the options of `cluster` and `perturb`")
    file = "`--ledger` of `cluster` and `perturb`, and the file of `ledger show` and `ledger limit`"
    ledger = row_of(file)
    engines = "`cluster`, `perturb`, `anonymize` and its verbs, `evaluate`, `attack membership`"
    engine = row_of(f"`--engine` and `--master` of {engines}")
    assert settings_of("version") == everywhere
    assert settings_of("demo") == everywhere | released
    assert settings_of("ledger show") == settings_of("ledger limit") == everywhere | ledger
    assert settings_of("evaluate") == everywhere | engine | row_of("the options of `evaluate`")
    assert settings_of("init") == everywhere | row_of("the options of `init`")
    assert settings_of("plan") == everywhere | row_of("the options of `plan`")
    for verb in ("cluster", "perturb"):
        alone = row_of(f"the options of `{verb}`")
        assert settings_of(verb) == everywhere | released | rows | ledger | engine | alone


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("demo", set()),
        ("anonymize apply", {"--new-people"}),
        ("init", {"--estimate-bounds", "--events", "--people", "--public"}),
        ("ledger limit", {"--delta", "--epsilon", "--kind", "--max-rows-per-person", "--unit"}),
    ],
)
def test_options_without_a_setting_are_those_named(verb, options):
    found = {p.opts[0] for p in VERBS[verb].params if p.envvar is None and p.opts[0][0] == "-"}
    assert found == options
    without = SETTINGS[SETTINGS.index("Without a setting") :]
    assert not [option for option in options if f"`{option}`" not in without]


def test_every_exit_code_the_command_names_is_explained():
    codes = re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)
    named = re.findall(r"(?<=[ :])\d+(?= [a-z])", app.info.epilog.split(".")[0])
    assert len(named) >= 7
    assert set(named) <= set(codes)


def test_the_settings_of_anonymize_are_named():
    named = set(re.findall(r"SHOAL_\w+", SETTINGS))
    group = typer.main.get_command(app).commands["anonymize"]
    found = {p.envvar for p in group.params if p.envvar}
    for verb in ("init", "check", "apply"):
        options = [p for p in VERBS[f"anonymize {verb}"].params if p.opts[0][0] == "-"]
        without = {p.opts[0] for p in options if not p.envvar}
        assert without == ({"--new-people"} if verb == "apply" else set())
        found |= settings_of(f"anonymize {verb}")
    assert {"SHOAL_POLICY", "SHOAL_CUT", "SHOAL_K"} <= found <= named
    assert "$ shoal anonymize --policy" in PAGE


@pytest.mark.parametrize("verb", ["audit", "attack membership", "attack linkage"])
def test_the_settings_of_audits_and_attacks_are_named(verb):
    named = set(re.findall(r"SHOAL_\w+", SETTINGS))
    without = {p.opts[0] for p in VERBS[verb].params if not p.envvar and p.opts[0][0] == "-"}
    assert without == ({"--list"} if verb == "audit" else set())
    assert settings_of(verb) <= named
