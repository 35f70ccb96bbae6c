"""Every promise is proved next to the code: marks tie each step of a proof to its line."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
PROOFS = sorted(SOURCE.rglob("*.proof.md"))
MARK = re.compile(r"\[P\d+\]")


def marks(path: Path) -> set[str]:
    return set(MARK.findall(path.read_text()))


def code_of(proof: Path) -> Path:
    """The module a proof belongs to, which may be private by its name."""
    name = proof.name.replace(".proof.md", ".py")
    private = proof.with_name(f"_{name}")
    return private if private.exists() else proof.with_name(name)


def test_there_are_proofs():
    assert len(PROOFS) >= 4


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_marks_in_a_proof_and_its_code_are_the_same(proof):
    assert marks(proof) == marks(code_of(proof)) != set()


def test_no_code_has_marks_without_a_proof():
    proved = {code_of(proof) for proof in PROOFS}
    unproved = [path.name for path in SOURCE.rglob("*.py") if marks(path) and path not in proved]
    assert unproved == []


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_a_proof_names_tests_that_exist(proof):
    named = re.findall(r"`(tests/[\w/]+\.py)`", proof.read_text())
    assert named
    assert [name for name in named if not (SOURCE.parents[1] / name).exists()] == []
