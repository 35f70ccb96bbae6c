"""Read and write tables, encode their columns, and load public data sets by name.

The words of this package:

- *source*: a table that can be read in passes, wherever it is: in memory, in files, in DuckDB.
- *batch*: some rows of it, as an Arrow record batch. A *pass* reads all batches once.
- *encode*: turn a column into numbers, category codes, or the *owner* (person) of each row.
- *missing*: an empty cell, or a usual mark for one, such as NA.
- *odd* cell: text where a number belongs.
- *header*: the first line of a text file, which must hold column names.
- *catalogue*: the public data sets that ``load`` knows by name, with their checksums.
"""

from shoal.data._census import adults, adults_hierarchies
from shoal.data._fetch import fetch
from shoal.data._generate import blobs, shapes, students, students_schema
from shoal.data._source_detection import source_of
from shoal.data._write import write_table
from shoal.data.catalogue import dataset_names, load
from shoal.data.source import Source
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
