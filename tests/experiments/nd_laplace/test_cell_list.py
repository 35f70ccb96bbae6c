import pytest

from shoal.audit.twins import twins
from shoal.experiments.nd_laplace._cell_list import BUDGETS, PRIVACY_BUDGETS, TWINS, cells


@pytest.mark.heavy
def test_the_full_plan_has_the_budgets_of_the_thesis():
    planned = cells(False)
    utility = {c.settings["epsilon"] for c in planned if c.part == "utility"}
    assert utility == set(BUDGETS)
    assert len(PRIVACY_BUDGETS) == 12


def test_tables_that_are_not_here_are_left_out(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    names = {str(cell.settings.get("data", "")) for cell in cells(True)}
    assert names
    assert not [name for name in names if name.startswith(("seeds", "heart"))]


def test_every_broken_form_exists():
    assert set(TWINS) <= set(twins)
