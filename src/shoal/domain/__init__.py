"""What is public about a table: boxes, grids of cells, categories, taxonomies, schemas.

The words of this package:

- *domain*: what is known without the rows. A *box* has the bounds of numeric columns.
- *schema*: the bounds and categories of all columns a method sees, kept in a YAML file.
- *categories*: a public list of values. A *code* is the index of a value in its list.
- *bucket*: one more category, for values that are not listed.
- *taxonomy*: a tree of categories. Its *leaves* are values; a *node* is an interval of codes.
- *partition*: disjoint cells that cover a box. A *grid* has equal cells.
- *key*: the number of a cell. *Sparse* counts have the cells with rows alone.
- *view*: a projection of rows onto a few axes, so that their cells can be counted.
- *zoomed grid*: a grid of a view along the columns, and *shells* of wider cells about it.
- *person*: the column that identifies people.
- *geo*: a box of latitude and longitude, with distances in kilometres.
"""

from shoal.domain._schema import Schema
from shoal.domain._taxonomy import Node, Taxonomy
from shoal.domain.box import Box
from shoal.domain.categories import Categories
from shoal.domain.grid import Grid, Partition, SparseCounts
from shoal.domain.nested_grid import FarGrid, ZoomedGrid
from shoal.domain.view import View, ViewedCells

__all__ = [
    "Box",
    "Categories",
    "FarGrid",
    "Grid",
    "Node",
    "Partition",
    "Schema",
    "SparseCounts",
    "Taxonomy",
    "View",
    "ViewedCells",
    "ZoomedGrid",
]
