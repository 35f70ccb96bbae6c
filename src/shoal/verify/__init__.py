"""Check a release from outside: from its files alone, without a row of the table.

    folder ─► releases in it ─► findings, one for each thing that was looked at ─► page, exit code

Each kind of release has a checker in a file of its own: it returns what the release says of itself
and adds findings. What all kinds have in common is checked once, for all of them: marks of
simulations, the entry in a ledger, the signature, what stands behind the version.

Words of this package:

- *finding*: something that was looked at, and whether it holds, fails or cannot be checked.
- *mark*: whether a file says that it is of a simulation.
- *document*: what others ask for in their own format, made from the release and the publisher's
  answers (``documents``).
- *signature*: who vouches for the digests of a release's files, with an Ed25519 key.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.verify._documents import Documented
    from shoal.verify._run import document_folder, sign_folder, verify_folder
    from shoal.verify._signature import public_key_of

_MODULE_OF = {
    "Documented": "_documents",
    "document_folder": "_run",
    "public_key_of": "_signature",
    "sign_folder": "_run",
    "verify_folder": "_run",
}

__all__ = [
    "Documented",
    "document_folder",
    "public_key_of",
    "sign_folder",
    "verify_folder",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
