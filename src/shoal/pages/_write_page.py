"""Write the page of anything that has one: a fitted model, its folder, a summary, a result.

``shoal.report(model, "page.html")`` is ``report`` of this file.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from shoal.documents import parse_json
from shoal.errors import InvalidSetting, UnreadableModel, setting
from shoal.files import file_set, named_failure, private_file
from shoal.pages import _synopsis, groups, plan
from shoal.pages._page_of_result import findings
from shoal.pages._render import texts
from shoal.pages._verdicts import Verdicts, verdict_page
from shoal.pages.page import Page, VerdictPage, is_withheld
from shoal.privacy import Ledger, Result, existing_ledger

# The builder of each class besides clusterers; a class of the user's own has that of its base.
BUILDERS: dict[str, Callable[..., Any]] = {"Plan": plan.page, "Synopsis": _synopsis.page}
LEARNT = "clusters of reports"  # the kind of result that spends nothing of its own


def report(
    subject: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
    ledger: Ledger | None = None,
    audience: str = "public",
    files: Iterable[Mapping[str, str]] = (),
    publish_anyway: bool = False,
    overwrite: bool = False,
) -> "Path | ShownPage":
    """Write the page of a fitted model, a summary, a plan or a result as one HTML file, or show it.

    Nothing is spent: a page says what was released, and what each person was promised. The numbers
    of a public page are written beside it as JSON; either both files appear or none.

    Parameters
    ----------
    subject
        A fitted ``PrivateKMeans``, ``PrivateKPrototypes``, ``WaveCluster``, ``LocalClusterer`` or
        synopsis; a ``Plan``; a ``Result``, or whatever has ``to_result``; or a folder of a model.
    path
        The file to write; it ends in ``.html``. Left out, nothing is written, and a notebook shows
        the page.
    title
        The heading of the page; None names groups and columns.
    publisher
        Who publishes it; None leaves that out.
    names
        The publisher's name of each group, in the order of their numbers; None makes titles of
        what stands out in each.
    ledger
        What was promised about this table in all; None takes the model's own, if it has one.
    audience
        "public", or "curator" for a page that also shows what only the holder of the rows may see.
    files
        The name and checksum (``sha256``) of each file that is published with the page; of a
        folder they are known.
    publish_anyway
        Whether a public page shows groups that are not distinguishable from noise; without, it says
        that there are none to show.
    overwrite
        Whether an older page may be replaced.

    Returns
    -------
    The path of the page; without a path, the page, which shows itself in a notebook.

    Raises
    ------
    InvalidSetting
        If there is no page for such a thing, or the path is not one of an HTML file.
    AlreadyExists
        If the file is there, and ``overwrite`` is False.
    NotPublishable
        If nothing is promised, or a value is for the holder of the rows only.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.privacy import PureDP, Result
    >>> report(Result("example", PureDP(1)), tempfile.mkdtemp() + "/page.html").name
    'page.html'
    >>> report(Result("example", PureDP(1)))
    <page of a Result; a notebook shows it, report(subject, "page.html") writes it>
    """
    page = Path("page.html") if path is None else _checked_path(path)
    kind = type(subject).__name__
    if isinstance(subject, str | os.PathLike):
        subject, files = load_subject(subject)
    if isinstance(subject, Mapping):
        written, private = texts(subject, page), subject.get("audience") == "curator"
    else:
        built = build_page(
            subject,
            title=title,
            publisher=publisher,
            names=names,
            publish_anyway=publish_anyway or audience == "curator",
        )
        if isinstance(built, Verdicts):
            written, private = {page: verdict_page(built)}, not built.constructed
        else:
            known = ledger if ledger is not None else _own_ledger(subject)
            listed = () if is_withheld(built) else files
            content = page_findings(built, audience, ledger=known, files=listed)
            written, private = texts(content, page), audience == "curator"
    if path is None:
        return ShownPage(written[page], kind)
    _write(written, page, overwrite, private=private)
    return page


@dataclass(frozen=True)
class ShownPage:
    """A page that is not written: a notebook shows it, in a frame that can do and load nothing."""

    html: str
    subject: str

    def __repr__(self) -> str:
        return (
            f"<page of a {self.subject}; a notebook shows it, "
            'report(subject, "page.html") writes it>'
        )

    def _repr_html_(self) -> str:
        # Kept apart from the notebook, whose style and scripts are none of the page's.
        return (
            f'<iframe sandbox="" srcdoc="{escape(self.html)}" title="{escape(repr(self))}" '
            'style="width:100%;height:640px;border:0"></iframe>'
        )


def build_page(
    subject: Any,
    *,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
    publish_anyway: bool = False,
) -> Result | Verdicts:
    """Return all that the page of something says.

    Parameters
    ----------
    subject
        As of ``report``, but no folder.
    """
    named = {"title": title, "publisher": publisher, "names": names}
    build = _builder_of(subject)
    if build is not None:
        subject = build(subject, **{name: text for name, text in named.items() if text})
    if isinstance(subject, VerdictPage):
        return subject.verdicts
    if isinstance(subject, Verdicts | Result):
        return subject
    if isinstance(subject, Page):
        return subject.to_result(publish_anyway=publish_anyway)
    if hasattr(subject, "to_result"):
        result: Result = subject.to_result()
        return result
    raise InvalidSetting(
        f"There is no page for a {type(subject).__name__}.",
        "Give a fitted model or summary, a result, or the folder that `save` wrote. A table is "
        "released with its page by `shoal anonymize`.",
        setting="subject",
    )


def page_findings(
    result: Result,
    audience: str = "public",
    *,
    ledger: Ledger | None = None,
    files: Iterable[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return what the page of a result may say; what is learnt from reports shows no budget.

    Parameters
    ----------
    audience
        "public" or "curator".
    """
    content = findings(result, audience, ledger=ledger, files=files)
    if result.kind == LEARNT:  # what the reports promise was spent on them, and not here
        content["ledger"] |= {"here": None, "bar": []}
    return content


def load_subject(folder: str | os.PathLike[str]) -> tuple[Any, list[dict[str, str]]]:
    """Return what a folder holds, and the names and checksums of its files.

    Parameters
    ----------
    folder
        What `save` or `shoal cluster -o` wrote; or the folder of a released table, whose page is
        drawn again from its numbers.

    Returns
    -------
    The model or synopsis; of a table, what its page says.
    """
    from shoal.cluster.model_folder import MODEL, listed_files, load_model
    from shoal.synopsis.folder import DOCUMENT, load_synopsis

    place = Path(folder)
    if (place / MODEL).is_file():  # a model may have a synopsis beside it
        return load_model(place), listed_files(place)
    if (place / DOCUMENT).is_file():
        return load_synopsis(place), []
    pages = sorted(place.glob("*report.json"))
    return (_read_findings(pages[0]) if len(pages) == 1 else load_model(place)), []


def _read_findings(path: Path) -> Mapping[str, Any]:
    """Return what a page says from the numbers beside it."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        if isinstance(content, Mapping) and content["schema"] == "shoal.report/1":
            return content
    except (OSError, ValueError, KeyError):
        pass
    raise UnreadableModel(
        f"{path} does not hold the numbers of a page that this version knows.",
        "Name the folder that `shoal anonymize` wrote.",
    )


def _builder_of(subject: Any) -> Callable[..., Any] | None:
    """Return the function that builds a page of this class, or of one that it is made of."""
    if groups.has_groups(subject):
        return groups.page
    ours = (each for each in type(subject).__mro__ if each.__module__.startswith("shoal."))
    return next((BUILDERS[each.__name__] for each in ours if each.__name__ in BUILDERS), None)


def _own_ledger(subject: Any) -> Ledger | None:
    ledger = getattr(subject, "ledger", None)
    return existing_ledger(Path(ledger)) if isinstance(ledger, str | os.PathLike) else ledger


def _checked_path(path: str | os.PathLike[str]) -> Path:
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm") or page.is_dir():
        raise InvalidSetting(
            "A page is written to an HTML file.",
            "E.g. " + setting("path", "page.html") + ".",
            setting="path",
        )
    return page


def _write(files: Mapping[Path, str], page: Path, overwrite: bool, *, private: bool) -> None:
    """Write files that belong together, the page last: all of them, or none."""
    with file_set(page, overwrite) as parts, named_failure(page):
        for path, text in files.items():
            part = parts.file(path)
            if private:
                private_file(part)
            part.write_text(text, encoding="utf-8", newline="\n")
