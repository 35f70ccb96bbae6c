import pytest

from shoal.audit import mechanisms
from shoal.audit.twins import twins
from shoal.experiments._literature import DOCUMENT, METHODS
from shoal.experiments._results import Results


def test_every_audit_that_is_named_exists():
    assert {method.twin for method in METHODS if method.twin} <= set(twins)
    assert {method.case for method in METHODS if method.case} <= set(mechanisms)


def test_a_method_is_tested_or_says_why_not():
    for method in METHODS:
        assert bool(method.proof or method.fault) != bool(method.why)


@pytest.mark.heavy
def test_a_fault_that_the_thesis_does_not_describe_is_shown_and_not_judged():
    wanted = ("epsilon a bit claimed for a vector", "harmony d=2")
    cells = [cell for cell in DOCUMENT.cells(True) if cell.settings["name"] in wanted]
    rows = [{"part": c.part, **c.settings, **row} for c in cells for row in DOCUMENT.run(c)]
    claims = {claim.text: claim for claim in DOCUMENT.conclude(Results(rows), False).claims}
    vectors = next(c for text, c in claims.items() if "bit vectors" in text)
    harmony = next(c for text, c in claims.items() if "Harmony" in text)
    assert (vectors.verdict, harmony.verdict) == ("cannot be told here", "holds")
    assert "at least" in vectors.ours
