"""What is public: boxes, grids of cells, categories, taxonomies, schemas."""

from shoal.domain.box import Box
from shoal.domain.grid import Grid, Partition, SparseCounts

__all__ = ["Box", "Grid", "Partition", "SparseCounts"]
