import pytest

from shoal.errors import InvalidSetting
from shoal.experiments import DOCUMENTS, document_named


@pytest.mark.heavy
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("quick", [True, False])
def test_a_document_has_cells_each_of_its_own(name, quick):
    cells = document_named(name).cells(quick)
    assert len({cell.key for cell in cells}) == len(cells) > 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_without_any_result_nothing_is_claimed_to_have_been_measured(name):
    """A verdict without a run may rest on a proof alone: then it has no number of ours."""
    from shoal.experiments._results import Results

    done = document_named(name).conclude(Results([]), True)
    measured = [c for c in done.claims if c.verdict != "not judged" and "±" in c.ours]
    assert measured == []
    assert all(c.verdict == "not judged" for c in done.claims if "shoal reproduce" in c.reason)


def test_a_document_that_is_not_there_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="nd-laplace"):
        document_named("thesis")
