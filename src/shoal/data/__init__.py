"""Tables in and out, encoding, the catalogue of data sets."""

from shoal.data.sources import Source, source_of

__all__ = ["Source", "source_of"]
