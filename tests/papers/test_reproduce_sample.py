"""A sample of every document that is run again: the cheapest cell of each part, and the page."""

from dataclasses import replace

import pytest

from shoal.experiments import DOCUMENTS, document_named, reproduce


def cheapest_of_each_part(document):
    """Made-up tables first, which are always here; then real ones, where the data folder is."""
    best = {}
    for cell in document.cells(True):
        small = replace(cell, settings={**cell.settings, **_fewer(cell)})
        real = str(cell.settings.get("data", "")).startswith(("seeds", "heart"))
        rank = (real, cell.cost)
        if cell.part not in best or rank < best[cell.part][0]:
            best[cell.part] = (rank, small)
    return [cell for _, cell in best.values()]


def _fewer(cell):
    """Two draws or games a cell; audits keep theirs, since a bound needs them."""
    if cell.part in ("audits", "noise"):
        return {}
    return {name: 2 for name in ("draws", "games") if name in cell.settings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_part_of_a_document_runs_and_its_page_is_written(name, tmp_path):
    document = document_named(name)
    sample = cheapest_of_each_part(document)
    outcome = reproduce(
        replace(document, cells=lambda quick: sample), tmp_path / name, quick=True, jobs=1
    )
    assert outcome.finished == outcome.cells == len(sample)
    page = (tmp_path / name / "report.html").read_text(encoding="utf-8")
    assert outcome.reproduction.lead in page
    written = {path.stem for path in (tmp_path / name / "tables").glob("*.parquet")}
    assert written == {cell.part.replace(" ", "-") for cell in sample}
    for exhibit in outcome.reproduction.exhibits:
        assert f'id="{exhibit.anchor}"' in page
