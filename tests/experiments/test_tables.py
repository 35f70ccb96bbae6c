from shoal.experiments._tables import lead_of, table_of
from shoal.pages import Claim


def test_a_table_has_what_a_page_needs():
    table = table_of("Title", ["a", "b"], [("1", "2")])
    assert table == {"title": "Title", "columns": ["a", "b"], "rows": [["1", "2"]], "note": "",
                     "marked": False}  # fmt: skip


def test_the_lead_counts_every_verdict():
    claims = [Claim("1", "a", "holds")] * 2 + [Claim("2", "b", "cannot be tested here")]
    expected = "Of 3 claims 2 hold, 0 do not hold and 1 cannot be tested here."
    assert lead_of(claims) == expected
