import string

import pytest

from shoal.data.known_files import FILES

every_file = pytest.mark.parametrize("name", FILES)


@every_file
def test_a_file_says_where_it_is_from_and_what_it_hashes_to(name):
    file = FILES[name]
    assert file.home.startswith("https://")
    assert len(file.sha256) == 64
    assert set(file.sha256) <= set(string.hexdigits.lower())


@every_file
def test_a_file_has_an_address_or_says_why_not(name):
    file = FILES[name]
    assert bool(file.url) != bool(file.changes)
    assert not file.url or file.url.startswith("https://")


def test_no_two_files_share_a_name_or_a_hash():
    assert len({file.name for file in FILES.values()}) == len(FILES)
    assert len({file.sha256 for file in FILES.values()}) == len(FILES)


@pytest.mark.parametrize("name", ["gowalla_nyc", "road3d_excerpt"])
def test_excerpts_are_called_so(name):
    assert FILES[name].changes.startswith("an excerpt")
