"""Every public name of the package can be imported from it."""

import pytest

import shoal.cluster


@pytest.mark.parametrize("name", shoal.cluster.__all__)
def test_a_public_name_can_be_imported(name):
    assert getattr(shoal.cluster, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'KMeens'"):
        _ = shoal.cluster.KMeens
