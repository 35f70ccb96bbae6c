"""Draft the domain file of a table: from names and kinds of columns, a codebook, or a release."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.jobs.drafts._codebook import CodebookEntry, read_codebook
    from shoal.jobs.drafts._column_kinds import ColumnKind, column_kinds
    from shoal.jobs.drafts._features_draft import draft_features
    from shoal.jobs.drafts._policy_draft import REVIEW, released_path
    from shoal.jobs.drafts._schema_draft import columns_to_estimate, name_ranges, next_command

_MODULE_OF = {
    "CodebookEntry": "_codebook",
    "ColumnKind": "_column_kinds",
    "REVIEW": "_policy_draft",
    "column_kinds": "_column_kinds",
    "columns_to_estimate": "_schema_draft",
    "draft_features": "_features_draft",
    "name_ranges": "_schema_draft",
    "next_command": "_schema_draft",
    "read_codebook": "_codebook",
    "released_path": "_policy_draft",
}

__all__ = [
    "REVIEW",
    "CodebookEntry",
    "ColumnKind",
    "column_kinds",
    "columns_to_estimate",
    "draft_features",
    "name_ranges",
    "next_command",
    "read_codebook",
    "released_path",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
