from dataclasses import dataclass
from inspect import signature
from typing import Annotated, get_args, get_origin

import pytest
import typer

from shoal.cli import _options as options

# A number of groups is of one table, and a refusal is overruled each time anew.
WITHOUT_SETTING = {"perturb groups", "cluster publish_anyway", "PublishAnyway"}
SHARED = {
    name: option
    for name, option in vars(options).items()
    if get_origin(option) is Annotated and name != "Table"
}
OWN = {
    f"{verb} {name}": option
    for verb, table in (("cluster", options.CLUSTER), ("perturb", options.PERTURB))
    for name, option in table.items()
    if name != "table"
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
