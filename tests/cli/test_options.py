from typing import Annotated, get_args, get_origin

import pytest

from shoal.cli import _options as options

OPTIONS = {
    name: get_args(kind)[-1]
    for name, kind in vars(options).items()
    if get_origin(kind) is Annotated and name != "Table"
}


def test_the_options_that_verbs_share_are_here():
    assert len(OPTIONS) > 20


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_option_can_be_set_by_the_environment_and_says_what_it_is_for(option):
    assert option.envvar.startswith("SHOAL_")
    assert option.help.endswith(".")
