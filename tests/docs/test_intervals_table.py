"""The page on intervals says what the last runs measured."""

import importlib.util
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "intervals_table.py"
_spec = importlib.util.spec_from_file_location("intervals_table", TOOL)
intervals_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(intervals_table)


def test_the_page_shows_what_the_last_runs_measured():
    """If not: ``python tools/intervals_table.py``."""
    page = intervals_table.PAGE.read_text(encoding="utf-8")
    assert intervals_table.with_tables(page) == page


def test_every_cell_was_fitted_often_enough():
    for name in ("first", "second", "third"):
        for row in intervals_table.results().get(name, []):
            assert row["fits"] >= 40, row["cell"]
