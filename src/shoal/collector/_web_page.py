"""The pages of a campaign: what is asked, the promise, how many came, and a form to take part."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from shoal.collector._campaign import (
    Campaign,
    is_map,
    is_on_lattice,
    mechanism_of,
    people_for_groups,
)
from shoal.figures import css_variables, dots, figure_style
from shoal.privacy import LocalDP
from shoal.privacy.wording import promise

if TYPE_CHECKING:
    from fastapi import FastAPI

    from shoal.collector._server_state import Service


_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src {}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_FILES = ("client.js", "page.js", "page.css")


def headers_of(service: "Service") -> dict[str, str]:
    """Return the headers of every answer: a tab speaks to this server, and to no other.

    That of one of two aggregators also sends the other one its share, and nothing else.
    """
    places = ["'self'"]
    if service.other_address is not None:
        path = quote(urlsplit(service.other_address).path, safe="/-._~%")
        places.append(f"{origin_of(service.other_address)}{path}/v1/shares")
    return {"Content-Security-Policy": _POLICY.format(" ".join(places)), **_HEADERS}


def origin_of(address: str) -> str:
    """Return the part of an address that browsers call its origin."""
    parts = urlsplit(address)
    host, usual = parts.netloc.lower(), {"https": ":443", "http": ":80"}[parts.scheme]
    return f"{parts.scheme}://{host.removesuffix(usual)}"


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
        content = _colours().encode() + content if name == "page.css" else content
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
    from markupsafe import Markup

    document = campaign.document
    guarantee = promise(LocalDP(Fraction(document["epsilon"])), value="answer")
    after = int(str(guarantee.after).removeprefix("over "))
    is_shared = bool(campaign.aggregators)
    near = _near(campaign) if is_on_lattice(document) else {}
    page: str = _template().render(
        campaign=document,
        id=campaign.id.hex(),
        key=campaign.key.hex(),
        model=model,
        people=people,
        needed=people_for_groups(document),
        labels=document.get("labels"),
        is_shared=is_shared,
        promise=guarantee,
        dots_before=Markup(dots(10).svg(page=True)),
        dots_after=Markup(dots(10, after).svg(page=True)),
        near=near.get("text"),
        is_map="columns" in document and is_map(document),
        holds=near.get("holds", _SHARED_HOLDS if is_shared else guarantee.holds),
        fails=(*near.get("fails", guarantee.fails), _ONE_ADDRESS),
        exact=near.get("exact", _shared_exact(document) if is_shared else guarantee.exact),
        bounds=[_bounds(column) for column in document.get("columns", ())],
        groups=_group_texts(document, model),
        closes=_moment(document["closes"]),
    )
    return page


def _group_texts(document: dict[str, Any], model: dict[str, Any] | None) -> list[list[str]]:
    if model is None:
        return []
    return center_texts(document["columns"], model["centers"], model.get("errors"))


_ONE_ADDRESS = (
    "This browser adds up what your reports to this address cost you, and stops at a limit. What "
    "you send from elsewhere, or to another address, it does not know."
)
_SHARED_HOLDS = (
    "Neither of the two servers can read your answer alone, if the program of this page is true.",
    "Nothing computed later from what is published can weaken the limit.",
    "The limit is the same for every answer.",
)


def _shared_exact(document: dict[str, Any]) -> str:
    return (
        "What is published, and all that one of the two servers sees, is ε-differentially private "
        f"with ε = {document['epsilon']} when one person's answer is replaced, if the other server "
        "is honest and your device ran the true program; δ = 0."
    )


def _near(campaign: Campaign) -> dict[str, Any]:
    """Return what a campaign on a lattice promises, in words: within the radius, and beyond."""
    document = campaign.document
    question = document["rounds"][0]["question"]
    words = promise(mechanism_of(question, campaign.names).guarantee)
    level, radius = Fraction(question["epsilon"]), Fraction(question["radius"])
    rate = f"{float(level / radius):.4g}"
    return {
        "text": length_text(question["radius"], question["unit"]),
        "holds": words.holds,
        "fails": words.fails,
        "exact": (
            "P[R(x) ∈ S] ≤ e^(l·max(1, d(x, x′)/r)) · P[R(x′) ∈ S] for all S, with l = "
            f"{question['epsilon']} and r = {question['radius']} {question['unit']}, so that "
            f"ε = l/r = {rate} per {question['unit'] or 'unit'}; d is Euclidean."
        ),
    }


def length_text(radius: str, unit: str) -> str:
    """Return a radius for people, e.g. ``200 m`` for 0.2 km."""
    if unit == "km" and Fraction(radius) < 1:
        return f"{float(Fraction(radius) * 1000):.4g} m"
    return f"{float(radius):.4g} {unit}".rstrip()


def _bounds(column: dict[str, str]) -> str:
    """Return the range of a column in words, e.g. ``0 to 20 km``."""
    low, high = (f"{float(column[name]):,.12g}" for name in ("low", "high"))
    return f"{low} to {high} {column['unit']}".rstrip()


def center_texts(
    columns: Sequence[Mapping[str, str]], centers: Any, errors: Any = None
) -> list[list[str]]:
    """Return each coordinate of centres for people: with two standard errors, where there are any.

    Parameters
    ----------
    columns
        Of the campaign: without errors a number is written by some thousandths of its range.
    """
    if errors is None:
        widths = [(float(column["high"]) - float(column["low"])) / 10 for column in columns]
        return [[_number(c, w) for c, w in zip(line, widths, strict=True)] for line in centers]
    return [
        [f"{_number(c, 2 * float(e))} ± {_number(2 * float(e), 2 * float(e))}" for c, e in pairs]
        for pairs in (zip(*lines, strict=True) for lines in zip(centers, errors, strict=True))
    ]


def _number(value: Any, scale: float) -> str:
    """Return a number to the second digit of a scale."""
    digits = max(0, 1 - math.floor(math.log10(scale))) if scale > 0 else 3
    return f"{float(value):,.{digits}f}"


def _moment(text: str) -> str:
    """Return a time for people; the page shows it in theirs."""
    at = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _colours() -> str:
    """Return colours by role, light and dark, and the rules of figures: as on every page."""
    dark = f":root{{color-scheme:dark;{css_variables(dark=True)}}}"
    light = f":root{{color-scheme:light;{css_variables()}}}"
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}\n{figure_style()}"
