import numpy as np
import pytest

from shoal.audit.loss._replay_families import families
from shoal.audit.loss._twins import twins
from shoal.cli.inputs._replay_cases import ReplayCase, named_replays, python_replay
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.synopsis import UniformGrid

MODULE = "estimators_of_the_test_of_replays"
MINE = """
from shoal import Box, UniformGrid

model = UniformGrid(epsilon=1, domain=Box(x=(0, 1)), cells=4)

def make():
    return model

number = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"{MODULE}.py").write_text(MINE)


def test_a_kind_is_all_of_it_and_first_words_are_all_that_begin_so():
    assert named_replays("estimators").keys() == families.keys()
    assert named_replays("twins").keys() == twins.keys()
    assert list(named_replays("wave")) == [n for n in families if n.startswith("WaveCluster")]
    assert list(named_replays("PrivTree, people")) == ["PrivTree, people"]
    assert list(named_replays("labels kept")) == ["labels kept"]


def test_an_unknown_word_is_refused():
    with pytest.raises(InvalidSetting, match="nd-laplace"):
        named_replays("nd-laplace")


@pytest.mark.parametrize("name", ["model", "make"])
def test_an_estimator_of_one_s_own_is_replayed_on_made_up_tables(name):
    case = python_replay(f"{MODULE}:{name}", None, made_up=False)
    found = case.run(draws=3, random_state=1)
    assert (found.verdict, found.draws, found.constructed) == ("consistent", 3, True)


def test_what_is_no_estimator_is_refused():
    with pytest.raises(InvalidSetting, match="private estimator"):
        python_replay(f"{MODULE}:number", None, made_up=False)


@pytest.mark.parametrize("made_up", [False, True])
def test_a_given_pair_is_replayed_and_not_kept(made_up):
    case = python_replay(f"{MODULE}:model", "[[[0.1]], [[0.1], [0.9]]]", made_up)
    found = case.run(random_state=1)
    assert found.verdict == "consistent"
    assert float(found) == pytest.approx(1)
    assert found.constructed is made_up
    assert "0.9" not in str(found)


@pytest.mark.heavy
def test_a_case_says_how_many_pairs_it_takes():
    case = ReplayCase(UniformGrid(epsilon=1, domain=Box(x=(0, 1))), None, None, draws=2)
    assert case.run().draws == 2
    assert "2 pairs of tables" in str(case.run())
    assert np.isfinite(float(case.run()))
