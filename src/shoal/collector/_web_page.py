"""The pages of a campaign: what is asked, the promise, how many came, and a form to take part."""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shoal.collector import client
from shoal.collector._campaign import Campaign

if TYPE_CHECKING:
    from fastapi import FastAPI


HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_FILES = ("client.js", "page.js", "page.css")

Documents = Callable[[], Awaitable[dict[tuple[str, int], Any]]]
People = Callable[[], Awaitable[int]]


def add_pages(app: "FastAPI", campaign: Campaign, documents: Documents, people: People) -> None:
    """Add the page of a campaign and the files it loads, all from this server."""
    from fastapi import Response
    from fastapi.responses import HTMLResponse

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> str:
        return render(campaign, (await documents()).get(("model", 0)), await people())

    def add_file(name: str) -> None:
        content = files("shoal.collector").joinpath(name).read_text(encoding="utf-8")
        kind = _KINDS[name.rsplit(".", 1)[1]]

        @app.get(f"/{name}", include_in_schema=False)
        async def file() -> Response:
            return Response(content, media_type=kind)

    for name in _FILES:
        add_file(name)


def render(campaign: Campaign, model: dict[str, Any] | None, people: int) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    campaign
        What is collected.
    model
        The signed model, if one was published.
    people
        How many have reported.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    text = files("shoal.collector").joinpath("page.html").read_text(encoding="utf-8")
    published = None
    if model is not None:
        published, _ = client.open_envelope(model, "model", campaign.key)
    return environment.from_string(text).render(
        campaign=campaign.document,
        id=campaign.id.hex(),
        key=campaign.key.hex(),
        model=published,
        people=people,
        labels=campaign.document.get("labels"),
    )
