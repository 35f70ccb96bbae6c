from typing import get_args

import pytest

from shoal.cli import options


@pytest.mark.parametrize("name", [name for name in options.__all__ if name != "Table"])
def test_every_option_can_be_set_by_the_environment_and_says_what_it_is_for(name):
    *_, option = get_args(getattr(options, name))
    assert option.envvar.startswith("SHOAL_")
    assert option.help.endswith(".")
