"""``Rows`` and tables on Spark; only ``session`` imports pyspark."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.engine.spark._availability import open_session, open_table, session_module
    from shoal.engine.spark._failures import translate_errors
    from shoal.engine.spark._features import features_frame
    from shoal.engine.spark._files import (
        check_no_pattern,
        digest_of,
        files_of,
        hidden_name_beside,
        is_at_or_below,
        uri_of,
    )
    from shoal.engine.spark._schema import quote_name
    from shoal.engine.spark._table import (
        MapBatches,
        PersistedFrame,
        SparkTable,
        persist,
        too_many_error,
    )

_MODULE_OF = {
    "MapBatches": "_table",
    "PersistedFrame": "_table",
    "SparkTable": "_table",
    "check_no_pattern": "_files",
    "digest_of": "_files",
    "features_frame": "_features",
    "files_of": "_files",
    "hidden_name_beside": "_files",
    "is_at_or_below": "_files",
    "open_session": "_availability",
    "open_table": "_availability",
    "persist": "_table",
    "quote_name": "_schema",
    "session_module": "_availability",
    "too_many_error": "_table",
    "translate_errors": "_failures",
    "uri_of": "_files",
}

__all__ = [
    "MapBatches",
    "PersistedFrame",
    "SparkTable",
    "check_no_pattern",
    "digest_of",
    "features_frame",
    "files_of",
    "hidden_name_beside",
    "is_at_or_below",
    "open_session",
    "open_table",
    "persist",
    "quote_name",
    "session_module",
    "too_many_error",
    "translate_errors",
    "uri_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
