"""Local recoding keeps its promise on any table, as counted from the definitions."""

from collections import defaultdict
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.anonymize.local_recoding import _recoding as recoding
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._recoding import recode
from shoal.anonymize.search._top_down import specialise
from shoal.anonymize.search_problem import Closeness, Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy
from shoal.errors import InvalidSetting, NotKAnonymous, StartFails, TooFewRows

HOWS = ["auto", "cheapest-cell", "roll-up", "peel"]
ILLNESSES = Taxonomy.nested("any", {"chest": ["asthma", "flu"], "skin": ["rash"]})
SLOWLY = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def taxonomies(draw):
    """Leaves below one or two levels of nodes, some right below the root."""
    groups = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    below = {f"group {g}": [f"leaf {g}.{i}" for i in range(n)] for g, n in enumerate(groups)}
    return Taxonomy.nested("*", [{"most": [below]}, "alone"] if draw(st.booleans()) else below)


@st.composite
def starts(draw, trees):
    """The root or its children, for each QID."""
    nodes = []
    for tree in trees:
        children = tuple(i for i, node in enumerate(tree.nodes) if node.parent == 0)
        nodes.append(children if children and draw(st.booleans()) else (0,))
    return Cut(tuple(nodes))


@st.composite
def rules(draw):
    kinds = st.sampled_from(["distinct", "entropy", "recursive"])
    diversity = draw(st.none() | st.builds(Diversity, kinds, st.just(2), st.just(2.0)))
    kinds = st.sampled_from(["equal", "ordered", "hierarchical"])
    return diversity, draw(
        st.none() | st.builds(Closeness, kinds, st.sampled_from([0.2, 0.4, 0.6]))
    )


@st.composite
def tables(draw, people=True, below=False):
    """A small problem; with ``people`` rows belong to some and carry a sensitive value.

    Rows come from a drawn seed: drawn one by one they would mostly be equal.
    """
    trees = draw(st.lists(taxonomies(), min_size=1, max_size=3))
    size, rng = draw(st.integers(3, 60)), np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.stack([rng.integers(0, tree.size, size) for tree in trees], axis=1)
    asked = {"k": draw(st.integers(2, 4)), "suppression": draw(st.sampled_from([0, 0.1, 0.3]))}
    asked["start"] = draw(starts(trees)) if below else None
    if people:
        values = rng.integers(-1, 3, size).astype(np.int32)
        asked["sensitive"] = (SensitiveColumn("ill", values, 3, *draw(rules()), ILLNESSES),)
        if draw(st.booleans()):
            asked["people"] = rng.integers(0, max(size // draw(st.integers(1, 3)), 1), size)
    return problem_of({f"q{i}": tree for i, tree in enumerate(trees)}, codes, **asked)


def classes_of(problem, outcome):
    classes = defaultdict(list)
    for line, labels in enumerate(outcome.labels.tolist()):
        if not outcome.suppressed[line]:
            classes[tuple(labels)].append(line)
    return classes


def people_in(problem, lines):
    if problem.people is None:
        return int(problem.n[lines].sum())
    return len(set(problem.people[lines].tolist()))


def counts_in(problem, column, lines):
    """How often each value occurs, null as None; a person counts once a value."""
    pairs = defaultdict(int)
    for line in lines:
        code = int(column.codes[line])
        who = line if problem.people is None else int(problem.people[line])
        pairs[who, None if code < 0 else code] += int(problem.n[line])
    counts = defaultdict(int)
    for (_, value), n in pairs.items():
        counts[value] += n if problem.people is None else 1
    return counts


def is_diverse(rule, counts):
    values = sorted((n for value, n in counts.items() if value is not None), reverse=True)
    if rule.kind == "distinct":
        return len(values) >= rule.value
    if rule.kind == "entropy":
        entropy = -sum(n / sum(values) * log(n / sum(values)) for n in values)
        return bool(values) and entropy >= log(rule.value) - 1e-9
    return bool(values) and values[0] < rule.c * sum(values[int(rule.value) - 1 :])


def distance(rule, counts, table):
    """The earth mover's distance as the linear programme it is."""
    values = sorted(table, key=lambda value: 99 if value is None else value)
    costs = [apart(rule, a, b, values) for a in values for b in values]
    m, total, whole = len(values), sum(counts.values()), sum(table.values())
    rows = [[i // m == a for i in range(m * m)] for a in range(m)]
    columns = [[i % m == a for i in range(m * m)] for a in range(m)]
    shares = [counts.get(v, 0) / total for v in values] + [table[v] / whole for v in values]
    return linprog(costs, A_eq=np.array(rows + columns, dtype=float), b_eq=shares).fun


def apart(rule, a, b, values):
    if a == b:
        return 0
    if rule.kind == "equal":
        return 1
    if rule.kind == "ordered":
        return abs(values.index(a) - values.index(b)) / max(len(values) - 1, 1)
    return 1 / 2 if {a, b} == {0, 1} else 1  # asthma and flu meet below the root


def assert_promise(problem, outcome):
    classes = classes_of(problem, outcome)
    published = [line for lines in classes.values() for line in lines]
    assert classes
    for lines in classes.values():
        assert people_in(problem, lines) >= problem.k
    for column in problem.sensitive:
        table = counts_in(problem, column, published)
        for lines in classes.values():
            counts = counts_in(problem, column, lines)
            assert column.l is None or is_diverse(column.l, counts)
            assert column.t is None or distance(column.t, counts, table) <= column.t.value + 1e-6
    assert_rows_are_accounted_for(problem, outcome)
    assert_labels_cover(problem, outcome)


def assert_rows_are_accounted_for(problem, outcome):
    suppressed = int(problem.n[outcome.suppressed].sum())
    assert outcome.metrics.suppressed == suppressed + problem.lost
    assert suppressed <= problem.budget


def assert_labels_cover(problem, outcome):
    for q, taxonomy in enumerate(problem.taxonomies):
        tops = [taxonomy.nodes[place] for place in problem.top.nodes[q]]
        for line in np.flatnonzero(~outcome.suppressed):
            node, code = taxonomy.nodes[outcome.labels[line, q]], problem.codes[line, q]
            assert node.low <= code < node.high
            assert any(top.low <= node.low and node.high <= top.high for top in tops)


def whole_table_passes(problem):
    lines = list(range(len(problem.n)))
    if people_in(problem, lines) < problem.k or problem.top != Cut.top(problem.d):
        return False
    counts = [(column, counts_in(problem, column, lines)) for column in problem.sensitive]
    return all(column.l is None or is_diverse(column.l, found) for column, found in counts)


def recoded(problem, how="auto", seed=1):
    """The outcome, or None where even the whole table as one class would not do."""
    try:
        return recode(problem, np.random.default_rng(seed), how)
    except (TooFewRows, StartFails):
        assert not whole_table_passes(problem)
        return None


@pytest.mark.heavy
@pytest.mark.parametrize("how", HOWS)
@SLOWLY
@given(problem=tables(people=False))
def test_every_class_has_k_rows_whatever_the_table(how, problem):
    outcome = recoded(problem, how)
    assert outcome is None or assert_promise(problem, outcome) is None


@pytest.mark.heavy
@pytest.mark.parametrize("how", HOWS)
@SLOWLY
@given(problem=tables(people=True))
def test_k_l_and_t_hold_with_people_of_several_rows(how, problem):
    outcome = recoded(problem, how)
    assert outcome is None or assert_promise(problem, outcome) is None


@pytest.mark.heavy
@SLOWLY
@given(problem=tables(people=True, below=True))
def test_nothing_is_published_above_the_most_general_labels_allowed(problem):
    outcome = recoded(problem)
    assert outcome is None or assert_promise(problem, outcome) is None


@pytest.mark.heavy
@SLOWLY
@given(problem=tables(people=True), order=st.randoms(use_true_random=False))
def test_shuffled_lines_get_the_same_labels(problem, order):
    outcome = recoded(problem)
    if outcome is None:
        return
    mixed = list(range(len(problem.n)))
    order.shuffle(mixed)
    again = recoded(shuffled(problem, mixed))
    assert again.suppressed.tolist() == outcome.suppressed[mixed].tolist()
    live = ~again.suppressed
    assert again.labels[live].tolist() == outcome.labels[mixed][live].tolist()


def shuffled(problem, order):
    sensitive = tuple(replace(c, codes=c.codes[order]) for c in problem.sensitive)
    people = None if problem.people is None else problem.people[order]
    codes, n = problem.codes[order], problem.n[order]
    return replace(problem, codes=codes, n=n, sensitive=sensitive, people=people)


@pytest.mark.heavy
@SLOWLY
@given(problem=tables(people=True))
def test_lines_with_equal_qids_get_equal_labels(problem):
    outcome = recoded(problem)
    if outcome is not None:
        seen = {}
        for codes, labels in zip(problem.codes.tolist(), outcome.labels.tolist(), strict=True):
            assert seen.setdefault(tuple(codes), labels) == labels


def ages(n, k, **asked):
    decades = {f"{10 * t}s": [str(10 * t + i) for i in range(10)] for t in range(8)}
    tree = Taxonomy.nested("*", decades)
    codes = np.random.default_rng(3).integers(0, 80, (n, 2))
    return problem_of({"his": tree, "hers": tree}, codes, k=k, **asked)


def test_the_same_seed_gives_the_same_labels():
    problem = ages(500, 5)
    one, two = recoded(problem, seed=7), recoded(problem, seed=7)
    assert one.labels.tolist() == two.labels.tolist()
    assert one.metrics == two.metrics


def test_auto_loses_no_more_than_each_way_alone():
    problem = ages(500, 5)
    alone = [recoded(problem, how).metrics.ncp for how in ("roll-up", "peel")]
    outcome = recoded(problem)
    assert outcome.metrics.ncp <= min(alone)
    assert outcome.compared > 3


def test_a_person_with_many_rows_is_one_person():
    codes = np.repeat([[0, 0], [1, 1], [50, 50]], [9, 1, 1], axis=0)
    tree = ages(2, 2).taxonomies[0]
    who = np.array([0] * 9 + [1, 2])
    problem = problem_of({"his": tree, "hers": tree}, codes, k=3, people=who)
    assert recoded(problem).metrics.classes == 1


def test_rows_lost_before_the_search_count_as_suppressed():
    problem = replace(ages(100, 3), lost=5, suppression=0.1)
    assert recoded(problem).metrics.suppressed >= 5


def test_progress_is_told_what_is_done_and_how_far():
    heard = []
    recode(ages(100, 3), np.random.default_rng(1), progress=lambda *news: heard.append(news))
    assert {what for what, _ in heard} >= {"peel", "roll-up", "cheapest-cell, steps"}
    assert all(0 <= share <= 1 for _, share in heard)


def test_an_unknown_way_is_refused():
    with pytest.raises(InvalidSetting, match="got 'best'"):
        recode(ages(50, 2), np.random.default_rng(1), "best")


@pytest.mark.parametrize("rows", [0, 4])
def test_fewer_people_than_k_are_refused(rows):
    with pytest.raises(TooFewRows, match="k = 5", check=lambda error: error.reason == "people"):
        recode(ages(rows, 5), np.random.default_rng(1))


def test_rows_that_fit_nowhere_are_refused_when_they_may_not_be_suppressed():
    tree = Taxonomy.nested("*", {"a": ["1", "2"], "b": ["3", "4"]})
    codes, below = [[0], [1], [2]], Cut(((1, 4),))
    problem = problem_of({"q": tree}, codes, k=2, start=below)
    with pytest.raises(StartFails, match="1 row fits into no class"):
        recode(problem, np.random.default_rng(1))
    outcome = recode(replace(problem, suppression=0.4), np.random.default_rng(1))
    assert outcome.suppressed.tolist() == [False, False, True]


def test_an_improvement_that_breaks_a_class_reaches_no_table(monkeypatch):
    def broken(grouping):
        classes = grouping.classes.copy()
        classes[0] = grouping.size
        return Grouping(grouping.units, classes)

    monkeypatch.setattr(recoding, "improve_grouping", broken)
    with pytest.raises(NotKAnonymous, match="classes would not meet k, l or t"):
        recode(ages(300, 5), np.random.default_rng(1))


@pytest.mark.heavy
def test_made_adults_lose_no_more_than_was_measured_and_less_than_globally(made_adult):
    problem = made_adult(k=10)
    outcome = recode(problem, np.random.default_rng(1))
    assert outcome.metrics.ncp <= 0.099 < specialise(problem).metrics.ncp
    assert outcome.metrics.smallest >= 10
    assert outcome.metrics.suppressed == 0


@pytest.mark.heavy
def test_adult_loses_no_more_than_the_figure_to_reach(adult):
    outcome = recode(adult(k=10), np.random.default_rng(1))
    assert outcome.metrics.ncp <= 0.081
    assert outcome.metrics.smallest >= 10
    assert outcome.metrics.suppressed == 0


@pytest.mark.slow
def test_adult_at_k_5_loses_no_more_than_its_figure(adult):
    assert recode(adult(k=5), np.random.default_rng(1)).metrics.ncp <= 0.055


@pytest.mark.slow
def test_adult_with_rules_on_occupation(adult):
    everything = adult(k=10, sensitive=())
    codes = everything.codes[:, 7].copy()
    column = SensitiveColumn("job", codes, 14, Diversity("distinct", 5), Closeness("equal", 0.5))
    without = [q for q in range(9) if q != 7]
    problem = replace(
        everything,
        names=tuple(everything.names[q] for q in without),
        taxonomies=tuple(everything.taxonomies[q] for q in without),
        costs=tuple(everything.costs[q] for q in without),
        weights=(1.0,) * 8,
        codes=np.ascontiguousarray(everything.codes[:, without]),
        sensitive=(column,),
    )
    outcome = recode(problem, np.random.default_rng(1))
    assert_labels_cover(problem, outcome)
    for lines in classes_of(problem, outcome).values():
        assert len(set(codes[lines].tolist())) >= 5
    assert outcome.metrics.smallest >= 10
