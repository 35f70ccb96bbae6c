"""New rows labelled like a released table."""

import numpy as np
import pytest

from shoal.anonymize import LabelFinder, Policy, run_policy
from shoal.errors import InvalidPolicy

TREE = {"*": {"low": {"01": ["0", "1"], "23": ["2", "3"]}, "high": ["4", "5", "6", "7"]}}
COVERS = {"*": set("01234567"), "low": set("0123"), "01": set("01"), "23": set("23"),
          "high": set("4567"), **{leaf: {leaf} for leaf in "01234567"}}  # fmt: skip


def policy(**output):
    quasi = {name: {"role": "quasi", "hierarchy": {"tree": TREE}} for name in "xy"}
    return {
        "version": 1,
        "attributes": {**quasi, "z": {"role": "other"}},
        "privacy": {"k": 3},
        "search": {"recoding": "local"},
        "output": output,
    }


@pytest.mark.heavy
def test_new_rows_get_the_labels_of_the_finest_group_that_covers_them(tmp_path):
    rng = np.random.default_rng(1)
    rows = {name: (rng.beta(1, 2, 60) * 8).astype(int).astype(str).tolist() for name in "xyz"}
    rows["z"] = ["a"] * 60
    path = tmp_path / "out.csv"
    run_policy(policy(path=str(path)), rows)
    groups = {tuple(line.split(",")[:2]) for line in path.read_text().splitlines()[1:]}
    found = LabelFinder(policy(), path).transform({"x": [*"0257"], "y": [*"1643"], "z": [*"abcd"]})

    def loss(labels):
        return sum(len(COVERS[label]) - 1 for label in labels)

    for x, y, *labels in zip(
        "0257", "1643", found["x"].to_pylist(), found["y"].to_pylist(), strict=True
    ):
        covering = [of for of in groups if x in COVERS[of[0]] and y in COVERS[of[1]]]
        best = min(map(loss, covering), default=loss(["*", "*"]))
        assert loss(labels) == best
        assert x in COVERS[labels[0]]
        assert y in COVERS[labels[1]]
    assert found["z"].to_pylist() == [*"abcd"]


def test_rows_that_no_group_covers_are_labelled_by_the_root():
    finder = LabelFinder(policy(), {"x": ["0"] * 3, "y": ["high"] * 3})
    found = finder.transform({"x": ["0", "1", "?"], "y": ["5", "5", "5"]})
    assert found.to_pydict() == {"x": ["0", "*", "*"], "y": ["high", "*", "*"]}


@pytest.mark.parametrize("change", [{"kind": "prefix", "keep": [1]}])
def test_learnt_hierarchies_are_refused(change):
    content = policy()
    content["attributes"]["x"] = {"role": "quasi", "hierarchy": change}
    with pytest.raises(InvalidPolicy, match="declared"):
        LabelFinder(Policy.of(content), {"x": ["1"], "y": ["1"]})
