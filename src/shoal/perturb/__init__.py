"""Run a local mechanism over a table: as a scikit-learn transformer, or over files in a stream.

The words of this package:

- *report*: what a mechanism makes of a person's row; *perturb*: report every row of a table.
- *token*: what identifies a person in the *person* column; it is hashed, never stored.
- *memo*: keeps a person's first report and sends it again, so that repeating costs nothing.
- *collection*: the reports of one mechanism about one set of columns.
- *frozen*: one report a person, by the memo. *Fresh*: every row is drawn anew and paid for.
- *shape*: how a mechanism reads a table and how its reports become a table again.
- *streamed*: reports of any number of rows, drawn a block at a time.
- *draft*: drawn blocks kept on disk until the output is complete, so that a killed run goes on.
- *remap*: a public function of reports, so it costs nothing.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used
from shoal.perturb._memo import Memo
from shoal.perturb._plain_values import settings_of
from shoal.perturb.report_stream import Streamed

if TYPE_CHECKING:
    from shoal.perturb._plain_values import parameters_of
    from shoal.perturb._table_layout import shape_of
    from shoal.perturb._transformer import Perturb

_MODULE_OF = {
    "Perturb": "_transformer",
    "parameters_of": "_plain_values",
    "shape_of": "_table_layout",
}

__all__ = [
    "Memo",
    "Perturb",
    "Streamed",
    "parameters_of",
    "settings_of",
    "shape_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
