import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import shoal
from shoal import KAnonymity, TopDownSpecialization
from shoal.anonymize import OutputSettings, Policy, SearchSettings, recount, run_policy
from shoal.anonymize._policy import Output, Privacy, Search
from shoal.domain import Taxonomy
from shoal.errors import InvalidPolicy, InvalidSetting, StartFails

AGES = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
SEX = Taxonomy.nested("*", ["F", "M"])


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 70, n), "sex": rng.choice(["F", "M"], n),
        "visits": rng.integers(0, 5, n),
    })  # fmt: skip


def model(recoding="global", **how):
    given = {"k": 5, "hierarchies": {"age": AGES, "sex": SEX}, "other": ["visits"]}
    settings = SearchSettings(restarts=2, recoding=recoding)
    return TopDownSpecialization(**{**given, "search": settings, **how})


@pytest.mark.heavy
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_what_comes_out_is_shared_by_k(recoding):
    fitted = model(recoding=recoding)
    released = fitted.fit_transform(people())
    assert released.groupby(["age", "sex"]).size().min() >= 5
    assert fitted.guarantee_ == KAnonymity(5)
    assert fitted.metrics_.suppressed == 300 - len(released)


@pytest.mark.heavy
def test_frames_come_back_as_the_kind_that_came(tmp_path):
    frame = people()
    assert isinstance(model().fit_transform(frame), pd.DataFrame)
    assert isinstance(model().fit_transform(pl.from_pandas(frame)), pl.DataFrame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    assert isinstance(model().fit_transform(table), pa.Table)
    pq.write_table(table, tmp_path / "t.parquet")
    assert isinstance(model().fit_transform(str(tmp_path / "t.parquet")), pa.Table)
    assert isinstance(model().fit_transform(duckdb.from_arrow(table)), pa.Table)


@pytest.mark.heavy
def test_the_index_stays_behind():
    frame = people().set_index(pd.Index([f"name {i}" for i in range(300)]))
    released = model().fit_transform(frame)
    assert list(released.index) == list(range(len(released)))


@pytest.mark.heavy
def test_new_rows_are_published_under_the_same_cut():
    fitted = model(suppression=0.3).fit(people())
    again = fitted.transform(people(seed=2))
    assert again.groupby(["age", "sex"]).size().min() >= 5
    assert set(again["age"]) <= set(fitted.cut_["age"])
    assert set(again["sex"]) <= set(fitted.cut_["sex"])
    with pytest.raises(StartFails):
        fitted.transform(people(10))


@pytest.mark.heavy
def test_fit_then_transform_is_fit_transform():
    fitted = model()
    both = fitted.fit_transform(people()).value_counts().sort_index()
    after = model().fit(people()).transform(people()).value_counts().sort_index()
    assert both.equals(after)


@pytest.mark.heavy
def test_local_recoding_has_no_cut_to_keep():
    fitted = model(recoding="local").fit(people())
    assert fitted.cut_ is None
    with pytest.raises(InvalidSetting, match="fit_transform"):
        fitted.transform(people())
    with pytest.raises(InvalidSetting, match="not fitted"):
        model().transform(people())


@pytest.mark.heavy
def test_nothing_fitted_has_a_row_per_person():
    fitted = model().fit(people())
    kept = {name for name in vars(fitted) if name.endswith("_")}
    assert kept == {"policy_", "cut_", "metrics_", "guarantee_"}


@pytest.mark.heavy
def test_it_is_cloned_and_seeded():
    first, second = model(random_state=3).fit(people()), clone(model(random_state=3)).fit(people())
    assert first.cut_ == second.cut_


def test_settings_of_a_group_are_set_one_by_one():
    one, other = model(), model()
    one.set_params(search__recoding="local", output__nulls="suppress", k=4)
    assert one.get_params()["search__recoding"] == "local"
    assert clone(one).to_policy().search.recoding == "local"
    assert clone(one).to_policy().privacy.nulls == "suppress"
    assert other.search.recoding == TopDownSpecialization().search.recoding == "global"
    one.set_params(search=SearchSettings(), search__restarts=0)
    assert (one.search.recoding, one.search.restarts) == ("global", 0)
    for wrong in ({"search__depth": 1}, {"nothing__x": 1}, {"nothing": 1}):
        with pytest.raises(ValueError, match=r"Settings|group|Invalid"):
            one.set_params(**wrong)
    with pytest.raises(InvalidSetting, match="SearchSettings"):
        model(search={"score": "ncp"}).fit(people())


@pytest.mark.heavy
def test_a_grid_of_settings_is_searched():
    grid = ParameterGrid({"search__score": ["sq", "ncp"], "output__intervals": ["label", "bounds"]})
    columns = [clone(model()).set_params(**one).fit_transform(people()).shape[1] for one in grid]
    assert columns == [3, 3, 4, 4]


def test_every_setting_has_its_place_in_the_policy():
    output = {"nulls": "as_root", "suppressed": "star", "intervals": "bounds"}
    search = {"score": "label-gain", "objective": "dm", "recoding": "local", "local": "peel",
              "loss_unit": "k", "target": "visits", "restarts": 3}  # fmt: skip
    asked = model(
        search=SearchSettings(**search), output=OutputSettings(**output), suppression=0.1,
        random_state=7,
    ).to_policy()  # fmt: skip
    assert asked.search.model_dump() == {**search, "seed": 7}
    assert asked.output.model_dump(include={"suppressed", "intervals"}) == {
        name: output[name] for name in ("suppressed", "intervals")
    }
    assert asked.privacy.model_dump(exclude_none=True) | {"person": None} == {
        "k": 5, "suppression": 0.1, "person": None, "nulls": "as_root"
    }  # fmt: skip
    assert TopDownSpecialization(policy=asked).to_policy() == asked
    assert Policy.of(asked.model_dump(mode="json", exclude_unset=True)) == asked


def test_settings_have_the_defaults_of_a_policy():
    assert model().search.get_params().keys() | {"seed"} == set(Search.model_fields)
    for name, value in SearchSettings().get_params().items():
        assert Search.model_fields[name].default == value
    for name, value in OutputSettings().get_params().items():
        part = Privacy if name == "nulls" else Output
        assert part.model_fields[name].default == value


CONTENT = {
    "version": 1, "privacy": {"k": 5},
    "attributes": {
        "age": {"role": "quasi", **AGES},
        "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
        "visits": {"role": "sensitive", "l": {"value": 2}, "t": {"value": 0.5}},
    },
}  # fmt: skip


@pytest.mark.heavy
def test_a_policy_says_it_all():
    policy = shoal.Policy.of(CONTENT)
    fitted = TopDownSpecialization(policy=policy).fit(people())
    assert fitted.guarantee_ == KAnonymity(5, l=2, t=0.5)
    with pytest.raises(InvalidSetting, match="Both a policy and k"):
        TopDownSpecialization(k=6, policy=policy).fit(people())


@pytest.mark.heavy
def test_a_policy_may_come_as_its_content_or_by_the_path_of_its_file(tmp_path, monkeypatch):
    content = {**CONTENT, "output": {"path": "out.csv"}}
    (tmp_path / "policy.yaml").write_text(json.dumps(content))
    cut = TopDownSpecialization(policy=CONTENT).fit(people()).cut_
    assert recount(people(), CONTENT).rows == 300
    monkeypatch.chdir(tmp_path)
    assert run_policy(content, people()).paths.table.resolve() == tmp_path / "out.csv"
    for path in (tmp_path / "policy.yaml", str(tmp_path / "policy.yaml")):
        assert TopDownSpecialization(policy=path).fit(people()).cut_ == cut
        assert recount(people(), path).rows == 300
        finished = run_policy(path, people(), overwrite=True)
        assert finished.paths.table.parent == tmp_path
    with pytest.raises(InvalidPolicy, match="not a mapping"):
        TopDownSpecialization(policy=5).fit(people())


def test_what_is_missing_or_said_twice_is_told():
    with pytest.raises(InvalidPolicy, match="no default"):
        TopDownSpecialization().fit(people())
    with pytest.raises(InvalidPolicy, check=lambda error: error.reason == "unlisted column"):
        model(other=[]).fit(people())
    with pytest.raises(InvalidPolicy, match="two roles"):
        model(other=["visits", "age"]).fit(people())
    with pytest.raises(InvalidSetting, match=r"privacy\.k"):
        model(k=1).fit(people())


@pytest.mark.heavy
def test_a_taxonomy_comes_through_as_it_is(tmp_path):
    tree = Taxonomy.nested("any", {"5-9": ["1", "2"], "x": {"y": ["a", "b"], "z": ["c", "d"]}})
    table = {"q": ["1", "2", "a", "b", "c", "d"] * 5}
    fitted = TopDownSpecialization(k=5, hierarchies={"q": tree}).fit(table)
    assert fitted.cut_ == {"q": ["1", "2", "a", "b", "c", "d"]}
    path = tmp_path / "q.csv"
    path.write_text("".join(f"{x};*\n" for x in "12abcd"))
    assert TopDownSpecialization(k=6, hierarchies={"q": path}).fit(table).cut_ == {"q": ["*"]}
