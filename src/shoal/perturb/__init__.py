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

from typing import TYPE_CHECKING, Any

from shoal.perturb._memo import Memo
from shoal.perturb.settings import settings_of
from shoal.perturb.stream import Streamed

if TYPE_CHECKING:
    from shoal.perturb._transformer import Perturb

__all__ = ["Memo", "Perturb", "Streamed", "settings_of"]


def __getattr__(name: str) -> Any:
    """Import the transformer when it is first asked for: streams need no scikit-learn."""
    if name != "Perturb":
        raise AttributeError(f"module 'shoal.perturb' has no attribute '{name}'")
    from shoal.perturb._transformer import Perturb

    return Perturb


def __dir__() -> list[str]:
    return __all__
