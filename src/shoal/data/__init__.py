"""Tables in and out, encoding, the catalogue of data sets."""

from shoal.data.catalogue import dataset_names, load
from shoal.data.census import adults, adults_hierarchies
from shoal.data.fetch import fetch
from shoal.data.generate import blobs, shapes, students, students_schema
from shoal.data.source import Source
from shoal.data.source_detection import source_of
from shoal.data.write import write_table
from shoal.files import atomic_file, atomic_folder

__all__ = [
    "Source",
    "adults",
    "adults_hierarchies",
    "atomic_file",
    "atomic_folder",
    "blobs",
    "dataset_names",
    "fetch",
    "load",
    "shapes",
    "source_of",
    "students",
    "students_schema",
    "write_table",
]
