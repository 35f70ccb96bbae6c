"""Serve a campaign: take reports, answer after they are committed, show what was published.

    request ─► limits ─► parse ─► check ─► queue ─► one transaction for many ─► answer

Nothing here logs a key, a report or an address; metrics are counts by status. See
``docs/guides/collect.md`` for what each status means.
"""

import asyncio
import calendar
import hashlib
import hmac
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.collector import client, web_page
from shoal.collector.campaign import Campaign, number_of_reports
from shoal.collector.storage import Accepted, Arrival, Store, Unavailable
from shoal.collector.wire import BINARY, MOST_BYTES, Batch, WireError, parse_batch, who_of

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

__all__ = ["create_app", "serve"]

VERSIONS = [1]
MOST_WAITING = 20_000  # reports in the queue; more are told to come back
_GATHER_SECONDS = 0.02
_GATHER_REPORTS = 1_000
_FOLD_EVERY = 256  # transactions
_BODY_SECONDS = 10
_FAILED_KEYS = 20  # a minute from one address
_ADDRESSES = 10_000  # whose recent requests are remembered, in memory only
_STATUS_TEXTS = {
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
    """Gathers reports of several requests into one transaction, and answers after its commit.

    Parameters
    ----------
    store
        The database.
    epoch
        Gives the number of the present epoch.
    """

    store: Store
    epoch: Callable[[], int]
    waiting: int = 0
    speed: float = 5_000.0  # reports a second, as they went lately
    _queue: "asyncio.Queue[tuple[Arrival, asyncio.Future[Accepted]]]" = field(
        default_factory=asyncio.Queue
    )

    async def submit(self, arrival: Arrival) -> Accepted:
        """Return what became of a request, once it is committed.

        Parameters
        ----------
        arrival
            Its checked reports.
        """
        size = len(arrival.whos)
        if self.waiting + size > MOST_WAITING:
            raise WireError(429, _STATUS_TEXTS[429], 1 + int(self.waiting / self.speed))
        self.waiting += size
        future: asyncio.Future[Accepted] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((arrival, future))
        try:
            return await future
        finally:
            self.waiting -= size

    async def run(self) -> None:
        """Write what is gathered, until cancelled."""
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
                with suppress(Unavailable):
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
        except Unavailable:
            failure = WireError(503, _STATUS_TEXTS[503], 5)
            for _, future in gathered:
                if not future.done():
                    future.set_exception(failure)
            return
        for (_, future), result in zip(gathered, results, strict=True):
            if not future.done():
                future.set_result(result)


class Limiter:
    """Bounds how often one address may ask; remembered in memory, never written anywhere.

    Parameters
    ----------
    rate
        Requests a second in the long run.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._burst = rate, max(2 * rate, 20)
        self._requests: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse a request of an address that asked too often, or guesses keys.

        Parameters
        ----------
        address
            Where the request comes from.
        """
        now = time.monotonic()
        left, at = self._requests.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._requests[address] = (max(left - 1, 0), now)
        _forget(self._requests)
        failures = [at for at in self._failures.get(address, ()) if at > now - 60]
        if left < 1 or len(failures) >= _FAILED_KEYS:
            raise WireError(429, _STATUS_TEXTS[429], 60 if len(failures) >= _FAILED_KEYS else 1)

    def failed(self, address: str) -> None:
        """Note that an address sent a key that is not enrolled.

        Parameters
        ----------
        address
            Where the request came from.
        """
        recent = [*self._failures.pop(address, []), time.monotonic()]
        self._failures[address] = recent[-_FAILED_KEYS:]
        _forget(self._failures)


def _forget(remembered: OrderedDict[str, Any]) -> None:
    while len(remembered) > _ADDRESSES:
        remembered.popitem(last=False)


class Service:
    """The state of a running server.

    Parameters
    ----------
    campaign
        What is collected.
    store
        Where.
    rate
        Requests a second that one address may make.
    admin
        SHA-256 of the admin token; None has no admin.
    """

    def __init__(self, campaign: Campaign, store: Store, rate: float, admin: bytes | None) -> None:
        self.campaign, self.store, self.admin = campaign, store, admin
        self.limiter = Limiter(rate)
        self.writer = Writer(store, self.epoch)
        self.counts: Counter[str] = Counter()
        self._documents: tuple[float, dict[tuple[str, int], Any]] = (-1e9, {})
        self._people: tuple[float, int] = (-1e9, 0)

    def epoch(self) -> int:
        """Return the number of the present epoch."""
        opens = calendar.timegm(
            time.strptime(self.campaign.document["opens"], "%Y-%m-%dT%H:%M:%SZ")
        )
        return max(0, int(time.time()) - opens) // int(self.campaign.document["epoch_seconds"])

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

    async def _read(self, ask: Callable[[], Any]) -> Any:
        try:
            return await asyncio.to_thread(ask)
        except Unavailable:
            raise WireError(503, _STATUS_TEXTS[503], 5) from None

    async def take(self, batch: Batch, address: str) -> Accepted:
        """Check a batch and count its reports.

        Parameters
        ----------
        batch
            As it was parsed.
        address
            Where it came from, for the limits.
        """
        self._check_time()
        most = number_of_reports(await self._question(batch.round))
        bad = [i for i, report in enumerate(batch.reports) if report >= most]
        if bad:
            raise WireError(422, f"Impossible reports at positions {bad[:20]}.")
        self._check_rounds(batch)
        whos = [who_of(key) for key in batch.keys]
        result = await self.writer.submit(Arrival(batch.round, whos, batch.reports))
        if result.problem == "unknown":
            self.limiter.failed(address)
            raise WireError(401, _STATUS_TEXTS[401])
        if result.problem == "closed":
            raise WireError(410, _STATUS_TEXTS[410])
        self.counts["accepted"] += result.accepted
        self.counts["repeated"] += result.repeated
        return result

    def _check_time(self) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if now < self.campaign.document["opens"]:
            raise WireError(409, _STATUS_TEXTS[409])
        if now > self.campaign.document["closes"]:
            raise WireError(410, _STATUS_TEXTS[410])

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
                raise WireError(409, _STATUS_TEXTS[409])
            later, _ = client.open_envelope(envelope, "round", self.campaign.key)
            question = later["question"]
        return question  # type: ignore[no-any-return]

    def _check_rounds(self, batch: Batch) -> None:
        """Refuse keys of other rounds: each person is in one, blind to the record."""
        shares, name = self.campaign.shares, self.campaign.id
        if len(shares) == 1 or batch.round == client.LABEL_ROUND:
            return
        if any(client.round_of(name, key, shares) != batch.round for key in batch.keys):
            raise WireError(409, _STATUS_TEXTS[409])

    def check_admin(self, request: "Request") -> None:
        """Refuse whoever does not hold the admin token.

        Parameters
        ----------
        request
            With ``Authorization: Bearer ...``.
        """
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        digest = hashlib.sha256(given).digest()
        if self.admin is None or not hmac.compare_digest(digest, self.admin):
            self.limiter.failed(address_of(request))
            raise WireError(401, "The admin token is missing or wrong.")


def address_of(request: "Request") -> str:
    """Return where a request comes from, for limits in memory alone.

    Parameters
    ----------
    request
        The request.
    """
    return request.client.host if request.client else ""


async def read_body(request: "Request") -> bytes:
    """Read a body that is neither too long, nor too slow, nor compressed.

    Parameters
    ----------
    request
        The request.
    """
    from starlette.requests import ClientDisconnect

    if request.headers.get("content-encoding", "identity") != "identity":
        raise WireError(415, "Bodies are sent as they are, not compressed.")
    body = b""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise WireError(413, f"A body has at most {MOST_BYTES} bytes.")
    except TimeoutError:
        raise WireError(408, "The body came too slowly.") from None
    except ClientDisconnect:
        raise WireError(400, _STATUS_TEXTS[400]) from None
    return body


def create_app(
    campaign: Campaign, store: Store, *, rate: float = 10, admin: bytes | None = None
) -> "FastAPI":
    """Return the web application of a campaign.

    Parameters
    ----------
    campaign
        What is collected.
    store
        Its database.
    rate
        Requests a second that one address may make.
    admin
        SHA-256 of the admin token; None has no admin.
    """
    from fastapi import FastAPI

    service = Service(campaign, store, rate, admin)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        writing = asyncio.create_task(service.writer.run())
        yield
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        store.close()

    app = FastAPI(
        title="shoal collector", version="1", lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.service = service
    _add_limits(app, service)
    _add_documents(app, service)
    _add_reports(app, service)
    _add_admin(app, service)
    web_page.add_pages(app, campaign, service.documents, service.people)
    _add_others(app)
    return app


class Gate:
    """Checks the limits before anything is read, counts every answer and sets headers.

    Parameters
    ----------
    app
        The application behind it.
    service
        The server's state.
    """

    def __init__(self, app: Any, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.service.counts[f"status_{message['status']}"] += 1
                given = {name for name, _ in message["headers"]}
                added = [pair for pair in _HEADERS if pair[0] not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        address = scope["client"][0] if scope.get("client") else ""
        try:
            self.service.limiter.check(address)
        except WireError as error:
            await _refusal(error)(scope, receive, counted)
            return
        await self.app(scope, receive, counted)


_HEADERS = [(name.lower().encode(), text.encode()) for name, text in web_page.HEADERS.items()]


def _refusal(error: WireError) -> "JSONResponse":
    from fastapi.responses import JSONResponse

    after = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    content: dict[str, Any] = {"error": error.reason}
    if error.status == 406:
        content["versions"] = VERSIONS
    return JSONResponse(content, error.status, headers=after)


def _add_limits(app: "FastAPI", service: Service) -> None:
    """Answer refusals with their status, and put the gate before everything."""
    from fastapi import Request
    from fastapi.responses import JSONResponse

    @app.exception_handler(WireError)
    async def refuse(request: Request, error: WireError) -> JSONResponse:
        return _refusal(error)

    app.add_middleware(Gate, service=service)


def _add_documents(app: "FastAPI", service: Service) -> None:
    from fastapi.responses import PlainTextResponse

    @app.get("/.well-known/shoal")
    async def versions() -> dict[str, Any]:
        """Which versions are spoken and which campaigns collected."""
        return {"versions": VERSIONS, "campaigns": [service.campaign.id.hex()]}

    @app.get("/v1/campaign")
    async def campaign() -> dict[str, Any]:
        """The signed campaign."""
        return service.campaign.envelope

    @app.get("/v1/round/{number}", responses={404: {}})
    async def later_round(number: int) -> dict[str, Any]:
        """The signed question of a later round, once there is one."""
        return await _published(service, "round", number)

    @app.get("/v1/model", responses={404: {}})
    async def model() -> dict[str, Any]:
        """The signed model, once there is one."""
        return await _published(service, "model", 0)

    @app.get("/v1/health")
    async def health() -> dict[str, Any]:
        """Whether the database answers."""
        return {"people": await service.people()}

    @app.get("/v1/metrics", response_class=PlainTextResponse)
    async def metrics() -> str:
        """Counts by status; nothing about anybody."""
        lines = {**service.counts, "waiting": service.writer.waiting}
        return "".join(f"shoal_{name} {value}\n" for name, value in sorted(lines.items()))


async def _published(service: Service, kind: str, number: int) -> dict[str, Any]:
    envelope = (await service.documents()).get((kind, number))
    if envelope is None:
        raise WireError(404, f"There is no {kind} yet.")
    return envelope  # type: ignore[no-any-return]


def _add_reports(app: "FastAPI", service: Service) -> None:
    from fastapi import Request

    answers: dict[int | str, dict[str, Any]] = {
        status: {"description": text} for status, text in _STATUS_TEXTS.items()
    }
    line = {
        "type": "array",
        "prefixItems": [{"type": "string", "contentEncoding": "base64"}, {"type": "integer"}],
        "minItems": 2,
        "maxItems": 2,
    }
    document = {
        "type": "object",
        "required": ["campaign", "round", "reports"],
        "additionalProperties": False,
        "properties": {
            "campaign": {"type": "string"},
            "round": {"type": "integer", "minimum": 0, "maximum": 255},
            "reports": {"type": "array", "minItems": 1, "maxItems": 1_000, "items": line},
        },
    }
    body = {
        "required": True,
        "content": {
            "application/json": {"schema": document},
            BINARY: {"schema": {"type": "string", "format": "binary"}},
        },
    }

    @app.post("/v1/reports", responses=answers, openapi_extra={"requestBody": body})
    async def reports(request: Request) -> dict[str, int]:
        """Count the reports of a batch, all or none; answered after the commit."""
        content = await read_body(request)
        kind = request.headers.get("content-type", "")
        batch = parse_batch(content, kind, service.campaign.id)
        result = await service.take(batch, address_of(request))
        return {"accepted": result.accepted, "repeated": result.repeated}


def _add_admin(app: "FastAPI", service: Service) -> None:
    from fastapi import Request

    @app.post("/v1/admin/close/{number}", responses={401: {}})
    async def close(number: int, request: Request) -> dict[str, str]:
        """Take no more reports of a round; returns the digest of its sums."""
        service.check_admin(request)
        if not 0 <= number < len(service.campaign.shares):
            raise WireError(404, "There is no such round.")
        try:
            return {"digest": await asyncio.to_thread(service.store.close_round, number)}
        except Unavailable:
            raise WireError(503, _STATUS_TEXTS[503], 5) from None

    @app.post("/v1/admin/revoke/{who}", responses={401: {}})
    async def revoke(who: str, request: Request) -> dict[str, bool]:
        """Keep one person from reporting; a counted report stays."""
        service.check_admin(request)
        try:
            name = bytes.fromhex(who)
        except ValueError:
            raise WireError(400, _STATUS_TEXTS[400]) from None
        try:
            return {"revoked": await asyncio.to_thread(service.store.revoke, name)}
        except Unavailable:
            raise WireError(503, _STATUS_TEXTS[503], 5) from None


def _add_others(app: "FastAPI") -> None:
    @app.api_route("/v{version}/{rest:path}", methods=["GET", "POST"], include_in_schema=False)
    async def other_version(version: str, rest: str) -> None:
        """Answer 406 to versions that are not spoken."""
        raise WireError(404 if version == "1" else 406, _STATUS_TEXTS[406])


def serve(
    app: "FastAPI", host: str, port: int, *, certificate: str | None = None, key: str | None = None
) -> None:
    """Serve until stopped; requests are not logged.

    Parameters
    ----------
    app
        What ``create_app`` returned.
    host
        Address to listen at.
    port
        Port.
    certificate
        File of the TLS certificate; None speaks plain HTTP.
    key
        File of its private key.
    """
    import uvicorn

    uvicorn.run(
        app,
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=1_000,
        timeout_keep_alive=15,
    )
