"""The limits and the queue of a server, without a server."""

import asyncio

import pytest

from shoal.collector import _server_state as service
from shoal.collector._campaign import Campaign
from shoal.collector._report_batches import WireError
from shoal.collector._server_state import Limiter, Writer
from shoal.collector._storage import Accepted, Arrival, Unavailable

from .campaigns import campaign_document


def test_a_limit_fills_up_again_at_its_rate_and_what_was_not_used_is_given_back(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(service.time, "monotonic", lambda: now[0])
    limiter = Limiter(20, seconds=10)
    limiter.take("a", 20)
    with pytest.raises(WireError) as refusal:
        limiter.take("a", 4)
    assert (refusal.value.status, refusal.value.retry_after) == (429, 3)
    limiter.take("b")  # another one's
    limiter.give_back("a", 3)
    limiter.take("a", 3)
    now[0] += 1
    limiter.take("a", 2)
    with pytest.raises(WireError):
        limiter.take("a")


def test_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr(service, "_REMEMBERED", 5)
    limiter = Limiter(1, 60)
    for number in range(50):
        limiter.take(number)
    assert len(limiter._left) == 5


class Store:
    """Accepts everything, or nothing."""

    def __init__(self, is_full=False):
        self.is_full, self.calls = is_full, []

    def accept(self, arrivals, epoch):
        if self.is_full:
            raise Unavailable("full")
        self.calls.append(len(arrivals))
        return [Accepted(len(arrival.whos), 0) for arrival in arrivals]


async def submit(writer, arrivals):
    running = asyncio.create_task(writer.run())
    results = await asyncio.gather(*map(writer.submit, arrivals), return_exceptions=True)
    running.cancel()
    return results


def test_requests_that_come_together_are_one_transaction():
    store = Store()
    arrivals = [Arrival(0, [bytes([i]) * 16], [1]) for i in range(30)]
    results = asyncio.run(submit(Writer(store, lambda: 0), arrivals))
    assert [result.accepted for result in results] == [1] * 30
    assert sum(store.calls) == 30
    assert len(store.calls) < 30


def test_shares_fill_the_queue_sooner_than_reports():
    shares = Arrival(0, [bytes([i]) * 16 for i in range(10)], shares=[bytes(8_208)] * 10)
    reports = Arrival(0, shares.whos, [1] * 10)
    waiting = Writer(Store(), lambda: 0, waiting=service.MOST_WAITING - 50)
    refused, taken = asyncio.run(submit(waiting, [shares, reports]))
    assert (refused.status, taken.accepted) == (429, 10)


def test_a_failure_of_any_kind_is_answered_and_the_next_report_is_written():
    class Failing(Store):
        def accept(self, arrivals, epoch):
            if not self.calls:
                self.calls.append(0)
                raise MemoryError
            return super().accept(arrivals, epoch)

    async def run():
        writer = Writer(Failing(), lambda: 0)
        running = asyncio.create_task(writer.run())
        arrival = Arrival(0, [b"a" * 16], [1])
        with pytest.raises(WireError) as refusal:
            await asyncio.wait_for(writer.submit(arrival), 5)
        was_failing = writer.is_failing
        result = await asyncio.wait_for(writer.submit(arrival), 5)
        running.cancel()
        return refusal.value.status, was_failing, result.accepted, writer.is_failing

    assert asyncio.run(run()) == (503, True, 1, False)


def test_a_database_that_is_full_refuses_all_who_wait():
    arrivals = [Arrival(0, [bytes([i]) * 16], [1]) for i in range(3)]
    results = asyncio.run(submit(Writer(Store(is_full=True), lambda: 0), arrivals))
    assert [(result.status, result.retry_after) for result in results] == [(503, 5)] * 3


def test_ids_that_are_due_are_deleted_although_tries_fail(monkeypatch):
    class Stubborn:
        def __init__(self):
            self.failures = [MemoryError(), Unavailable("busy"), RuntimeError()]

        def forget_people(self, rounds):
            if self.failures:
                raise self.failures.pop()

    monkeypatch.setattr(service, "_EXPIRY_SECONDS", 0)
    document = campaign_document(closes="2021-01-01T00:00:00Z")
    campaign, store = Campaign({}, document, b"c" * 16), Stubborn()
    running = service.Service(campaign, store, 1, None)
    asyncio.run(asyncio.wait_for(running.delete_ids_when_due(0), 5))
    assert not store.failures
    assert running.counts["deletion_failed"] == 3
