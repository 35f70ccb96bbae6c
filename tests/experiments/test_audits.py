from shoal.experiments._audits import audits


def test_a_broken_form_is_audited_where_so_much_is_claimed():
    (row,) = audits("Piecewise, epsilon on every column, d = 2", 40_000)
    assert (row["verdict"], row["claim"]) == ("violated", 1.0)
    assert row["bound"] > 1
