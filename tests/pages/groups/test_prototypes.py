import numpy as np
import pytest

from shoal.cluster import PrivateKPrototypes
from shoal.domain import Schema
from shoal.pages import findings, render
from shoal.pages.groups import page

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "level": {"values": ["basic", "higher"]},
            "town": {"values": ["harbour", "hills", "plain"]},
        },
    }
)


def fitted(n, n_public=None):
    rng = np.random.default_rng(0)
    older = np.arange(n) % 3 == 0
    rows = {
        "age": np.clip(np.where(older, 75, 25) + rng.normal(0, 5, n), 0, 100),
        "level": np.where(older, "higher", "basic"),
        "town": rng.choice(["harbour", "hills", "plain"], n),
    }
    model = PrivateKPrototypes(
        2, epsilon=1, domain=SCHEMA, n_init=2, n_synthetic=300, n_public=n_public, random_state=1
    )
    return model.fit(rows)


@pytest.fixture(scope="module")
def made():
    return page(fitted(2000), title="Pupils", publisher="A school")


@pytest.mark.heavy
def test_there_is_a_card_for_each_group_largest_first(made):
    cards = made.groups.to_dict()["cards"]
    assert [card["number"] for card in cards] == [g["group"] for g in made.values["groups"]]
    assert all(card["low"] <= card["size"] <= card["high"] for card in cards)
    sizes = [group["rows_about"] for group in made.values["groups"]]
    assert sizes == sorted(sizes, reverse=True)
    assert made.tables[0].columns[1] == f"Group {made.values['groups'][0]['group']}"


def test_all_groups_stand_side_by_side_with_everyone(made):
    (table,) = made.tables
    assert (table.columns[0], table.columns[-1]) == ("Column", "Everyone")
    names = [row[0] for row in table.rows]
    assert names[:2] == ["Rows, about", "Age"]
    assert "Level: higher, of 100" in names
    assert all(len(row) == 4 for row in table.rows)


def test_the_sizes_in_the_table_add_up_to_everyone(made):
    (table,) = made.tables
    *sizes, everyone = (int(cell.replace(",", "")) for cell in table.rows[0][1:])
    assert sum(sizes) == everyone == made.values["rows_about"]


def test_groups_are_described_by_what_differs(made):
    rows = [row for card in made.groups.cards for row in card.rows]
    assert "Higher" in {row.label for row in rows if row.is_share}
    assert all(row.here and row.everyone and row.interval for row in rows)
    assert any(line.label.startswith("Group") for line in made.lines if hasattr(line, "label"))


def test_the_code_on_the_page_states_the_promise(made):
    assert "epsilon='1', domain=schema, random_state=1" in made.settings["code"]


def test_the_code_on_the_page_leaves_out_rows_as_the_fit_did():
    model = fitted(300)
    model.nonfinite = "drop"
    assert "nonfinite='drop'" in page(model).settings["code"]


def test_a_report_takes_it(made):
    html = render(findings(made.to_result()))
    assert "Pupils" in html
    assert html.count('class="card group"') == 2


def test_a_publisher_may_name_the_groups():
    named = page(fitted(2000), names=["Younger", "Older"])
    assert {card.title for card in named.groups.cards} == {"Younger", "Older"}


def test_few_rows_are_said_plainly():
    few = page(fitted(15, n_public=15))
    assert any("one group may describe" in limit for limit in few.limits)
    assert any("only the sizes" in limit for limit in few.limits)
    assert all(d["low"] is None for g in few.values["groups"] for d in g["differences"])
