from datetime import date

from shoal.anonymize.policy_check import days, nearest


def test_the_nearest_spelling_is_offered_or_else_all():
    assert nearest("roel", ["role", "type"]) == "; did you mean 'role'?"
    assert nearest("zzz", ["role", "type"]) == "; there are role, type"


def test_a_domain_of_days_may_be_dates_or_text():
    assert days((date(2001, 1, 1), "2002-01-01")) == (date(2001, 1, 1), date(2002, 1, 1))
    assert days(("2002-01-01", "2001-01-01")) is None
    assert days((1, 2)) is None
