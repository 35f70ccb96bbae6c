"""Write a release: rows under their labels, with manifest, mapping and register of people."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.anonymize.release._manifest import policy_hash, published_files, read_manifest
    from shoal.anonymize.release._result import paths_of

_MODULE_OF = {
    "paths_of": "_result",
    "policy_hash": "_manifest",
    "published_files": "_manifest",
    "read_manifest": "_manifest",
}

__all__ = [
    "paths_of",
    "policy_hash",
    "published_files",
    "read_manifest",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
