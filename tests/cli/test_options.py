from dataclasses import dataclass
from inspect import signature
from typing import Annotated, get_args, get_origin

import pytest
import typer
from typer.models import ArgumentInfo

from shoal.cli import _options as options
from shoal.cli._main import app

# A number of groups and new people are of one table, a refusal is overruled each time anew, and a
# list is asked for once.
WITHOUT_SETTING = {
    "perturb groups",
    "cluster publish_anyway",
    "PublishAnyway",
    "anonymize_apply new_people",
    "audit names",
    "FeaturesTables",
    "cluster replaced",
    "document kinds",
}
SHARED = {
    name: option
    for name, option in vars(options).items()
    if get_origin(option) is Annotated and name != "Table"
}
TABLES = {
    name.lower(): table
    for name, table in vars(options).items()
    if isinstance(table, dict) and name.isupper() and "Annotated" in str(table)
}
OWN = {
    f"{verb} {name}": option
    for verb, table in TABLES.items()
    for name, option in table.items()
    if not isinstance(get_args(option)[1], ArgumentInfo)
}


@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_every_option_can_be_set_by_the_environment_and_says_what_it_is_for(name):
    *_, option = get_args((SHARED | OWN)[name])
    if name in WITHOUT_SETTING:
        assert option.envvar is None
    else:
        assert option.envvar.startswith("SHOAL_")
    assert option.help.endswith(".")


@dataclass(frozen=True)
class Visit:
    town: str
    days: int = 3
    note: str = "none"


def test_a_verb_takes_the_fields_of_a_request_in_the_order_of_the_table():
    table = {
        "days": Annotated[int, typer.Option(help="Days.")],
        "town": Annotated[str, typer.Argument(help="Town.")],
    }
    seen = []

    @options.takes(Visit, options=table)
    def visit(request: Visit, quiet: options.Quiet = False) -> None:
        """Visit a town."""
        seen.append((request, quiet))

    assert [*signature(visit).parameters] == ["days", "town", "quiet"]
    assert signature(visit).parameters["days"].default == 3
    visit(days=5, town="Ulm", quiet=True)
    assert seen == [(Visit("Ulm", 5), True)]
    assert visit.__doc__ == "Visit a town."


def test_other_options_of_the_table_are_parameters_of_the_verb():
    days = Annotated[int, typer.Option(help="Days.")]

    @options.takes(options={"days": days})
    def wait(days: int = 2, quiet: options.Quiet = False) -> int:
        """Wait."""

    assert signature(wait).parameters["days"].annotation is days
    assert signature(wait).parameters["days"].default == 2
    assert signature(wait).parameters["quiet"].annotation is options.Quiet


def test_an_option_that_a_verb_does_not_take_is_refused():
    def wait(quiet: options.Quiet = False) -> None:
        """Wait."""

    with pytest.raises(TypeError, match="wait has no parameter days"):
        options.takes(options={"days": Annotated[int, typer.Option(help="Days.")]})(wait)


def test_verbs_have_no_option_beside_the_table():
    verbs = {command.callback.__name__: command.callback for command in app.registered_commands}
    for group in app.registered_groups:
        if group.name not in ("attack", "anonymize"):
            continue
        made = [group.typer_instance.registered_callback, *group.typer_instance.registered_commands]
        callbacks = [each.callback for each in made if each is not None]
        prefix = "" if group.name == "attack" else f"{group.name}_"
        verbs |= {prefix + each.__name__: each for each in callbacks}
    verbs["anonymize"] = verbs.pop("anonymize_anonymize")
    for name, table in TABLES.items():
        beside = signature(verbs[name]).parameters.keys() - table.keys()
        assert beside <= {"json", "quiet", "context"}
