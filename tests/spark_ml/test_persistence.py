import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.anonymize import TopDownSpecialization
from shoal.anonymize._policy import policy_of
from shoal.cluster.wave import Persistence, PrivTHR
from shoal.domain import Box
from shoal.errors import InvalidSetting, NewPeopleNotStated, UnreadableModel
from shoal.mechanisms import bayes_remap, clamp, snap
from shoal.privacy import Ledger
from shoal.spark_ml._persistence import from_json, load_cut, save_cut, to_json
from shoal.synopsis import UniformGrid

BOX = Box(x=(0, 1), y=(0, 1))
AGES = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
ROWS = pa.table({"age": [21, 22, 23, 64, 65, 66] * 20})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("domain", BOX),
        ("domain", Box.geo(latitude=(40, 41), longitude=(2, 3))),
        ("mechanism", shoal.NDLaplace("0.5", domain=BOX)),
        ("remap", clamp(BOX)),
        ("remap", snap(BOX, 5)),
        ("remap", bayes_remap("em", loss="euclidean")),
        ("ledger", "rows.ledger"),
        ("epsilon", "0.1"),
        ("method", "lloyd"),
        ("variant", PrivTHR(0.5, noise="geometric")),
        ("selector", "mass"),
        ("selector", Persistence(2)),
        ("domain", shoal.Schema.of_box(BOX, person="who", max_rows_per_person=2)),
        ("privacy", shoal.ApproxDP(1, 1e-8, neighbours="replace-one")),
        ("privacy", None),
        ("n_clusters", np.int64(3)),
    ],
)
def test_a_setting_comes_back_from_json(name, value):
    assert from_json(name, json.loads(json.dumps(to_json(name, value)))) == value


def test_a_public_prior_comes_back_from_json():
    kept = to_json("remap", bayes_remap(([[0.1, 0.2], [0.5, 0.25]], [1, 3])))
    prior = from_json("remap", json.loads(json.dumps(kept))).prior
    assert prior.atoms.tolist() == [[0.1, 0.2], [0.5, 0.25]]
    assert prior.weights.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(("name", "value"), [("ledger", Ledger()), ("random_state", object())])
def test_what_could_not_come_back_is_refused(name, value):
    with pytest.raises(InvalidSetting, match="cannot be saved"):
        to_json(name, value)


def test_a_cut_is_kept_with_its_policy(tmp_path):
    model = TopDownSpecialization(k=3, hierarchies={"age": AGES}).fit(ROWS)
    save_cut(model, tmp_path)
    again = load_cut(tmp_path)
    assert (again.cut_, again.metrics_) == (model.cut_, model.metrics_)
    assert again.guarantee_ == model.guarantee_
    with pytest.raises(NewPeopleNotStated):  # what was released under it meanwhile is not known
        again.transform(ROWS)
    assert again.transform(ROWS, new_people=True).num_rows == 120
    (tmp_path / "cut.json").write_text("{}")
    with pytest.raises(UnreadableModel, match="checksum"):
        load_cut(tmp_path)
    with pytest.raises(UnreadableModel, match="not hold a cut"):
        load_cut(tmp_path / "nowhere")


def test_policies_may_be_named_by_their_files():
    policy = TopDownSpecialization(k=3, hierarchies={"age": AGES}).to_policy()
    assert policy_of(policy) is policy
    assert policy_of(to_json("policy", policy)["content"]).privacy.k == 3


def test_a_synopsis_that_is_the_method_comes_back_from_json():
    method = UniformGrid(cells=(4, 5), negative="zero")
    again = from_json("method", json.loads(json.dumps(to_json("method", method))))
    assert isinstance(again, UniformGrid)
    assert (list(again.cells), again.negative) == ([4, 5], "zero")
