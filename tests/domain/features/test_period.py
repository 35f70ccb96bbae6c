"""The clock of a zone, by Python's own zone file."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from shoal.domain.features import Period


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "Asia/Kathmandu"])
def test_the_clock_of_a_zone_agrees_with_the_standard_library(zone):
    period = Period(date(2025, 1, 1), date(2026, 1, 1), zone)
    start = datetime(2024, 12, 31, tzinfo=UTC)
    instants = [start + timedelta(minutes=29 * i) for i in range(18_000)]
    at = np.array([int(i.timestamp()) * 1_000_000 for i in instants])
    local = [i.astimezone(ZoneInfo(zone)).replace(tzinfo=UTC) for i in instants]
    expected = np.array([int(i.timestamp()) * 1_000_000 for i in local])
    assert np.array_equal(period.on_clock(at), expected)
