"""Documents of earlier versions still load.

The person column was called ``entity`` there, and the variant of WaveCluster its ``method``.

A ledger that has the old key is in ``tests/privacy/test_ledger.py``.
"""

import hashlib
import hmac
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import Box, PrivateKMeans, Schema, WaveCluster
from shoal.anonymize import run_policy
from shoal.anonymize._policy import Policy, read_policy
from shoal.anonymize.release._manifest import policy_hash
from shoal.anonymize.release._people_register import Register, read_register, write_register
from shoal.cluster import PrivateKPrototypes, load_model
from shoal.errors import InvalidDomain, InvalidPolicy, ReleasedBefore
from shoal.privacy import KAnonymity, KMap, guarantee_of
from shoal.synopsis import MixedSynopsis, Synopsis, UniformGrid

PEOPLE = Schema.of_box(Box(x=(0, 1)), person="who", max_rows_per_person=2)
ROWS = {"x": np.arange(200) % 10 / 10, "who": np.arange(200)}
SETTINGS = {"epsilon": 4, "domain": PEOPLE, "random_state": 1}


OLD = {"person": "entity", "variant": "method"}


def with_old_key(value):
    """What an earlier version wrote in place of a document."""
    if isinstance(value, dict):
        return {OLD.get(name, name): with_old_key(each) for name, each in value.items()}
    return [with_old_key(each) for each in value] if isinstance(value, list) else value


def age(path):
    """Rewrite a JSON document as an earlier version wrote it."""
    new = json.loads(path.read_text())
    old = with_old_key(new)
    assert old != new
    path.write_text(json.dumps(old, indent=1))


def test_a_schema_with_the_old_key_is_read(tmp_path):
    path = tmp_path / "visits.yaml"
    columns = "version: 1\ncolumns: {x: {low: 0, high: 1}}\n"
    path.write_text(columns + "entity: who\nmax_rows_per_person: 2\n")
    assert Schema.load(path) == PEOPLE


def test_a_schema_with_both_keys_is_refused():
    with pytest.raises(InvalidDomain, match="unknown key"):
        Schema.of(PEOPLE.to_dict() | {"entity": "who"})


def policy(folder, path="out.csv", key="person", **more):
    attributes = {
        "id": {"role": "identifier"},
        "q": {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}},
    }
    privacy = {"k": 5, "suppression": 0.1, key: "id"} | more
    output = {"path": path}
    content = {"version": 1, "attributes": attributes, "privacy": privacy, "output": output}
    return Policy.of(content, folder)


def test_a_policy_with_the_old_key_is_read(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "version: 1\nprivacy: {k: 5, entity: id}\nattributes:\n  id: {role: identifier}\n"
        "  q: {role: quasi, hierarchy: {tree: {'*': [a, b]}}}\n"
    )
    assert read_policy(path).privacy.person == "id"


def test_a_policy_with_both_keys_is_refused():
    with pytest.raises(InvalidPolicy, match="unknown key"):
        policy(".", entity="id")


def test_the_hash_of_a_policy_is_what_it_was():
    expected = "c3ae99ae6af38035abc5c474037d9fd9844280434cb90b0ea744ea8b13381350"
    assert policy_hash(policy(".", key="entity")) == policy_hash(policy(".")) == expected


def visits(first, last):
    return pa.table({"id": [f"p{i}" for i in range(first, last)], "q": ["a", "b"] * 20})


@pytest.mark.parametrize("as_file", [True, False])
def test_a_release_goes_on_from_an_old_manifest_and_its_people(tmp_path, as_file):
    run_policy(policy(tmp_path), visits(0, 40))
    path = tmp_path / "out.manifest.json"
    age(path)
    manifest = str(path) if as_file else json.loads(path.read_text())
    run_policy(policy(tmp_path, "later.csv"), visits(40, 80), manifest=manifest)
    with pytest.raises(ReleasedBefore):
        run_policy(policy(tmp_path, "again.csv"), visits(0, 40), manifest=manifest)


def test_a_register_is_written_and_checked_as_before(tmp_path):
    register, path = Register.new("id").with_people(pa.array(["ada"])), tmp_path / "people"
    write_register(register, path)
    header = json.loads(pq.read_schema(path).metadata[b"shoal"])
    signed = {name: header[name] for name in ("format", "entity", "releases", "complete", "id")}
    check = hmac.new(register.key, json.dumps(signed).encode(), hashlib.sha256)
    check.update(register.fingerprints[0].as_py())
    assert (header["entity"], header["check"]) == ("id", check.hexdigest())
    assert read_register(path).person == "id"


@pytest.mark.parametrize("promise", [KAnonymity(5, person="id", l=2), KMap(5, person="id")])
def test_a_promise_with_the_old_key_is_read(promise):
    assert guarantee_of(with_old_key(promise.to_dict())) == promise


MIXED = {"columns": {"x": {"low": 0, "high": 1}, "sex": {"values": ["F", "M"]}}, "version": 1}
MODELS = {
    "k-means": lambda: PrivateKMeans(2, **SETTINGS).fit(ROWS),
    "wave": lambda: WaveCluster(variant="privqt", cells=16, **SETTINGS).fit(ROWS),
    "prototypes": lambda: PrivateKPrototypes(2, n_synthetic=100, **SETTINGS).fit(ROWS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_a_model_with_the_old_key_is_loaded(tmp_path, name):
    model = MODELS[name]()
    model.save(tmp_path / "model")
    age(tmp_path / "model" / "model.json")
    again = load_model(tmp_path / "model")
    assert (again.domain, again.guarantee_) == (model.domain, model.guarantee_)
    assert np.array_equal(again.predict(ROWS), model.predict(ROWS))


def test_a_synopsis_with_the_old_key_is_loaded(tmp_path):
    synopsis = UniformGrid(**SETTINGS, cells=4).fit(ROWS)
    synopsis.save(tmp_path / "synopsis")
    age(tmp_path / "synopsis" / "synopsis.json")
    assert Synopsis.load(tmp_path / "synopsis").domain == PEOPLE


def test_a_synopsis_of_a_mixed_table_with_the_old_key_is_loaded(tmp_path):
    schema = Schema.of(MIXED | {"person": "who", "max_rows_per_person": 1})
    rows = ROWS | {"sex": ["F", "M"] * 100}
    MixedSynopsis(epsilon=4, domain=schema, random_state=1).fit(rows).save(tmp_path / "synopsis")
    age(tmp_path / "synopsis" / "synopsis.json")
    assert MixedSynopsis.load(tmp_path / "synopsis").domain == schema
