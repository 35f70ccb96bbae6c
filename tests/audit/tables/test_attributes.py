import json

import numpy as np
import pytest

from shoal.anonymize import TopDownSpecialization
from shoal.audit import attribute_inference
from shoal.errors import TooFewRows, UnknownColumn
from shoal.privacy import Protected

RNG = np.random.default_rng(0)
N = 400
AGES = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 25}}


def audit(raw, k=5, **more):
    model = TopDownSpecialization(k=k, hierarchies={"age": AGES}, sensitive=["ill"], **more)
    released = model.fit_transform(raw)
    return attribute_inference(released, raw, "ill", policy=model.policy_)


def table(ill):
    return {"age": RNG.integers(0, 100, N).tolist(), "ill": ill}


def test_a_value_that_goes_with_age_is_found_but_others_rows_tell_it_too():
    raw = table([])
    raw["ill"] = ["yes" if age < 25 else "no" for age in raw["age"]]
    found = audit(raw)
    assert found.accuracy == found.homogeneous == found.sure == 1
    assert found.overall == pytest.approx(raw["ill"].count("no") / N)
    assert found.others > 0.95  # nothing the table adds
    assert abs(found.added) < 0.05


def test_a_value_that_goes_with_nothing_is_hardly_guessed_better_than_by_the_most_common():
    found = audit(table(RNG.choice(["yes", "no", "maybe"], N).tolist()))
    assert found.overall <= found.accuracy < found.overall + 0.1
    assert found.homogeneous == 0
    assert found.wrong_when_sure == 0


def test_the_guess_is_the_most_common_value_of_the_class():
    raw = {"age": [10] * 6 + [60] * 6, "ill": list("aaabbcbbbbba")}
    found = audit(raw)
    assert found.accuracy == (3 + 5) / 12
    assert found.overall == 7 / 12
    assert found.classes == 2


def test_who_is_not_published_is_guessed_by_the_whole_table():
    raw = {"age": [10] * 10 + [60], "ill": ["a"] * 6 + ["b"] * 4 + ["b"]}
    found = audit(raw, suppression=0.2)
    assert found.classes == 1
    assert found.accuracy == 6 / 11


def test_it_becomes_json_a_picture_a_page_and_words():
    found = audit(table(RNG.choice(["yes", "no"], N).tolist()))
    assert json.loads(json.dumps(found.to_dict()))["added"] == float(found)
    assert "the table adds" in str(found)
    picture = found.plot()
    assert picture.data["shares"][0] == round(found.accuracy, 6)
    assert "from the table" in picture.svg()
    assert isinstance(found.to_result().protected["accuracy"], Protected)
    assert "accuracy" not in found.to_result().settings


def test_what_is_known_need_not_be_guessed():
    raw = table(["a"] * N)
    model = TopDownSpecialization(k=5, hierarchies={"age": AGES}, sensitive=["ill"])
    released = model.fit_transform(raw)
    with pytest.raises(UnknownColumn):
        attribute_inference(released, raw, "age", policy=model.policy_)
    with pytest.raises(TooFewRows):
        attribute_inference(released, raw | {"ill": [None] * N}, "ill", policy=model.policy_)
