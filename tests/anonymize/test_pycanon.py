"""A second opinion: pycanon, another library, counts the same k and l in our releases."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import Policy, recount, run_policy

anonymity = pytest.importorskip("pycanon.anonymity", reason="pycanon is not installed")
TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_pycanon_counts_the_same_k_and_l(tmp_path, seed, recoding, kind):
    rng = np.random.default_rng(seed)
    table = pa.table(
        {
            "q": rng.choice(list("aaabbcd"), 90),
            "r": rng.choice(list("abcd"), 90),
            "s": rng.choice(["u", "v", "w"], 90, p=[0.6, 0.3, 0.1]),
        }
    )
    quasi = {"role": "quasi", "hierarchy": {"tree": TREE}}
    policy = Policy.of(
        {
            "version": 1,
            "attributes": {
                "q": quasi,
                "r": quasi,
                "s": {"role": "sensitive", "l": {"kind": kind, "value": 2}},
            },
            "privacy": {"k": 3, "suppression": 0.2},
            "search": {"recoding": recoding, "restarts": 0},
            "output": {"path": "out.parquet"},
        },
        tmp_path,
    )
    run_policy(policy, table)
    achieved = recount(tmp_path / "out.parquet", policy)
    released = pq.read_table(tmp_path / "out.parquet").to_pandas()
    assert achieved.k == anonymity.k_anonymity(released, ["q", "r"])
    if kind == "distinct":
        assert achieved.l["s"] == anonymity.l_diversity(released, ["q", "r"], ["s"])
    else:
        theirs = anonymity.entropy_l_diversity(released, ["q", "r"], ["s"])
        # It cuts to whole numbers, also where floats fall a hair short: two equal halves are 1.
        assert theirs in {int(achieved.l["s"] - 1e-9), int(achieved.l["s"] + 1e-9)}
