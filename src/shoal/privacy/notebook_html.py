"""Small HTML for notebooks: a heading, names with values, sentences. All text is escaped."""

import html
from collections.abc import Iterable, Mapping
from typing import Any

_LONGEST = 120  # letters of a value that are shown


def summary_html(
    heading: str, values: Mapping[str, object] = {}, sentences: Iterable[str] = ()
) -> str:
    """Return a heading, a small table of values, and sentences, as HTML.

    Parameters
    ----------
    values
        Names and values; long values are cut.
    Examples
    --------
    >>> summary_html("A <model>", sentences=["Three groups."])
    '<div><strong>A &lt;model&gt;</strong><p>Three groups.</p></div>'
    """
    lines = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(_short(value))}</td></tr>'
        for name, value in values.items()
    )
    table = f"<table><tbody>{lines}</tbody></table>" if lines else ""
    texts = "".join(f"<p>{html.escape(text)}</p>" for text in sentences)
    return f"<div><strong>{html.escape(heading)}</strong>{table}{texts}</div>"


def table_html(heads: Iterable[str], rows: Iterable[Iterable[object]], caption: str = "") -> str:
    """Return a table as HTML, all of it escaped.

    Examples
    --------
    >>> table_html(["a"], [["<b>"]]).partition("<tbody>")[2]
    '<tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    lines = ("".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def promise_sentences(guarantee: Any) -> list[str]:
    """Return a guarantee in words, as pages have it; of a simulation, that it protects nobody."""
    # Imported here, since the words are of guarantees, which import this module to be shown.
    from shoal.privacy.wording import SIMULATION, promise

    words = promise(guarantee)
    if guarantee.simulation:
        return [SIMULATION, f"With real noise: {words.lead}", *words.more]
    return [words.lead, *words.more]


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
