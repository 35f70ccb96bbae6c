"""What a command does between its options and its output, for every face of shoal to call.

A job takes a request, or a policy, and a ``Progress``; it writes everything or nothing, and returns
what was released as data. It prints nothing, and its errors name settings: the command line writes
them as flags, a form as fields.

- *request*: what is asked for, as it is written: budgets exactly, columns with commas.
- *for the holder*: sentences that depend on rows beyond what was paid for; never published.
- *draft*: a file for people to complete, in which every guess is marked.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.jobs.drafts.policy_draft import draft_policy
    from shoal.jobs.drafts.schema_draft import SchemaDraft, draft_of, draft_schema
    from shoal.jobs.progress import Progress, ProgressFile
    from shoal.jobs.release import GroupsRequest, Released, name_released, release_groups
    from shoal.jobs.reports.release import ReportsRequest, prepare_reports
    from shoal.jobs.table import Preview, ReleasedTable, check_table, preview, release_table

_MODULE_OF = {
    "GroupsRequest": "release",
    "Preview": "table",
    "Progress": "progress",
    "ProgressFile": "progress",
    "Released": "release",
    "ReleasedTable": "table",
    "ReportsRequest": "reports.release",
    "SchemaDraft": "drafts.schema_draft",
    "check_table": "table",
    "draft_of": "drafts.schema_draft",
    "draft_policy": "drafts.policy_draft",
    "draft_schema": "drafts.schema_draft",
    "name_released": "release",
    "prepare_reports": "reports.release",
    "preview": "table",
    "release_groups": "release",
    "release_table": "table",
}

__all__ = [
    "GroupsRequest",
    "Preview",
    "Progress",
    "ProgressFile",
    "Released",
    "ReleasedTable",
    "ReportsRequest",
    "SchemaDraft",
    "check_table",
    "draft_of",
    "draft_policy",
    "draft_schema",
    "name_released",
    "prepare_reports",
    "preview",
    "release_groups",
    "release_table",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that the command line answers at once."""
    if name in _MODULE_OF:
        return getattr(import_module(f"shoal.jobs.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'shoal.jobs' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
