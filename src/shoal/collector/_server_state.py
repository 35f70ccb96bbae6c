"""The state of a running server: its queue of reports, its limits, what it checks and counts.

    checked reports ─► queue ─► one transaction for many ─► answers, after its commit

Nothing here logs a key, a report or an address.
"""

import asyncio
import calendar
import hashlib
import hmac
import ipaddress
import json
import math
import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from shoal.collector import client
from shoal.collector._campaign import Campaign, is_possible
from shoal.collector._report_batches import Batch, ShareBatch, WireError, who_of
from shoal.collector._storage import Accepted, Arrival, Store, Unavailable

if TYPE_CHECKING:
    from fastapi import Request


MOST_WAITING = 20_000  # reports in the queue; more are told to come back
_GATHER_SECONDS = 0.02
_GATHER_REPORTS = 1_000
_FOLD_EVERY = 256  # transactions
REPORTS_PER_ADDRESS = 300  # an hour: the classes of a school behind one address
_REQUESTS_PER_KEY = 20  # a minute: a device that tries again waits longer each time
_ADMIN_FAILURES = 20  # a minute from one address
_CHECK_SECONDS = 5  # between two writes that only try whether the database takes them
_EXPIRY_SECONDS = 60  # between two looks at the clock
_REMEMBERED = 10_000  # keys or addresses, in memory only
STATUS_TEXTS = {
    400: "The request is malformed.",
    401: "A key is unknown or revoked.",
    406: "Only version 1 is spoken here.",
    409: "The round is not open, or not this key's.",
    410: "The campaign or the round is closed.",
    429: "Too many requests or reports now.",
    503: "The database cannot take reports now.",
}


@dataclass
class Writer:
    """Gathers reports of several requests into one transaction, and answers after its commit."""

    store: Store
    epoch: Callable[[], int]
    waiting: int = 0
    speed: float = 5_000.0  # reports a second, as they went lately
    is_failing: bool = False  # whether the last write failed
    _queue: "asyncio.Queue[tuple[Arrival, asyncio.Future[Accepted]]]" = field(
        default_factory=asyncio.Queue
    )

    async def submit(self, arrival: Arrival) -> Accepted:
        """Return what became of a request, once it is committed."""
        size = len(arrival.whos) * _weight(arrival)
        if self.waiting + size > MOST_WAITING:
            raise WireError(429, STATUS_TEXTS[429], 1 + int(self.waiting / self.speed))
        self.waiting += size
        future: asyncio.Future[Accepted] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((arrival, future))
        try:
            return await future
        finally:
            self.waiting -= size

    async def run(self) -> None:
        """Write what is gathered, until cancelled; no failure ends it."""
        rounds = 0
        while True:
            gathered = await self._gather()
            start = time.monotonic()
            await self._write(gathered)
            seconds = max(time.monotonic() - start, 1e-3)
            size = sum(len(arrival.whos) for arrival, _ in gathered)
            self.speed = 0.9 * self.speed + 0.1 * size / seconds
            rounds += 1
            if rounds % _FOLD_EVERY == 0:
                with suppress(Exception):  # what could not be folded waits for the next time
                    await asyncio.to_thread(self.store.fold)

    async def _gather(self) -> "list[tuple[Arrival, asyncio.Future[Accepted]]]":
        """Wait for a request, then a moment for others: one flush of the disk for all."""
        gathered = [await self._queue.get()]
        until = time.monotonic() + _GATHER_SECONDS
        size = len(gathered[0][0].whos)
        while size < _GATHER_REPORTS and (left := until - time.monotonic()) > 0:
            try:
                gathered.append(await asyncio.wait_for(self._queue.get(), left))
            except TimeoutError:
                break
            size += len(gathered[-1][0].whos)
        return gathered

    async def _write(self, gathered: "list[tuple[Arrival, asyncio.Future[Accepted]]]") -> None:
        arrivals = [arrival for arrival, _ in gathered]
        try:
            results = await asyncio.to_thread(self.store.accept, arrivals, self.epoch())
        # Whatever it is, a lack of memory too: nothing was committed, and all who wait must know.
        except Exception:
            self.is_failing = True
            for _, future in gathered:
                if not future.done():
                    future.set_exception(WireError(503, STATUS_TEXTS[503], 5))
            return
        self.is_failing = False
        for (_, future), result in zip(gathered, results, strict=True):
            if not future.done():
                future.set_result(result)


class Histogram:
    """How long requests took, in the form that Prometheus reads."""

    _LIMITS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

    def __init__(self) -> None:
        self._counts = [0] * (len(self._LIMITS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one request."""
        self._counts[bisect_left(self._LIMITS, seconds)] += 1
        self._sum += seconds

    def text(self, name: str) -> str:
        """Return the lines of the histogram under a name."""
        limits = [*map(str, self._LIMITS), "+Inf"]
        totals = list(accumulate(self._counts))
        lines = [f'{name}_bucket{{le="{at}"}} {n}' for at, n in zip(limits, totals, strict=True)]
        lines += [f"{name}_sum {self._sum:.6f}", f"{name}_count {totals[-1]}"]
        return "".join(f"{line}\n" for line in lines)


def _weight(arrival: Arrival) -> int:
    """How many reports one line of a request counts as in the queue: a share takes more memory."""
    return 1 + len(arrival.shares[0]) // 1_000 if arrival.shares else 1


class Limiter:
    """Bounds how much one key or address may do; remembered in memory, never written anywhere.

    Parameters
    ----------
    amount
        How much at once, and again within so many seconds.
    """

    def __init__(self, amount: float, seconds: float) -> None:
        self.amount, self._rate = amount, amount / seconds
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, name: Hashable, n: int = 1) -> None:
        """Refuse somebody who did too much lately, and say when there is room again."""
        left = self._refilled(name)
        if left < n:
            raise WireError(429, STATUS_TEXTS[429], 1 + int((n - left) / self._rate))
        self._remember(name, left - n)

    def give_back(self, name: Hashable, n: int) -> None:
        """Undo a part of what was taken."""
        if n:
            self._remember(name, min(self.amount, self._refilled(name) + n))

    def forget(self, name: Hashable) -> None:
        """Remember nothing of somebody."""
        self._left.pop(name, None)

    def __contains__(self, name: Hashable) -> bool:
        """Whether somebody did anything that is remembered."""
        return name in self._left

    def _refilled(self, name: Hashable) -> float:
        now = time.monotonic()
        left, at = self._left.get(name, (self.amount, now))
        return min(self.amount, left + (now - at) * self._rate)

    def _remember(self, name: Hashable, left: float) -> None:
        self._left[name] = (left, time.monotonic())
        self._left.move_to_end(name)
        while len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)


class Service:
    """The state of a running server.

    Parameters
    ----------
    reports_per_address
        How many reports an hour one address may send to an open campaign.
    admin
        SHA-256 of the admin token; None has no admin.
    aggregator
        Of two aggregators which this one is, 0 or 1; None where reports are taken.
    """

    def __init__(
        self,
        campaign: Campaign,
        store: Store,
        reports_per_address: int,
        admin: bytes | None,
        aggregator: int | None = None,
    ) -> None:
        self.campaign, self.store, self.admin = campaign, store, admin
        self.aggregator = aggregator
        self._reports_by_address = Limiter(reports_per_address, 3600)
        self._requests_by_key = Limiter(_REQUESTS_PER_KEY, 60)
        self._admin_failures = Limiter(_ADMIN_FAILURES, 60)
        self.writer = Writer(store, self.epoch)
        self.counts: Counter[str] = Counter()
        self.seconds = Histogram()
        self._documents: tuple[float, dict[tuple[str, int], Any]] = (-1e9, {})
        self._people: tuple[float, int] = (-1e9, 0)
        self._checked = -1e9
        self._verified: dict[str, dict[str, Any]] = {}

    def _moment(self, name: str) -> int:
        """Return when the campaign opens or closes, in seconds."""
        return calendar.timegm(time.strptime(self.campaign.document[name], "%Y-%m-%dT%H:%M:%SZ"))

    def epoch(self) -> int:
        """Return the number of the present epoch."""
        elapsed = max(0, int(time.time()) - self._moment("opens"))
        return elapsed // int(self.campaign.document["epoch_seconds"])

    async def delete_ids_when_due(self, days: float) -> None:
        """Close every round and delete all ids, so many days after the campaign has closed.

        Shares of an aggregator go too: whoever wants them opened does so before.
        """
        while time.time() < self._moment("closes") + days * 86_400:
            await asyncio.sleep(_EXPIRY_SECONDS)
        while True:
            try:
                rounds = len(self.campaign.shares)
                await asyncio.to_thread(self.store.forget_people, rounds)
                return
            # Whatever it is: ids that are due must not stay because one try failed.
            except Exception:
                self.counts["deletion_failed"] += 1
                await asyncio.sleep(_EXPIRY_SECONDS)

    async def documents(self) -> dict[tuple[str, int], Any]:
        """Return the published documents, at most a second old."""
        at, documents = self._documents
        if time.monotonic() - at > 1:
            documents = await self._read(self.store.documents)
            self._documents = time.monotonic(), documents
        return documents

    async def people(self) -> int:
        """Return how many have reported, at most some seconds old."""
        at, people = self._people
        if time.monotonic() - at > 5:
            people = await self._read(self.store.count)
            self._people = time.monotonic(), people
        return people

    async def check_ready(self) -> None:
        """Refuse if reports could not be written now."""
        if self.writer.is_failing or time.monotonic() - self._checked > _CHECK_SECONDS:
            await self._read(self.store.check_writable)
            self.writer.is_failing = False
            self._checked = time.monotonic()

    async def _read(self, ask: Callable[[], Any]) -> Any:
        try:
            return await asyncio.to_thread(ask)
        except (Unavailable, MemoryError):
            raise WireError(503, STATUS_TEXTS[503], 5) from None

    async def take(self, batch: Batch, address: str) -> Accepted:
        """Check a batch and count its reports."""
        self._check_time()
        question = await self._question(batch.round)
        bad = [i for i, one in enumerate(batch.reports) if not is_possible(one, question)]
        if bad:
            raise WireError(422, f"Impossible reports at positions {bad[:20]}.")
        self._check_rounds(batch)
        whos = [who_of(key) for key in batch.keys]
        return await self._submit(Arrival(batch.round, whos, batch.reports), address)

    async def is_used(self, key: bytes) -> bool:
        """Return whether an invitation has reported; refuse one that is not known here."""
        self._check_time()
        who = who_of(key)
        if not await self._read(lambda: self.store.is_known(who)):
            raise WireError(401, STATUS_TEXTS[401])
        return bool(await self._read(lambda: self.store.has_reported(who)))

    @property
    def other_address(self) -> str | None:
        """Where the other of two aggregators is, which a tab sends its share to; None without."""
        if self.aggregator is None:
            return None
        return str(self.campaign.aggregators[1 - self.aggregator]["address"]).rstrip("/")

    @property
    def share_bytes(self) -> int:
        """How long a share is that this aggregator takes: a seed, or a tag and a word a cell."""
        cells = math.prod(self.campaign.document["rounds"][0]["question"]["cells"])
        return 16 + 8 * cells if self.aggregator else 32

    async def take_shares(self, batch: ShareBatch, address: str) -> Accepted:
        """Check a batch of shares and keep them."""
        self._check_time()
        if batch.aggregator != self.aggregator:
            raise WireError(409, "These shares are for the other aggregator.")
        whos = [who_of(key) for key in batch.keys]
        return await self._submit(Arrival(0, whos, shares=batch.shares), address)

    async def _submit(self, arrival: Arrival, address: str) -> Accepted:
        if self.campaign.has_tokens:
            # Whoever has one key can put it first in few requests only; other keys are others'.
            return await self._write_for_key(arrival)
        limit, name, n = self._reports_by_address, network_of(address), len(arrival.whos)
        if n > limit.amount:
            raise WireError(413, f"One address may send {limit.amount:.0f} reports an hour here.")
        limit.take(name, n)
        accepted = 0
        try:
            result = await self._write(arrival)
            accepted = result.accepted
        finally:
            limit.give_back(name, n - accepted)
        return result

    async def _write_for_key(self, arrival: Arrival) -> Accepted:
        limit, who = self._requests_by_key, arrival.whos[0]
        was_remembered = who in limit
        limit.take(who)
        try:
            return await self._write(arrival)
        except WireError as error:
            # Strangers' keys do not stay: they would push out how often real ones came.
            if error.status == 401 and not was_remembered:
                limit.forget(who)
            raise

    async def _write(self, arrival: Arrival) -> Accepted:
        result = await self.writer.submit(arrival)
        if result.problem == "unknown":
            raise WireError(401, STATUS_TEXTS[401])
        if result.problem == "closed":
            raise WireError(410, STATUS_TEXTS[410])
        self.counts["accepted"] += result.accepted
        self.counts["repeated"] += result.repeated
        return result

    def _check_time(self) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if now < self.campaign.document["opens"]:
            raise WireError(409, STATUS_TEXTS[409])
        if now > self.campaign.document["closes"]:
            raise WireError(410, STATUS_TEXTS[410])

    async def _question(self, number: int) -> dict[str, Any]:
        """Return what a round asks, if it asks anything yet."""
        document, rounds = self.campaign.document, self.campaign.document["rounds"]
        question: Any = "later"
        if number < len(rounds):
            question = rounds[number]["question"]
        elif number == client.LABEL_ROUND and "labels" in document:
            oracle = {"name": "randomized_response", "size": document["n_clusters"]}
            return {"mechanism": "category", "oracle": oracle}
        if question == "later":
            envelope = (await self.documents()).get(("round", number))
            if envelope is None:
                raise WireError(409, STATUS_TEXTS[409])
            question = self.verified(envelope, "round")["question"]
        return question  # type: ignore[no-any-return]

    def verified(self, envelope: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return the document in an envelope, whose signature is checked once."""
        name = json.dumps([kind, envelope], sort_keys=True)
        if name not in self._verified:
            self._verified[name], _ = client.open_envelope(envelope, kind, self.campaign.key)
        return self._verified[name]

    def _check_rounds(self, batch: Batch) -> None:
        """Refuse keys of other rounds: each person is in one, blind to the record."""
        shares, name = self.campaign.shares, self.campaign.id
        if len(shares) == 1 or batch.round == client.LABEL_ROUND:
            return
        if any(client.round_of(name, key, shares) != batch.round for key in batch.keys):
            raise WireError(409, STATUS_TEXTS[409])

    def check_admin(self, request: "Request") -> None:
        """Refuse whoever does not hold the admin token.

        Parameters
        ----------
        request
            With ``Authorization: Bearer ...``.
        """
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        digest = hashlib.sha256(given.encode()).digest()
        is_bearer = scheme.lower() == "bearer"
        if self.admin is None or not is_bearer or not hmac.compare_digest(digest, self.admin):
            self._admin_failures.take(network_of(address_of(request)))
            raise WireError(401, "The admin token is missing or wrong.")


def address_of(request: "Request") -> str:
    """Return where a request comes from, for limits in memory alone."""
    return request.client.host if request.client else ""


def network_of(address: str) -> str:
    """Return what is counted as one address: of IPv6 the network that a household is given."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
