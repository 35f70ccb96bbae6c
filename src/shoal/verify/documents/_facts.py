"""What is known of a release, and what its publisher says: all that documents are made from."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.documents import read_yaml
from shoal.domain import Schema
from shoal.errors import InvalidSetting, ShoalError
from shoal.pages.verification import NOT_STATED
from shoal.privacy import ApproxDP, Guarantee, PureDP
from shoal.privacy.wording import SIMULATION, Promise, promise
from shoal.synopsis.folder import read_box
from shoal.verify._release import DAMAGED, Release, moved_rows

# What nobody but the publisher knows, with what is asked of them.
QUESTIONS = {
    "name": "What the release is called. Default: the title of its page.",
    "publisher": "Who publishes it. Default: as on its page.",
    "publisher_type": "Industry, Government, Nonprofit, Academia, ...",
    "description": "What it is, in a sentence or two. Default: the summary on its page.",
    "purpose": "What it is meant to be used for.",
    "sector": "Technology, Healthcare, Education, Government, ...",
    "region": "Which region the rows are about, or whose law applies.",
    "published": "The day of publication, e.g. 2026-11-18.",
    "license": "The licence of the released files.",
    "url": "Where the release is published.",
    "rows": "Whom or what a row of the table describes, and which are in it.",
    "collection": "How, where and when the rows were collected, and what people were told.",
    "preparation": "What was done to the rows before, and whether settings were tried on them.",
    "justification": "Why this budget and these bounds were chosen.",
    "unprotected": "What else was published of the rows without this protection.",
    "actors": "Who sees the rows, who sees the release, and who is trusted with what.",
    "security": "How the rows are kept, and who has access to them.",
    "biases": "Who is missing in the rows, or counted too often.",
    "impact": "Whom the release may help or harm.",
    "maintenance": "Whether and when it will be released again, and who answers for it.",
    "authors": "Who answers for these documents.",
}
_PRIVATE = "groups", "synopsis", "reports", "page"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a release, and what its publisher says.

    Parameters
    ----------
    about
        The publisher's answers, by the names of ``QUESTIONS``.
    audits
        What the audits that come with this version found of its method: names and verdicts.
    """

    folder: Path
    release: Release
    about: Mapping[str, str]
    audits: Sequence[tuple[str, str]]

    def stated(self, name: str) -> str:
        """Return the publisher's answer, or that there is none."""
        return self.about.get(name, NOT_STATED)

    def sentence(self, name: str) -> str:
        """Return the publisher's answer as the end of a sentence."""
        return f"{self.stated(name).removesuffix('.')}."

    @property
    def name(self) -> str:
        """What the release is called."""
        return self.about.get("name") or self.release.title or self.release.name

    @property
    def publisher(self) -> str:
        """Who publishes it."""
        return self.about.get("publisher") or self.release.publisher or NOT_STATED

    @property
    def description(self) -> str:
        """What it is; that it is a simulation, if it is one."""
        summary = self._page.get("result", {}).get("summary")
        said = self.about.get("description") or summary or f"{self.release.name}."
        return f"{SIMULATION} {said}" if self.is_simulation else str(said)

    @property
    def guarantee(self) -> Guarantee | None:
        """What it promises; None if nothing that is known."""
        return self.release.guarantee

    @property
    def is_private(self) -> bool:
        """Whether the promise is differential privacy, of a table or of each report."""
        return self.release.kind in _PRIVATE and self.guarantee is not None

    @property
    def is_local(self) -> bool:
        """Whether each report is randomised by itself."""
        return self.is_private and not isinstance(self.guarantee, PureDP | ApproxDP)

    @property
    def is_simulation(self) -> bool:
        """Whether any of its files says that it is one."""
        return any(self.release.marks.values())

    @cached_property
    def promise(self) -> Promise | None:
        """The promise in words; None without one."""
        return None if self.guarantee is None else promise(self.guarantee)

    @property
    def lead(self) -> str:
        """The promise to a person in one sentence, as the page has it."""
        said = self._page.get("sentences", {}).get("lead")
        return str(said or ("" if self.promise is None else self.promise.lead))

    @property
    def promise_name(self) -> str:
        """The kind and amount of the promise."""
        said = self._page.get("sentences", {}).get("name")
        return str(said or ("none" if self.promise is None else self.promise.name))

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the fit, or of the mechanism of reports."""
        document = self.release.document
        found = document.get("settings", document.get("mechanism"))
        return found if isinstance(found, Mapping) else {}

    @property
    def page_settings(self) -> Mapping[str, Any]:
        """What the page says about how the release was made."""
        found = self._page.get("settings")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def domain(self) -> Schema | None:
        """What is assumed in public about the columns; None where the release does not say."""
        document = self.release.document
        values: Any = document.get("domain") or self.settings.get("domain")
        try:
            if "distance_unit" in values:
                return Schema.of_box(read_box(values))
            return Schema.of(values)
        except (*DAMAGED, ShoalError):
            return None

    @property
    def protects_people(self) -> bool:
        """Whether the promise is to a person, however many rows are theirs."""
        guarantee = self.guarantee
        named = self.settings.get("person") is not None or getattr(guarantee, "rows", 1) > 1
        return named or "person" in str(self.release.document.get("protects", ""))

    @property
    def limits(self) -> list[str]:
        """What the page says of errors, and of what its numbers do not say."""
        return [str(text) for text in self._page.get("errors", ())]

    @property
    def moved(self) -> str | None:
        """What the release says of rows that were moved to its bounds; None where few were."""
        return moved_rows(self.release.document)

    @property
    def outsiders(self) -> list[str]:
        """What the page of a table says that outsiders may find out."""
        return [str(text) for text in self._page.get("outsider", ())]

    @property
    def ledger_text(self) -> str:
        """What the page says that all releases of the table promise together."""
        ledger = self._page.get("ledger") or {}
        if not ledger.get("total"):
            return "No ledger is shown with this release."
        if ledger.get("earlier") in (None, "0"):
            return (
                "When the page was made, the table's ledger held nothing but this release: "
                f"ε = {ledger['total']}."
            )
        return (
            f"When the page was made, the table's ledger held ε = {ledger['earlier']} besides this "
            f"release; together it is ε = {ledger['total']}."
        )

    @property
    def _page(self) -> Mapping[str, Any]:
        return self.release.report or {}

    def missing(self) -> Iterator[str]:
        """Yield the questions that nobody has answered."""
        known = {"name", "description"} | ({"publisher"} if self.release.publisher else set())
        yield from (name for name in QUESTIONS if name not in self.about and name not in known)


def read_about(about: str | Path | Mapping[str, Any]) -> dict[str, str]:
    """Return a publisher's answers, from a mapping or a YAML file of them.

    Raises
    ------
    InvalidSetting
        If it has a key that nobody asks for, or an answer that is no text.
    """
    is_given = isinstance(about, Mapping)
    what = "The mapping of answers" if is_given else str(about)
    content: Any = about if isinstance(about, Mapping) else read_yaml(about)
    if not isinstance(content, Mapping):
        raise _refusal(what, "is no mapping of answers")
    unknown = [str(name) for name in content if name not in QUESTIONS]
    if unknown:
        raise _refusal(what, f"has an unknown key, {unknown[0][:40]!r}")
    answers = {name: _answer(what, name, value) for name, value in content.items()}
    published = answers.get("published")
    if published is not None and not _is_day(published):
        raise _refusal(what, "has a `published` that is no day such as 2026-11-18")
    return answers


def _answer(what: str, name: str, value: object) -> str:
    said = value.isoformat() if isinstance(value, datetime.date) else value
    if not isinstance(said, str) or not said.strip():
        raise _refusal(what, f"has a `{name}` that is no text")
    return said.strip()


def _is_day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _refusal(what: str, problem: str) -> InvalidSetting:
    return InvalidSetting(
        f"{what} {problem}.",
        f"Answer what you know of {', '.join(QUESTIONS)}; the rest is said to be not stated.",
        setting="about",
    )
