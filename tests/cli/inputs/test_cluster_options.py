from typing import get_args

import pytest

from shoal.cli.inputs import cluster_options


@pytest.mark.parametrize("name", cluster_options.__all__)
def test_every_option_can_be_set_by_the_environment_and_says_what_it_is_for(name):
    *_, option = get_args(getattr(cluster_options, name))
    assert option.envvar.startswith("SHOAL_")
    assert option.help.endswith(".")
