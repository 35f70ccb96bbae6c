"""The base class of figures: title, alt text, numbers, and a picture drawn from them."""

import base64
import html
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

from shoal.errors import InvalidSetting, MissingPart


@dataclass(frozen=True)
class Figure(ABC):
    """Base class of figures, drawn from plain numbers and described in words.

    Parameters
    ----------
    title
        What it is.
    alt
        What it shows: axes, main finding, noise. A figure without it is refused.
    data
        Every number in the picture, once, as plain values ready for JSON.
    note
        A line to print under it, or nothing.
    """

    kind: ClassVar[str] = ""
    title: str
    alt: str
    data: Mapping[str, Any] = field(repr=False)
    note: str = ""

    def __post_init__(self) -> None:
        if not self.title.strip() or not self.alt.strip():
            raise InvalidSetting(
                "A figure needs a title and a description in words.",
                "Say what it is and what it shows: not everyone can see the picture.",
            )

    @abstractmethod
    def svg(self, page: bool = False) -> str:
        """Draw the SVG.

        Parameters
        ----------
        page
            False: with its own light colours, as a file. True: coloured by the page's style.
        """

    @abstractmethod
    def plotly(self) -> Any:
        """Return the same numbers as an interactive figure; needs ``shoal[plotly]``."""

    def _repr_html_(self) -> str:
        """Return the picture for notebooks, as an image so that its style stays its own."""
        code = base64.b64encode(self.svg().encode()).decode()
        image = (
            f'<img src="data:image/svg+xml;base64,{code}" alt="{html.escape(self.alt)}" '
            'style="width:100%;max-width:640px">'
        )
        note = f"<figcaption>{html.escape(self.note)}</figcaption>" if self.note else ""
        return f"<figure>{image}{note}</figure>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, from which ``shoal.figures.figure_of`` draws it again."""
        values = {"title": self.title, "alt": self.alt, "data": dict(self.data), "note": self.note}
        return {"kind": self.kind, **values}


def import_plotly(module: str = "graph_objects") -> Any:
    """Import a module of plotly, with a clear error where it is not installed.

    Raises
    ------
    MissingPart
        Plotly is not installed: it is large, and no page needs it, so it is an extra.
    """
    try:
        return import_module(f"plotly.{module}")
    except ImportError:
        raise MissingPart(
            "An interactive figure needs plotly, which is not installed.",
            "Install it: pip install 'shoal[plotly]'. The same picture as SVG is svg().",
        ) from None
