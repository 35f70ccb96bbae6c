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
