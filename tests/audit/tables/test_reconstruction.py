import json

import numpy as np
import pytest

from shoal.anonymize import TopDownSpecialization
from shoal.audit import reconstruction
from shoal.privacy import Protected

TOWN = {"hierarchy": {"tree": {"*": {"north": ["a", "b"], "south": ["c", "d"]}}}}
SEX = {"hierarchy": {"tree": {"*": ["f", "m"]}}}


def audit(raw, k):
    model = TopDownSpecialization(
        k=k, hierarchies={"town": TOWN, "sex": SEX}, other=["x"], suppression=0
    )
    raw = raw | {"x": [0] * len(raw["town"])}
    return reconstruction(model.fit_transform(raw), raw, policy=model.policy_)


def test_values_that_are_published_as_they_are_are_known():
    raw = {"town": list("aabbccdd") * 2, "sex": ["f", "m"] * 8}
    found = audit(raw, 2)
    assert found.with_labels == found.evenly == {"town": 1, "sex": 1}
    assert found.whole == 1


def test_below_a_label_the_likeliest_value_is_guessed():
    raw = {"town": list("aaabcccd"), "sex": ["f"] * 8}
    found = audit(raw, 4)
    assert found.with_labels["town"] == 6 / 8
    assert found.evenly["town"] == 0.5
    assert found.without["town"] == 3 / 8


def test_all_columns_together_are_guessed_less_often():
    rng = np.random.default_rng(0)
    raw = {"town": rng.choice(list("abcd"), 200).tolist(), "sex": rng.choice(["f", "m"], 200)}
    raw["sex"] = raw["sex"].tolist()
    found = audit(raw, 60)
    assert found.whole <= min(found.with_labels.values())
    assert all(found.with_labels[n] >= found.without[n] - 1e-12 for n in ("town", "sex"))


def test_it_becomes_json_a_picture_a_page_and_words():
    found = audit({"town": list("aaabcccd"), "sex": ["f"] * 8}, 4)
    assert json.loads(json.dumps(found.to_dict()))["people"] == 8
    assert "75.0% guessed from its label" in str(found)
    assert float(found) == found.whole == pytest.approx(0.75)
    shares = dict(zip(*(found.plot().data[key] for key in ("names", "shares")), strict=True))
    assert shares["town, by label"] == 0.75
    assert "sex, without" in found.plot().svg()
    assert isinstance(found.to_result().protected["whole"], Protected)
