"""Documents run again: what they claim, what holds, and every figure beside ours.

One module or folder for each document, with ``DOCUMENT`` in it. Only public names of other packages
are used, so that what a reader can import is what was measured.

The words of this package:

- *document*: a thesis, a report or a review that this project grew from.
- *part*: one experiment of it. *Cell*: a part at one setting, all its draws; run and kept as one.
- *draw*: one run with its own noise.
- *claim*: a sentence of the document that can be tested; *exhibit*: a figure or table of it.
- *quick*: few draws and few settings.
"""

from importlib import import_module

from shoal.errors import InvalidSetting
from shoal.experiments.document import Document, Outcome, reproduce

__all__ = ["DOCUMENTS", "Document", "Outcome", "document_named", "reproduce"]

_MODULES = {
    "nd-laplace": "nd_laplace",
    "wavecluster": "wavecluster",
    "leteo": "leteo",
    "literature": "_literature",
}
DOCUMENTS = tuple(_MODULES)


def document_named(name: str) -> Document:
    """Return a document by its name on the command line.

    Parameters
    ----------
    name
        One of ``DOCUMENTS``.

    Examples
    --------
    >>> document_named("literature").name
    'literature'
    """
    if name not in _MODULES:
        raise InvalidSetting.of(
            "document", f"must be one of {', '.join(DOCUMENTS)}", "nd-laplace", name
        )
    document: Document = import_module(f"shoal.experiments.{_MODULES[name]}").DOCUMENT
    return document
