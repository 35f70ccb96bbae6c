"""Run a local mechanism over a table: as a scikit-learn transformer, or over files in a stream."""

from shoal.perturb.memo import Memo
from shoal.perturb.settings import settings_of
from shoal.perturb.stream import Streamed
from shoal.perturb.transformer import Perturb

__all__ = ["Memo", "Perturb", "Streamed", "settings_of"]
