import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import Policy
from shoal.anonymize.hierarchies._build import HeldCells, build_hierarchy, needs_rows
from shoal.errors import HierarchyInvalid

NUMBERS = {"type": "int", "domain": [0, 15]}


def policy(folder=".", **column):
    attributes = {"q": {"role": "quasi", **column}}
    return Policy.of({"version": 1, "attributes": attributes, "privacy": {"k": 2}}, folder)


@pytest.mark.parametrize(
    ("column", "leaves", "learnt"),
    [
        ({"hierarchy": {"tree": {"*": ["a", "b"]}}}, ("a", "b"), False),
        ({**NUMBERS, "hierarchy": {"kind": "interval", "width": 8}}, ("<8", ">=8"), False),
        ({**NUMBERS, "hierarchy": {"kind": "interval", "breaks": [3]}}, ("<3", ">=3"), False),
        ({**NUMBERS, "hierarchy": {"kind": "binary", "min_width": 8}}, ("<8", ">=8"), False),
        ({**NUMBERS, "hierarchy": {"kind": "binary", "split": "median", "min_width": 2}},
         ("<6", ">=6"), True),
        ({"hierarchy": {"kind": "prefix", "keep": [1]}}, ("5", "7"), True),
        ({"type": "date", "domain": ["2001-01-01", "2002-01-01"],
          "hierarchy": {"kind": "date", "levels": ["year"]}}, ("<=2001", ">=2002"), False),
    ],
)  # fmt: skip
def test_every_kind_is_built(column, leaves, learnt):
    made = build_hierarchy(
        policy(**column), "q", pa.array(["5", "7"]), HeldCells(np.array([0, 1]), np.array([4, 4]))
    )
    assert made.taxonomy.leaves == leaves
    assert made.learnt == learnt == needs_rows(policy(**column).attributes["q"])


def test_dates_without_a_domain_need_rows():
    column = {"type": "date", "hierarchy": {"kind": "date", "levels": ["year"]}}
    assert needs_rows(policy(**column).attributes["q"])
    made = build_hierarchy(policy(**column), "q", pa.array(["2001-05-05"]))
    assert made.learnt


def test_files_lie_beside_the_policy_and_errors_name_the_column(tmp_path):
    (tmp_path / "q.csv").write_text("a;*\nb;*\n")
    wanted = policy(tmp_path, hierarchy={"file": "q.csv"})
    assert build_hierarchy(wanted, "q").taxonomy.leaves == ("a", "b")
    with pytest.raises(HierarchyInvalid, match="Column 'q'"):
        build_hierarchy(policy(tmp_path, hierarchy={"file": "none.csv"}), "q")
