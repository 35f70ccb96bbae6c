import json
from functools import cache

import numpy as np
import pytest

from shoal.anonymize import SearchSettings, TopDownSpecialization
from shoal.audit import linkage
from shoal.audit.tables._linkage import Links
from shoal.privacy import Protected

RNG = np.random.default_rng(0)
N = 400
AGES = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "binary"}}
TOWN = {"hierarchy": {"tree": {"*": {"north": ["a", "b"], "south": ["c", "d"]}}}}
RAW = {
    "age": RNG.integers(0, 100, N).tolist(),
    "town": RNG.choice(list("abcd"), N).tolist(),
    "visits": RNG.integers(0, 9, N).tolist(),
}
FILE = {"name": [f"p{i}" for i in range(100)]} | {n: RAW[n][:100] for n in ("age", "town")}


@cache
def released(k, recoding="global"):
    model = TopDownSpecialization(
        k=k, hierarchies={"age": AGES, "town": TOWN}, other=["visits"],
        suppression=0.1, search=SearchSettings(recoding=recoding),
    )  # fmt: skip
    return model.fit_transform(RAW), model.policy_


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_k_people_share_every_link_into_the_released_table(recoding):
    table, policy = released(5, recoding)
    found = linkage(table, FILE, raw=RAW, policy=policy)
    assert found.released.unique == 0
    assert found.released.expected <= found.released.matched / 5
    assert min(size for size, _ in found.released.sizes) >= 5


def test_the_raw_table_is_linked_as_equality_has_it():
    table, policy = released(5)
    found = linkage(table, FILE, raw=RAW, policy=policy)
    keys = list(zip(RAW["age"], RAW["town"], strict=True))
    fitting = [keys.count(key) for key in keys[:100]]
    assert found.raw.matched == 100
    assert found.raw.unique == fitting.count(1)
    assert found.raw.expected == pytest.approx(sum(1 / n for n in fitting))
    assert found.raw.expected > 5 * found.released.expected


def test_people_who_are_not_in_the_table_may_fit_it_all_the_same():
    table, policy = released(5)
    strangers = {"age": [41], "town": ["a"]}
    found = linkage(table, strangers, raw=RAW, policy=policy)
    assert found.released.people == 1
    assert found.released.matched in (0, 1)


def test_nobody_in_the_file_is_nobody_linked():
    found = Links.of(np.zeros(0, dtype=int))
    assert (found.people, found.expected, found.sizes) == (0, 0, ())


def test_it_becomes_json_a_picture_a_page_and_words():
    table, policy = released(5)
    found = linkage(table, FILE, raw=RAW, policy=policy)
    assert json.loads(json.dumps(found.to_dict()))["k"] == 5
    assert "No class is smaller than k = 5" in found.plot().alt
    shares = found.plot("raw").data["shares"]
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert "0 exactly one" in str(found)
    assert float(found) == found.released.expected / 100
    assert all(isinstance(leaf, Protected) for leaf in found.to_result().protected.values())


def test_a_missing_value_fits_every_record_of_the_raw_table_too():
    table, policy = released(5)
    file = {"age": [None, RAW["age"][0]], "town": ["a", None]}
    found = linkage(table, file, raw=RAW, policy=policy)
    fitting = [RAW["town"].count("a"), RAW["age"].count(RAW["age"][0])]
    assert found.raw.sizes == tuple((size, 1) for size in sorted(fitting))
    assert found.raw.expected >= found.released.expected
