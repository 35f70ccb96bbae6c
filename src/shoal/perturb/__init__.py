"""Run a local mechanism over a table: as a scikit-learn transformer, or over files in a stream."""

from typing import TYPE_CHECKING, Any

from shoal.perturb.memo import Memo
from shoal.perturb.settings import settings_of
from shoal.perturb.stream import Streamed

if TYPE_CHECKING:
    from shoal.perturb.transformer import Perturb

__all__ = ["Memo", "Perturb", "Streamed", "settings_of"]


def __getattr__(name: str) -> Any:
    """Import the transformer when it is first asked for: streams need no scikit-learn."""
    if name != "Perturb":
        raise AttributeError(f"module 'shoal.perturb' has no attribute '{name}'")
    from shoal.perturb.transformer import Perturb

    return Perturb
