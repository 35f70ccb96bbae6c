"""A release in the order of NIST SP 800-226 and of WP216: what is known, and what is not covered.

The blocks of SP 800-226 and their order are those of its initial public draft of December 2023 (the
pyramid, sections 2 to 4); the final text of March 2025 could not be compared. The three risks are
those of Opinion 05/2014 of the Article 29 Working Party. The page says so itself.
"""

from typing import NamedTuple

from shoal.pages import Detail, Verdicts, verdict_page
from shoal.pages.verification import NOT_STATED
from shoal.verify.documents import _how_made as made
from shoal.verify.documents._facts import Facts

RELEASE, MEASURED, PUBLISHER, NOT_COVERED = (
    "From the release",
    "Measured",
    "Publisher",
    "Not covered",
)
_SOURCES = (
    "Blocks and order: NIST SP 800-226, initial public draft (December 2023); its final text was "
    "not compared. Risks: Opinion 05/2014 (WP216)."
)


class Block(NamedTuple):
    """One question of a standard, with its answers: where each comes from, and what it says."""

    name: str
    answers: list[tuple[str, str]]

    @property
    def verdict(self) -> str:
        """How much of it is answered."""
        open_ones = [answer for answer in self.answers if _is_open(answer)]
        if not open_ones:
            return "answered"
        return "not covered" if len(open_ones) == len(self.answers) else "answered in part"


def assessment(facts: Facts) -> str:
    """Return the page."""
    blocks = [*_guarantee(facts), *_algorithms(facts), *_deployment(facts), *_risks(facts)]
    open_ones = [(block, each) for block in blocks for each in block.answers if _is_open(each)]
    published = facts.about.get("published")
    verdicts = Verdicts(
        title=f"{facts.name}: assessed",
        lead=facts.description,
        heading="What is known of the promise",
        sub=_SOURCES,
        says=[facts.lead or "No promise is stated."],
        says_not=[f"{block.name}: {text}" for block, (_, text) in open_ones],
        constructed=True,
        tag="Made from the files of the release: no row was read",
        facts=[
            {"name": "Promise", "value": facts.promise_name, "detail": "as the release states it"},
            {"name": "Published by", "value": facts.publisher, "detail": "as it says itself"},
            {
                "name": "Open questions",
                "value": str(len(open_ones)),
                "detail": f"not covered or not stated, of {sum(len(b.answers) for b in blocks)}",
            },
        ],
        details=[_detail(block) for block in blocks],
        reading="Each answer says where it comes from.",
        again=f"shoal document {facts.folder.name or '.'} --as nist",
    )
    moment = f"Published {published}" if published else "Day of publication not stated"
    return verdict_page(verdicts, made=moment)


def _detail(block: Block) -> Detail:
    lines = [f"{source}: {text}" for source, text in block.answers]
    return Detail(block.name, block.verdict, lines=lines, open=True)


def _is_open(answer: tuple[str, str]) -> bool:
    return answer[0] == NOT_COVERED or answer[1] == NOT_STATED


def _guarantee(facts: Facts) -> list[Block]:
    """Return the top of the pyramid: the parameters and the unit of privacy."""
    promised = [(RELEASE, f"{facts.promise_name}."), (RELEASE, facts.lead)]
    if not facts.is_private:
        text = "SP 800-226 is about differential privacy. This release promises something else."
        return [Block("ε and other parameters (section 2.2)", [*promised, (NOT_COVERED, text)])]
    exact = [] if facts.promise is None else [(RELEASE, facts.promise.exact)]
    return [
        Block("ε and other parameters (section 2.2)", [*promised, *exact]),
        Block("Unit of privacy (section 2.4)", [(RELEASE, made.unit_details(facts))]),
        Block(
            "Other releases of the same rows (section 2.6)",
            [
                (RELEASE, facts.ledger_text),
                (RELEASE, made.bounds(facts)),
                (PUBLISHER, facts.stated("unprotected")),
            ],
        ),
    ]


def _algorithms(facts: Facts) -> list[Block]:
    """Return the middle of the pyramid: algorithms and correctness, utility, bias."""
    limits = [(RELEASE, text) for text in (facts.moved, *facts.limits) if text]
    lost = "Small groups lose most to noise; how much more than large ones was not measured here."
    if not facts.is_private:
        lost = "Small groups are merged or left out first; whom that hides was not measured here."
    return [
        Block(
            "Algorithms and correctness (section 3.1)",
            [
                (RELEASE, made.mechanisms(facts)),
                (MEASURED, made.audits(facts)),
                (NOT_COVERED, "That the noise of this very release was fresh: nobody can see it."),
            ]
            if facts.is_private
            else [(RELEASE, "The written file was counted again: see shoal verify.")],
        ),
        Block(
            "Utility (section 3.2)",
            limits or [(NOT_COVERED, "The release says nothing of its errors.")],
        ),
        Block("Bias (section 3.3)", [(NOT_COVERED, lost), (PUBLISHER, facts.stated("biases"))]),
    ]


def _deployment(facts: Facts) -> list[Block]:
    """Return the bottom of the pyramid: queries, threats, side channels, security, collection."""
    return [
        Block(
            "Query model (section 4.1)",
            [(RELEASE, "One release of files; nobody asks the rows anything.")],
        ),
        Block(
            "Threat model (section 4.2)",
            [(RELEASE, made.trust(facts)), (PUBLISHER, facts.stated("actors"))],
        ),
        Block(
            "Side channels (section 4.3)",
            [
                *([(RELEASE, made.EXACT_NOISE)] if facts.is_private else []),
                (NOT_COVERED, made.RUNNING_TIME),
            ],
        ),
        Block(
            "Data security and access control (section 4.4)",
            [
                (NOT_COVERED, "shoal does not see how the rows are kept."),
                (PUBLISHER, facts.stated("security")),
            ],
        ),
        Block(
            "Data collection exposure (section 4.5)",
            [
                (NOT_COVERED, "shoal does not see how the rows came together."),
                (PUBLISHER, facts.stated("collection")),
            ],
        ),
    ]


def _risks(facts: Facts) -> list[Block]:
    """Return the three risks of WP216: singling out, linkability, inference."""
    return _private_risks(facts) if facts.is_private else _table_risks(facts)


def _private_risks(facts: Facts) -> list[Block]:
    fails = () if facts.promise is None else facts.promise.fails
    values = [text for text in fails if text.startswith("One of your values")]
    what = "a report" if facts.is_local else "anyone's row"
    return [
        Block(
            "Singling out (WP216)",
            [
                (RELEASE, facts.lead),
                (MEASURED, made.audits(facts)),
                (NOT_COVERED, "No membership attack was run on this very release."),
            ],
        ),
        Block(
            "Linkability (WP216)",
            [
                (RELEASE, f"What is linked to {what} is bounded by the same promise."),
                (NOT_COVERED, "Linking this release with another source was not tried."),
            ],
        ),
        Block(
            "Inference (WP216)",
            [
                *((RELEASE, text) for text in values),
                (RELEASE, "Facts about groups stay visible, and may be true of any member."),
                (NOT_COVERED, "No guess of anyone's value was tried on this very release."),
            ],
        ),
    ]


def _table_risks(facts: Facts) -> list[Block]:
    fails = (facts.release.report or {}).get("sentences", {})
    more = [str(text) for text in fails.get("more", ())]
    compared = [str(text) for text in fails.get("fails", ()) if "compared" in str(text)]
    return [
        Block(
            "Singling out (WP216)",
            [(RELEASE, facts.lead), *((MEASURED, text) for text in facts.outsiders)],
        ),
        Block(
            "Linkability (WP216)",
            [
                *((RELEASE, text) for text in compared),
                (NOT_COVERED, "Linking this table with another source was not tried."),
            ],
        ),
        Block(
            "Inference (WP216)",
            [
                *((RELEASE, text) for text in more),
                (NOT_COVERED, "No guess of anyone's value was tried on this very table."),
            ],
        ),
    ]
