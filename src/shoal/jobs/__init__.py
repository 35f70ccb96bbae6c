"""What a command does between its options and its output, for every face of shoal to call.

A job takes a request, or a policy, and a ``Progress``; it writes everything or nothing, and returns
what was released as data. It prints nothing, and its errors name settings: the command line writes
them as flags, a form as fields.

- *request*: what is asked for, as it is written: budgets exactly, columns with commas.
- *for the holder*: sentences that depend on rows beyond what was paid for; never published.
- *draft*: a file for people to complete, in which every guess is marked.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.jobs._cluster_methods import (
        METHODS,
        ClusterOptions,
        WaveOptions,
        method_named,
        parse_groups,
    )
    from shoal.jobs._engine import VERBOSE, Engines
    from shoal.jobs._features import (
        FeaturesRequest,
        check_features,
        explain_features,
        write_features,
    )
    from shoal.jobs._group_names import is_model_folder
    from shoal.jobs._group_release import (
        GroupsRequest,
        ReleasedGroups,
        name_released,
        release_groups,
    )
    from shoal.jobs._progress import (
        FIRST_STEP,
        PROGRESS_FILE,
        Progress,
        ProgressFile,
        State,
        tell_spending,
    )
    from shoal.jobs._resume import note_spending, resumed_lines
    from shoal.jobs._table_inputs import (
        box_of,
        budget_of,
        is_uri,
        schema_of,
        split_commas,
        table_file,
    )
    from shoal.jobs._table_release import (
        Preview,
        ReleasedTable,
        check_table,
        preview,
        release_table,
        search_progress,
        source_of_policy,
    )
    from shoal.jobs.drafts._policy_draft import draft_policy
    from shoal.jobs.drafts._schema_draft import SchemaDraft, draft_of, draft_schema
    from shoal.jobs.reports._release import ReportsRequest, prepare_reports

_MODULE_OF = {
    "Engines": "_engine",
    "FIRST_STEP": "_progress",
    "FeaturesRequest": "_features",
    "GroupsRequest": "_group_release",
    "METHODS": "_cluster_methods",
    "ClusterOptions": "_cluster_methods",
    "PROGRESS_FILE": "_progress",
    "Preview": "_table_release",
    "Progress": "_progress",
    "ProgressFile": "_progress",
    "ReleasedGroups": "_group_release",
    "ReleasedTable": "_table_release",
    "ReportsRequest": "reports._release",
    "SchemaDraft": "drafts._schema_draft",
    "State": "_progress",
    "VERBOSE": "_engine",
    "WaveOptions": "_cluster_methods",
    "box_of": "_table_inputs",
    "budget_of": "_table_inputs",
    "check_features": "_features",
    "check_table": "_table_release",
    "draft_of": "drafts._schema_draft",
    "draft_policy": "drafts._policy_draft",
    "draft_schema": "drafts._schema_draft",
    "explain_features": "_features",
    "is_model_folder": "_group_names",
    "is_uri": "_table_inputs",
    "method_named": "_cluster_methods",
    "name_released": "_group_release",
    "note_spending": "_resume",
    "parse_groups": "_cluster_methods",
    "prepare_reports": "reports._release",
    "preview": "_table_release",
    "release_groups": "_group_release",
    "release_table": "_table_release",
    "resumed_lines": "_resume",
    "schema_of": "_table_inputs",
    "search_progress": "_table_release",
    "source_of_policy": "_table_release",
    "split_commas": "_table_inputs",
    "table_file": "_table_inputs",
    "tell_spending": "_progress",
    "write_features": "_features",
}

__all__ = [
    "FIRST_STEP",
    "METHODS",
    "PROGRESS_FILE",
    "VERBOSE",
    "ClusterOptions",
    "Engines",
    "FeaturesRequest",
    "GroupsRequest",
    "Preview",
    "Progress",
    "ProgressFile",
    "ReleasedGroups",
    "ReleasedTable",
    "ReportsRequest",
    "SchemaDraft",
    "State",
    "WaveOptions",
    "box_of",
    "budget_of",
    "check_features",
    "check_table",
    "draft_of",
    "draft_policy",
    "draft_schema",
    "explain_features",
    "is_model_folder",
    "is_uri",
    "method_named",
    "name_released",
    "note_spending",
    "parse_groups",
    "prepare_reports",
    "preview",
    "release_groups",
    "release_table",
    "resumed_lines",
    "schema_of",
    "search_progress",
    "source_of_policy",
    "split_commas",
    "table_file",
    "tell_spending",
    "write_features",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
