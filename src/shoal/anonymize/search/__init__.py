"""Searches for one cut that all rows share.

Words: a *candidate* is a node of the cut that may be split; its *gain* is the detail a split adds,
its *effect* what it does to the classes below it; a node is *open* until its split is found
invalid; *live* lines are not suppressed; the *frontier* is the set of live classes with the effects
of all splits; a *tilted* score is multiplied by a random factor; a *remote* search counts where the
lines are.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.anonymize.search._greedy_splits import find_violations

_MODULE_OF = {
    "find_violations": "_greedy_splits",
}

__all__ = [
    "find_violations",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
