"""Every promise is proved next to the code: marks tie each step of a proof to its line."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
PROOFS = sorted(SOURCE.rglob("*.proof.md"))
MARK = re.compile(r"\[P\d+\]")


def marks(path: Path) -> set[str]:
    return set(MARK.findall(path.read_text()))


def test_there_are_proofs():
    assert len(PROOFS) >= 4


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_marks_in_a_proof_and_its_code_are_the_same(proof):
    code = proof.with_name(proof.name.replace(".proof.md", ".py"))
    assert marks(proof) == marks(code) != set()


def test_no_code_has_marks_without_a_proof():
    proved = {proof.name.replace(".proof.md", ".py") for proof in PROOFS}
    unproved = [p.name for p in SOURCE.rglob("*.py") if marks(p) and p.name not in proved]
    assert unproved == []


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_a_proof_names_tests_that_exist(proof):
    named = re.findall(r"`(tests/[\w/]+\.py)`", proof.read_text())
    assert named
    assert [name for name in named if not (SOURCE.parents[1] / name).exists()] == []
