"""Write files whole or not at all, and keep rows on disk only where nobody else reads them.

What the words mean here:

set
    Files that get their names together, the main one last.
record
    The hidden file beside the main one that says what a run made, for whoever tidies up after it.
scratch
    The private place for rows of unfinished work, swept by the next run.
lock
    A file lock, which the system frees with the process.
"""

from shoal.files._atomic import (
    FileSet,
    atomic_file,
    atomic_folder,
    file_set,
    named_failure,
    undo_killed_run,
    write_error,
)
from shoal.files._locks import file_lock, take_lock
from shoal.files._scratch import nameless_file, private_file, scratch, sweep_scratch

__all__ = [
    "FileSet",
    "atomic_file",
    "atomic_folder",
    "file_lock",
    "file_set",
    "named_failure",
    "nameless_file",
    "private_file",
    "scratch",
    "sweep_scratch",
    "take_lock",
    "undo_killed_run",
    "write_error",
]
