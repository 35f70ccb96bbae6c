"""Turn findings into one HTML file without scripts, requests or anything not in them."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.documents import json_text
from shoal.figures import figure_of
from shoal.figures.charts.meter import (
    dots_svg,
    interval_svg,
    levels_svg,
    meter_svg,
    sample_svg,
)
from shoal.figures.palette import css_variables
from shoal.figures.svg import figure_style, mark_svg
from shoal.figures.text import replace_controls, shorten
from shoal.files import atomic_file


def render(findings: Mapping[str, Any]) -> str:
    """Return the HTML page of these findings.

    Parameters
    ----------
    findings
        What ``findings`` returned.

    Examples
    --------
    >>> from shoal.privacy import PureDP, Public, Result
    >>> from shoal.pages import findings
    >>> page = render(findings(Result("example", PureDP(1), {"title": Public("<b>Hello</b>")})))
    >>> "at most 24 in 100" in page, "&lt;b&gt;Hello" in page, "<script" in page
    (True, True, False)
    """
    return page_of("page.html", findings)


def page_of(template: str, values: Mapping[str, Any]) -> str:
    """Fill in a template, with the style all pages share."""
    page: str = _environment().get_template(template).render(**values, style=_style())
    return page


def texts(findings: Mapping[str, Any], page: Path) -> dict[Path, str]:
    """Return the files of these findings: the page, and for a public one its numbers as JSON.

    A curator's page has no second file: the fewer copies of protected numbers, the better.

    Parameters
    ----------
    findings
        What ``findings`` returned.
    page
        The path of the page.
    """
    files = {page: render(findings)}
    if findings["audience"] == "public":
        files[page.with_suffix(".json")] = json_text(findings)
    return files


def write(
    findings: Mapping[str, Any], folder: str | os.PathLike[str], *, overwrite: bool = False
) -> list[Path]:
    """Write ``report.html`` and ``report.json`` into a folder, each whole or not at all.

    Seeded findings go to ``report-simulation.*``, so that nobody takes one for the other.

    Parameters
    ----------
    findings
        What ``findings`` returned.
    folder
        Where to.
    overwrite
        Whether files that are there may be replaced.

    Returns
    -------
        The paths that were written.
    """
    stem = "report-simulation" if findings["simulation"] else "report"
    files = texts(findings, Path(folder, f"{stem}.html"))
    # Both are written before either gets its name: numbers without their page would mislead.
    with ExitStack() as stack:
        for path, text in files.items():
            part = stack.enter_context(atomic_file(path, overwrite))
            part.write_text(text, encoding="utf-8", newline="\n")
    return list(files)


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("shoal.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: replace_controls(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The only markup that passes unescaped is our own writer's, which escapes its words.
    environment.globals["svg"] = lambda values: Markup(
        figure_of(_figure_part(values)).svg(page=True)
    )
    environment.globals["mark"] = lambda number: Markup(mark_svg(number))
    environment.globals["group_number"] = _group_number
    environment.globals["meter"] = lambda card, row: Markup(_meter(card, row))
    environment.globals["size_bar"] = lambda card: Markup(
        interval_svg(card["number"], *(card["scaled"][name] for name in ("size", "low", "high")))
    )
    environment.globals["gauge_bar"] = lambda gauge: Markup(
        meter_svg(1, gauge["found"], None, None, gauge["limit"], is_share=True)
    )
    environment.globals["sample"] = lambda kind: Markup(sample_svg(kind))
    environment.globals["strip_dots"] = lambda *chances: Markup(_strip(*chances))
    environment.filters["short"] = shorten
    return environment


def _group_number(name: object, place: int) -> int:
    """Return the number in the name of a group, which decides its mark; else its place."""
    last = str(name).rpartition(" ")[2]
    return int(last) if last.isascii() and last.isdigit() else place


def _meter(card: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    places = (row[name] for name in ("at", "low", "high", "other"))
    if row.get("levels"):
        return levels_svg(card["number"], [(here, other) for _, here, other in row["levels"]])
    sure = not card["warning"]
    return meter_svg(card["number"], *places, is_share=row["is_share"], is_sure=sure)


def _strip(before: str, after: str) -> str:
    """Return a small picture of the two chances, for the line above the groups."""
    return dots_svg(int(before), int(after.removeprefix("over ")))


def _figure_part(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in ("kind", "title", "alt", "data", "note")}


@cache
def _style() -> Any:
    """Return the style sheet: colours by role, light and dark; the figures' rules; the page's."""
    from markupsafe import Markup

    page = files("shoal.pages").joinpath("templates", "page.css").read_text(encoding="utf-8")
    dark = f":root:not([data-theme=light]){{color-scheme:dark;{css_variables(dark=True)}}}"
    return Markup(
        f":root{{color-scheme:light;{css_variables()}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{{dark}}}\n{figure_style()}{page}"
    )
