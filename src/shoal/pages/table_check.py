"""What ``shoal anonymize check`` says: the promises a table keeps, as counted in it."""

from dataclasses import asdict
from typing import Any

from rich.text import Text

from shoal.anonymize.policy import Policy
from shoal.anonymize.risk.recount import Achieved
from shoal.anonymize.risk.reidentification import Risk
from shoal.cli.output import entry
from shoal.pages.table import risk_lines

__all__ = ["document", "summary"]


def document(policy: Policy, achieved: Achieved, broken: list[str]) -> dict[str, Any]:
    """What `shoal anonymize check` measured, for a script."""
    return {
        "kept": not broken,
        "broken": broken,
        "k": {"asked": policy.privacy.k, "reached": achieved.k},
        "l": achieved.l,
        "t": achieved.t,
        "greatest_share": achieved.share,
        "rows": achieved.rows,
        "classes": achieved.classes,
        "counted": "people" if achieved.by_person else "rows",
        "risk": asdict(Risk.of(achieved.sizes, policy.privacy.k)),
    }


def summary(policy: Policy, achieved: Achieved, broken: list[str]) -> list[Text]:
    """The same in words, for whoever ran it."""
    k, of = policy.privacy.k, "people" if achieved.by_person else "rows"
    kept = "Every promise of the policy holds in this table."
    lines = risk_lines(Risk.of(achieved.sizes, k), k, of, None)
    note = "The table does not say whose a row is: rows were counted, not people."
    rows_for_people = policy.privacy.entity is not None and not achieved.by_person
    return [
        entry("Broken" if broken else "Kept", f"{'; '.join(broken)}." if broken else kept),
        entry("k", f"{achieved.k:,} {of} in the smallest of {achieved.classes:,} groups."),
        *(entry("l", f"{name}: {reached:.4g}") for name, reached in achieved.l.items()),
        *(entry("t", f"{name}: {far:.4g}") for name, far in achieved.t.items()),
        *(
            entry("Worst", f"In some group {100 * share:.3g} in 100 {of} share one {name}.")
            for name, share in achieved.share.items()
        ),
        *(entry("Risk" if i == 0 else "", line) for i, line in enumerate(lines)),
        *([entry("Note", note)] if rows_for_people else []),
    ]
