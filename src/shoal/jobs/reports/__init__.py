"""Reports of a table: drawn by a mechanism, written to files, and read again."""
