"""The account of a ledger: totals, limits and what is left of them, exactly."""

from fractions import Fraction
from pathlib import Path

import pytest

from shoal.errors import InvalidSetting, NotALedger
from shoal.privacy import ApproxDP, Ledger, LocalDP, MetricDP, PureDP
from shoal.privacy.ledger_summary import LimitKind, account_of, existing_ledger, limit_of


def write(ledger, made):
    ledger._write(made, made, "test", "a", None)


def test_what_was_promised_and_simulated_is_taken_from_a_limit_together():
    ledger = Ledger(limit=[PureDP(3), ApproxDP(1, "1e-6")])
    write(ledger, PureDP("0.1"))
    write(ledger, PureDP("0.2").simulated(True))
    account = account_of(ledger)
    assert account.totals == (PureDP("0.1"),)
    assert [each.simulation for each in account.simulated] == [True]
    assert [each.epsilon for each in account.left] == [Fraction("2.7"), Fraction(1)]
    assert [each.delta for each in account.left] == [None, Fraction(1, 10**6)]


def test_no_less_than_nothing_is_left():
    ledger = Ledger()
    write(ledger, PureDP(5))
    ledger.set_limit(PureDP(3))
    assert account_of(ledger).left[0].epsilon == 0


def test_each_kind_of_limit_is_made_exactly():
    assert limit_of(LimitKind.pure, "0.1") == PureDP("0.1")
    assert limit_of(LimitKind.replace_one, "1", "1e-9") == ApproxDP(1, "1e-9", "replace-one")
    assert limit_of(LimitKind.local, "2") == LocalDP(2)
    assert limit_of(LimitKind.metric, "2", unit="km") == MetricDP(2, unit="km")
    with pytest.raises(InvalidSetting, match="delta does not go with kind='local'"):
        limit_of(LimitKind.local, "2", "1e-9")


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(NotALedger, match="no ledger"):
        existing_ledger(Path(tmp_path / "none.ledger"))
    assert not (tmp_path / "none.ledger").exists()
