"""The pages of a campaign: what is asked, the promise, how many came, and a form to take part."""

import json
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shoal.collector._campaign import Campaign

if TYPE_CHECKING:
    from fastapi import FastAPI

    from shoal.collector._service import Service


HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_FILES = ("client.js", "page.js", "page.css")


def add_pages(app: "FastAPI", service: "Service") -> None:
    """Add the page of a campaign and the files it loads, all from this server."""
    from fastapi import Response
    from fastapi.responses import HTMLResponse

    # A page is made anew when the model or the number of people changes: once in some seconds.
    draw_page = lru_cache(maxsize=1)(partial(_page_bytes, service))

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> Response:
        model = (await service.documents()).get(("model", 0))
        text = None if model is None else json.dumps(model)
        return HTMLResponse(draw_page(text, await service.people()))

    def add_file(name: str) -> None:
        content = files("shoal.collector").joinpath(name).read_bytes()
        kind = _KINDS[name.rsplit(".", 1)[1]]

        @app.get(f"/{name}", include_in_schema=False)
        async def file() -> Response:
            return Response(content, media_type=kind)

    for name in _FILES:
        add_file(name)


def _page_bytes(service: "Service", envelope: str | None, people: int) -> bytes:
    """Return the page for a model as it was published, and so many people."""
    model = None if envelope is None else service.verified(json.loads(envelope), "model")
    return render(service.campaign, model, people).encode()


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    text = files("shoal.collector").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(text)


def render(campaign: Campaign, model: dict[str, Any] | None, people: int) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    campaign
        What is collected.
    model
        What was published, its signature checked; None before.
    people
        How many have reported.
    """
    page: str = _template().render(
        campaign=campaign.document,
        id=campaign.id.hex(),
        key=campaign.key.hex(),
        model=model,
        people=people,
        labels=campaign.document.get("labels"),
    )
    return page
