import re

from shoal.experiments._results import Results
from shoal.experiments.nd_laplace._exhibits import exhibits


def test_every_figure_and_table_of_chapter_6_has_its_number_on_the_page():
    numbers = " ".join(exhibit.number for exhibit in exhibits(Results([])))
    found = set(re.findall(r"6\.\d+", numbers))
    assert found == {f"6.{i}" for i in range(1, 31)}


def test_an_entry_shows_something_or_says_why_not():
    for exhibit in exhibits(Results([])):
        shown = exhibit.figures or exhibit.tables or exhibit.lines
        assert bool(shown) != bool(exhibit.missing)
