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
    assert [card["number"] for card in cards] == list(range(1, len(cards) + 1))


def test_all_groups_stand_side_by_side_with_everyone(made):
    matrix = made.groups.to_dict()["matrix"]
    assert matrix["groups"] == [1, 2]
    rows = {row["label"]: row for column in matrix["columns"] for row in column["rows"]}
    assert {"Age", "higher"} & set(rows)
    assert all(len(row["cells"]) == 2 and row["everyone"] for row in rows.values())
    assert any(cell["shade"] for row in rows.values() for cell in row["cells"])


def test_the_page_says_which_columns_carry_the_groups(made):
    assert made.groups.matrix.look[0].startswith("The groups differ most by ")


def test_sizes_add_up_to_everyone(made):
    assert sum(card.size for card in made.groups.cards) == made.values["rows_about"]


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


def test_the_page_says_what_another_budget_would_do_where_anything_was_measured(made):
    assert made.budgets.columns[1:] == ["Size, rows", "Share, in 100", "Mean, % of the range"]
    assert page(fitted(15, n_public=15)).budgets is None


def test_few_rows_are_said_plainly():
    few = page(fitted(15, n_public=15))
    assert any("one group may describe" in limit for limit in few.limits)
    assert any("only the sizes" in limit for limit in few.limits)
    assert all(d["low"] is None for g in few.values["groups"] for d in g["differences"])


COINS = {
    "version": 1,
    "columns": {
        "sex": {"values": [0, 1], "labels": ["female", "male"]},
        "result": {"levels": ["Withdrawn", "Fail", "Pass", "Distinction"]},
        "score": {"low": 0, "high": 20},
    },
}


@pytest.fixture(scope="module")
def coded():
    kind = np.arange(2_000) % 2
    result = np.array(["Fail", "Distinction"])[kind]
    table = {"sex": kind, "result": result, "score": 4.0 + 12 * kind}
    schema = Schema.of(COINS)
    model = PrivateKPrototypes(2, epsilon=2, domain=schema, n_init=1, random_state=1).fit(table)
    return page(model)


def test_levels_are_shown_by_name_with_the_shares_of_each(coded):
    rows = [row for card in coded.groups.cards for row in card.rows if row.label == "Result"]
    assert {row.here for row in rows} == {"Fail", "Distinction"}
    for row in rows:
        assert [name for name, _, _ in row.levels] == COINS["columns"]["result"]["levels"]
        assert sum(share for _, share, _ in row.levels) == pytest.approx(1)
        assert max(row.levels, key=lambda level: level[1])[0] == row.here


def test_codes_are_called_by_their_words_on_cards_in_titles_and_in_a_terminal(coded):
    labels = {row.label for card in coded.groups.cards for row in card.rows}
    assert labels >= {"Sex: female", "Sex: male"}
    titles = " ".join(card.title for card in coded.groups.cards).lower()
    assert "male" in titles
    assert "sex 0" not in titles
    assert "sex male 100 in 100" in " ".join(line.text for line in coded.lines)
