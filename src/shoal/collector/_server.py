"""Serve a campaign: take reports, answer after they are committed, show what was published.

    request ─► parse ─► check ─► limits ─► queue ─► one transaction for many ─► answer

Nothing here logs a key, a report or an address; metrics are counts by status. See
``docs/guides/collect.md`` for what each status means.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from shoal.collector import _web_page as web_page
from shoal.collector._campaign import Campaign
from shoal.collector._report_batches import (
    BINARY,
    INVITATION,
    MOST_BYTES,
    SHARES,
    WireError,
    parse_batch,
    parse_invitation,
    parse_shares,
)
from shoal.collector._server_state import REPORTS_PER_ADDRESS, STATUS_TEXTS, Service, address_of
from shoal.collector._storage import Store, Unavailable

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse


VERSIONS = [1]
_BODY_SECONDS = 10


async def read_body(request: "Request") -> bytes:
    """Read a body that is neither too long, nor too slow, nor compressed."""
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
        raise WireError(400, STATUS_TEXTS[400]) from None
    return body


def create_app(
    campaign: Campaign,
    store: Store,
    *,
    reports_per_address: int = REPORTS_PER_ADDRESS,
    admin: bytes | None = None,
    aggregator: int | None = None,
    keep_ids_days: float | None = None,
) -> "FastAPI":
    """Return the web application of a campaign.

    Parameters
    ----------
    campaign
        What is collected.
    store
        Its database.
    reports_per_address
        How many reports an hour one address may send to an open campaign.
    admin
        SHA-256 of the admin token; None has no admin.
    aggregator
        Of two aggregators which this one is, 0 or 1; None where reports are taken.
    keep_ids_days
        How many days after the close all ids are deleted; None leaves that to the operator.
    """
    from fastapi import FastAPI

    service = Service(campaign, store, reports_per_address, admin, aggregator)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(service.writer.run())]
        if keep_ids_days is not None:
            tasks.append(asyncio.create_task(service.delete_ids_when_due(keep_ids_days)))
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        store.close()

    app = FastAPI(
        title="shoal collector", version="1", lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.service = service
    _add_gate(app, service)
    _add_documents(app, service)
    if aggregator is None:
        _add_reports(app, service)
    else:
        _add_shares(app, service)
    _add_invitations(app, service)
    _add_admin(app, service)
    web_page.add_pages(app, service)
    _add_others(app)
    return app


def create_site(apps: Mapping[str, "FastAPI"]) -> "FastAPI":
    """Return one application for several campaigns, each under a path of its name.

    A browser keeps one notebook for all of them, so what a person spends adds up.
    """
    from fastapi import FastAPI

    @asynccontextmanager
    async def lifespan(site: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    site = FastAPI(
        title="shoal collector", version="1", lifespan=lifespan, docs_url=None, redoc_url=None
    )

    @site.exception_handler(WireError)
    async def refuse(request: Any, error: WireError) -> "JSONResponse":
        return _refusal(error)

    @site.get("/v1/live")
    async def live() -> dict[str, bool]:
        """Whether the program answers; restart it if not."""
        return {"live": True}

    @site.get("/v1/health", responses={503: {}})
    async def health() -> dict[str, Any]:
        """Whether reports to every campaign can be written now."""
        for app in apps.values():
            await app.state.service.check_ready()
        return {"campaigns": sorted(apps)}

    for name, app in apps.items():
        site.mount(f"/{name}", app)
    return site


class RequestGate:
    """Counts every answer and sets its headers."""

    def __init__(self, app: Any, service: Service) -> None:
        self.app, self.service = app, service
        self._headers = _encoded(web_page.headers_of(service))
        self._shares_headers: list[tuple[bytes, bytes]] = []
        if service.other_address is not None:
            # Tabs that the other aggregator's page runs in may send shares here; no others may.
            origin = web_page.origin_of(service.other_address)
            allowed = {"Access-Control-Allow-Origin": origin}
            self._shares_headers = _encoded(
                allowed | {"Access-Control-Expose-Headers": "Retry-After"}
            )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        start = time.monotonic()
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        headers = self._headers + (self._shares_headers if path == _SHARES_PATH else [])

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.service.counts[f"status_{message['status']}"] += 1
                if scope["method"] == "POST":
                    self.service.seconds.add(time.monotonic() - start)
                given = {name for name, _ in message["headers"]}
                added = [pair for pair in headers if pair[0] not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, counted)


_SHARES_PATH = "/v1/shares"


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), text.encode()) for name, text in headers.items()]


def _refusal(error: WireError) -> "JSONResponse":
    from fastapi.responses import JSONResponse

    after = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    content: dict[str, Any] = {"error": error.reason}
    if error.status == 406:
        content["versions"] = VERSIONS
    return JSONResponse(content, error.status, headers=after)


def _add_gate(app: "FastAPI", service: Service) -> None:
    """Answer refusals with their status, and put the gate before everything."""
    from fastapi import Request
    from fastapi.responses import JSONResponse

    @app.exception_handler(WireError)
    async def refuse(request: Request, error: WireError) -> JSONResponse:
        return _refusal(error)

    app.add_middleware(RequestGate, service=service)


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

    @app.get("/v1/live")
    async def live() -> dict[str, bool]:
        """Whether the program answers; restart it if not."""
        return {"live": True}

    @app.get("/v1/health", responses={503: {}})
    async def health() -> dict[str, Any]:
        """Whether reports can be written now; send no traffic if not."""
        await service.check_ready()
        return {"people": await service.people()}

    @app.get("/v1/metrics", response_class=PlainTextResponse)
    async def metrics() -> str:
        """Counts by status, seconds of requests that post, state of the database; about nobody."""
        lines = {
            **service.counts,
            "waiting": service.writer.waiting,
            "database_failing": int(service.writer.is_failing),
            "reports_per_second": round(service.writer.speed),
        }
        text = "".join(f"shoal_{name} {value}\n" for name, value in sorted(lines.items()))
        return text + service.seconds.text("shoal_post_seconds")


async def _published(service: Service, kind: str, number: int) -> dict[str, Any]:
    envelope = (await service.documents()).get((kind, number))
    if envelope is None:
        raise WireError(404, f"There is no {kind} yet.")
    return envelope  # type: ignore[no-any-return]


_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": text} for status, text in STATUS_TEXTS.items()
}


def _add_reports(app: "FastAPI", service: Service) -> None:
    from fastapi import Request

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

    @app.post("/v1/reports", responses=_ANSWERS, openapi_extra={"requestBody": body})
    async def reports(request: Request) -> dict[str, int]:
        """Count the reports of a batch, all or none; answered after the commit."""
        content = await read_body(request)
        kind = request.headers.get("content-type", "")
        columns = service.campaign.lattice_columns
        batch = parse_batch(content, kind, service.campaign.id, columns)
        result = await service.take(batch, address_of(request))
        return {"accepted": result.accepted, "repeated": result.repeated}


def _add_shares(app: "FastAPI", service: Service) -> None:
    from fastapi import Request, Response

    binary = {"schema": {"type": "string", "format": "binary"}}
    body = {"required": True, "content": {SHARES: binary}}

    @app.options(_SHARES_PATH, include_in_schema=False)
    async def permission() -> Response:
        """Tell a browser what a tab of the other aggregator's page may send here."""
        allowed = {"Methods": "POST", "Headers": "Content-Type"}
        headers = {f"Access-Control-Allow-{name}": value for name, value in allowed.items()}
        return Response(status_code=204, headers=headers | {"Access-Control-Max-Age": "600"})

    @app.post(_SHARES_PATH, responses=_ANSWERS, openapi_extra={"requestBody": body})
    async def shares(request: Request) -> dict[str, int]:
        """Keep the shares of a batch, all or none; answered after the commit."""
        content = await read_body(request)
        kind = request.headers.get("content-type", "")
        batch = parse_shares(content, kind, service.campaign.id, service.share_bytes)
        result = await service.take_shares(batch, address_of(request))
        return {"accepted": result.accepted, "repeated": result.repeated}

    @app.get("/v1/opening", responses={404: {}})
    async def opening() -> dict[str, Any]:
        """The signed noisy sum of this aggregator's shares, once it was opened."""
        return await _published(service, "opening", 0)


def _add_invitations(app: "FastAPI", service: Service) -> None:
    from fastapi import Request

    binary = {"schema": {"type": "string", "format": "binary"}}
    body = {"required": True, "content": {INVITATION: binary}}

    @app.post("/v1/invitations", responses=_ANSWERS, openapi_extra={"requestBody": body})
    async def invitation(request: Request) -> dict[str, bool]:
        """Whether a key may report, and has: a device asks before it draws anything."""
        key = parse_invitation(await read_body(request), service.campaign.id)
        return {"used": await service.is_used(key)}


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
            raise WireError(503, STATUS_TEXTS[503], 5) from None

    @app.post("/v1/admin/revoke/{who}", responses={401: {}})
    async def revoke(who: str, request: Request) -> dict[str, bool]:
        """Keep one person from reporting; a counted report stays."""
        service.check_admin(request)
        try:
            name = bytes.fromhex(who)
        except ValueError:
            raise WireError(400, STATUS_TEXTS[400]) from None
        try:
            return {"revoked": await asyncio.to_thread(service.store.revoke, name)}
        except Unavailable:
            raise WireError(503, STATUS_TEXTS[503], 5) from None


def _add_others(app: "FastAPI") -> None:
    @app.api_route("/v{version}/{rest:path}", methods=["GET", "POST"], include_in_schema=False)
    async def other_version(version: str, rest: str) -> None:
        """Answer 406 to versions that are not spoken."""
        raise WireError(404 if version == "1" else 406, STATUS_TEXTS[406])


def configure(
    app: "FastAPI", host: str, port: int, trusted_proxies: Sequence[str] = (), **settings: Any
) -> "uvicorn.Config":
    """Return how an application is served: no log of requests, a deadline for their headers.

    Parameters
    ----------
    app
        What ``create_app`` returned.
    trusted_proxies
        Addresses or networks whose X-Forwarded-For says where a request comes from; nobody else's.
    settings
        More for ``uvicorn.Config``, such as the files of TLS.
    """
    import uvicorn

    from shoal.collector._header_deadline import DeadlineProtocol

    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=DeadlineProtocol,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=1_000,
        timeout_keep_alive=15,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        **settings,
    )


def serve(
    app: "FastAPI",
    host: str,
    port: int,
    *,
    certificate: str | None = None,
    key: str | None = None,
    trusted_proxies: Sequence[str] = (),
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
    trusted_proxies
        Addresses of proxies whose word on where a request came from is taken.
    """
    import uvicorn

    tls = {"ssl_certfile": certificate, "ssl_keyfile": key}
    uvicorn.Server(configure(app, host, port, trusted_proxies, **tls)).run()
