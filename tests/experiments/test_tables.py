from shoal.experiments._tables import table_of


def test_a_table_has_what_a_page_needs():
    table = table_of("Title", ["a", "b"], [("1", "2")])
    assert table == {"title": "Title", "columns": ["a", "b"], "rows": [["1", "2"]], "note": "",
                     "marked": False}  # fmt: skip
