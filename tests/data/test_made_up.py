import pytest

from shoal.data.made_up import MADE_UP
from shoal.engine import rows_of


@pytest.mark.parametrize("name", MADE_UP)
def test_a_made_up_table_fits_its_domain_and_its_seed_makes_it_again(name):
    made = MADE_UP[name]
    table = made.table(500, 3)
    assert table.equals(made.table(500, 3))
    assert not table.equals(made.table(500, 4))
    rows = rows_of(table, made.domain, outside="refuse")
    assert rows.size() == 500
