"""Private summaries of tables with numbers and categories, and the synthetic rows they give.

The words of this package:

- *columns*: numbers on a lattice, and codes of categories; levels in their order are numbers.
- *block*: the coordinates of a vector that one column adds to; a row moves it by a limited sum.
- *one-way counts*: how many rows each bin or category of a column has. *Table*: that of a pair.
- *tree*: pairs of columns without a cycle, so that rows can be drawn column after column.
- *synthetic rows*: drawn from the released counts; no row of the table is among them.
"""

from shoal.synopsis.mixed.estimator import MixedSynopsis

__all__ = ["MixedSynopsis"]
