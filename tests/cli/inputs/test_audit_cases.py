import numpy as np
import pytest

from shoal.audit import Case, estimators, mechanisms
from shoal.audit.twins import twins
from shoal.cli.inputs._audit_cases import KINDS, GivenPairCase, function_case, named_cases
from shoal.errors import InvalidSetting
from shoal.privacy import LocalDP, MetricDP


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_all_of_it(kind):
    assert named_cases(kind).keys() == KINDS[kind].keys()


@pytest.mark.parametrize("name", ["nd-laplace d=1", "PrivateKMeans, auto", "memo per value"])
def test_a_whole_name_is_that_case_alone(name):
    everything = {**mechanisms, **estimators, **twins}
    assert named_cases(name) == {name: everything[name]}


@pytest.mark.heavy
def test_every_name_finds_its_own_case_alone():
    for cases in KINDS.values():
        for name in cases:
            assert list(named_cases(name)) == [name]


@pytest.mark.parametrize("word", ["nd-laplace", "NDLaplace", "ND Laplace", "nd_laplace"])
def test_first_words_are_all_cases_that_begin_so_however_they_are_spelt(word):
    assert list(named_cases(word)) == [name for name in mechanisms if name.startswith("nd-laplace")]


def test_half_a_word_is_none():
    with pytest.raises(InvalidSetting, match="nothing named"):
        named_cases("nd-lap")


def test_twins_are_meant_only_if_nothing_of_ours_is():
    assert {*named_cases("piecewise")} <= {*mechanisms}
    assert {*named_cases("Piecewise on raw floats")} <= {*twins}
    assert {*named_cases("Gamma")} <= {*twins}


def test_methods_are_named_as_on_the_command_line():
    assert {name.split(",")[0] for name in named_cases("kmeans")} == {"PrivateKMeans"}
    assert {name.split(",")[0] for name in named_cases("wave")} == {"WaveCluster"}


@pytest.mark.heavy
@pytest.mark.parametrize(
    "word", ["nd-laplace", "piecewise", "duchi", "harmony", "priv-unit", "hybrid", "square-wave",
             "staircase", "mixed", "randomized-response", "unary-encoding", "local-grid",
             "geometric", "k-norm"])  # fmt: skip
def test_a_mechanism_is_made_anew_with_another_epsilon(word):
    for name, case in named_cases(word, 0.5).items():
        assert float(case.claim.epsilon) == pytest.approx(0.5, rel=1e-5), name
        assert case.at_least is None
        assert case.run(draws=1_000).verdict == "consistent"


def test_a_claim_that_is_local_stays_local():
    assert isinstance(named_cases("nd-laplace as local d=2", 2.0).popitem()[1].claim, LocalDP)
    assert isinstance(named_cases("nd-laplace d=2", 2.0).popitem()[1].claim, MetricDP)


@pytest.mark.parametrize("word", ["mechanisms", "kmeans", "threshold draw", "memo per value"])
def test_what_is_made_for_one_epsilon_is_not_left_out_in_silence(word):
    with pytest.raises(InvalidSetting, match="have a fixed epsilon"):
        named_cases(word, 2.0)


def test_a_function_of_an_installed_module_will_do():
    case = function_case("numpy:sqrt", "[0, 1]", 1.0, 0.0, made_up=True)
    assert case.mechanism is np.sqrt
    assert (case.pair, case.claim, case.draws) == ((0, 1), 1.0, 20_000)
    assert type(case) is Case


def test_a_part_of_a_part_of_a_module_will_do():
    case = function_case("numpy:linalg.norm", "[0, 1]", None, 0.1, made_up=True)
    assert case.mechanism is np.linalg.norm
    assert (case.claim, case.delta) == (None, 0.1)


def test_inputs_are_kept_only_if_they_are_made_up():
    def coin(x, rng):
        return int(rng.integers(2))

    for kind, kept in ((GivenPairCase, False), (Case, True)):
        found = kind(coin, (123, 456), 1.0).run(draws=1_000)
        assert found.constructed is kept
        assert ("123" in str(found.to_dict())) is kept


def test_a_module_that_fails_says_how_and_quotes_nothing(tmp_path, monkeypatch):
    (tmp_path / "module_that_fails.py").write_text("raise KeyError('secret row')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidSetting, match="KeyError") as raised:
        function_case("module_that_fails:f", "[0, 1]", 1.0, 0.0, made_up=False)
    assert "secret" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_a_function_may_import_its_neighbours_when_it_is_called(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # to be undone with whatever is added
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imports_later.py").write_text(
        "def coin(x, rng):\n    from its_neighbour import draw\n    return draw(rng)\n"
    )
    (tmp_path / "its_neighbour.py").write_text("def draw(rng):\n    return int(rng.integers(2))\n")
    case = function_case("imports_later:coin", "[0, 1]", 1.0, 0.0, made_up=True)
    assert case.run(draws=1_000).verdict == "consistent"


def test_the_name_nearest_to_a_misspelt_one_is_suggested():
    with pytest.raises(InvalidSetting, match="Did you mean 'kmeans'"):
        named_cases("kmens")
