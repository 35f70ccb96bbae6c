from shoal.experiments._cells import Cell
from shoal.experiments.leteo import DOCUMENT
from shoal.experiments.leteo._run import run


def test_every_planned_cell_has_something_to_run():
    from shoal.experiments.leteo._run import _ALL

    for quick in (True, False):
        planned = {cell.part for cell in (*DOCUMENT.cells(quick), *DOCUMENT.spark_cells(quick))}
        assert planned <= set(_ALL)


def test_cells_of_spark_are_planned_apart():
    assert not {cell.part for cell in DOCUMENT.cells(True)} & {"spark times", "spark scaling"}
    assert DOCUMENT.parts(True, on_spark=True)[-2:] == ["spark times", "spark scaling"]


def test_a_cell_is_run_by_its_part():
    assert run(Cell("gains", {"rows": 500, "gain": "entropy, corrected"}))[0]["smallest"] >= 10
