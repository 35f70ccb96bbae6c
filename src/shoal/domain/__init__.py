"""What is public: boxes, grids of cells, categories, taxonomies, schemas."""

from shoal.domain.box import Box
from shoal.domain.categories import Categories
from shoal.domain.grid import Grid, Partition, SparseCounts
from shoal.domain.schema import Schema
from shoal.domain.taxonomy import Node, Taxonomy
from shoal.domain.view import View, ViewedCells

__all__ = [
    "Box",
    "Categories",
    "Grid",
    "Node",
    "Partition",
    "Schema",
    "SparseCounts",
    "Taxonomy",
    "View",
    "ViewedCells",
]
