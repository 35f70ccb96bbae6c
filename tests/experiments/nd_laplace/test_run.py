from shoal.experiments.nd_laplace._cell_list import cells
from shoal.experiments.nd_laplace._run import _ALL


def test_every_planned_cell_has_something_to_run():
    for quick in (True, False):
        assert {cell.part for cell in cells(quick)} <= set(_ALL)
