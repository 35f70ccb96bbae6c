"""Documents that others ask for, made from a release and from what its publisher says of it.

    files of a release, publisher's answers ─► facts ─► one document for each format

Each is a function of these alone, so that whoever has the release can make it again and compare.

Words of this package:

- *facts*: what a release says of itself, and the publisher's answers.
- *answer*: what nobody but the publisher knows; without one, a document says "not stated".
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.verify.documents._facts import QUESTIONS, Facts, read_about
    from shoal.verify.documents._formats import KINDS, draw, obstacle

_MODULE_OF = {
    "KINDS": "_formats",
    "QUESTIONS": "_facts",
    "Facts": "_facts",
    "draw": "_formats",
    "obstacle": "_formats",
    "read_about": "_facts",
}

__all__ = ["KINDS", "QUESTIONS", "Facts", "draw", "obstacle", "read_about"]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
