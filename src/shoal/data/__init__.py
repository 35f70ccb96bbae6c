"""Tables in and out, encoding, the catalogue of data sets."""

from shoal.data.catalogue import load, names
from shoal.data.detection import source_of
from shoal.data.generate import blobs, students, students_schema
from shoal.data.source import Source
from shoal.data.write import write_table
from shoal.files import whole_file, whole_folder

__all__ = [
    "Source",
    "blobs",
    "load",
    "names",
    "source_of",
    "students",
    "students_schema",
    "whole_file",
    "whole_folder",
    "write_table",
]
