"""Build the page of a private summary: the noisy counts of its cells, and how far each is off."""

import math
from typing import Any

from shoal.errors import quantity
from shoal.pages._release_texts import (
    ROW_IS_PERSON,
    exact_promise_lines,
    has_no_person_column,
    promise_values,
    release_settings,
    unit_of,
)
from shoal.pages.page import Fact, Line, Page, name_list
from shoal.privacy import Result

EVIDENCE = "proofs beside the code, in shoal/synopsis"


def page(model: Any, *, title: str | None = None, publisher: str | None = None) -> Page:
    """Build the page of a fitted ``UniformGrid``, ``AdaptiveGrid`` or ``PrivTree``.

    Parameters
    ----------
    title
        Of the page; None names the columns.
    """
    box, name = model.box, type(model).__name__
    settings = release_settings(
        box,
        model.guarantee_,
        publisher,
        title=title or f"How many lie where, by {name_list(box.names)}",
        method=f"Counts of cells ({name})",
        evidence=EVIDENCE,
    )
    counted = f"About {quantity(model.n_rows_, 'row')}, counted in {_cells(model)} of a public box."
    check = model.bounds_check_
    moved = [str(check).replace("\n", " ")] if check is not None and check.is_alarm else []
    noise = "Every count carries noise, so one row more or less changes little."
    return Page(
        result=Result("synopsis", model.guarantee_),
        settings=settings,
        summary=" ".join([*moved, counted, noise]),
        facts=_facts(model),
        figures=[model.plot()],
        tables=[],
        limits=_limits(model),
        lines=[
            *(Line("Bounds", text) for text in moved),
            *exact_promise_lines(model.guarantee_),
            Line("Counted", counted),
        ],
        values=promise_values(model.guarantee_)
        | {"bounds_check": None if check is None else check.to_dict()}
        | {"rows_about": model.n_rows_, "cells": len(model.cells_)},
    )


def _cells(model: Any) -> str:
    return quantity(model.n_cells_, "cell")


def _noise(model: Any) -> int:
    """Return the standard deviation of the noise in the count of one cell, rounded up."""
    return math.ceil(math.sqrt(model.noise_variance_))


def _facts(model: Any) -> list[Fact]:
    return [
        Fact(f"{unit_of(model).capitalize()}, about", f"{model.n_rows_:,}", "with noise"),
        Fact("Cells", f"{len(model.cells_):,}", f"that hold somebody, of {model.n_cells_:,}"),
        Fact("Noise in a cell", f"± {_noise(model):,}", "one standard deviation"),
    ]


def _limits(model: Any) -> list[str]:
    limits = [
        f"The count of one cell is off by about {_noise(model):,}, up or down.",
        "A pale cell that stands alone may hold nobody: empty cells carry noise as well.",
        "Nothing finer than a cell can be seen.",
    ]
    if has_no_person_column(model):
        limits.append(ROW_IS_PERSON)
    return limits
