import csv
import json
from contextlib import suppress
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import (
    build_halves,
    build_intervals,
    build_periods,
    build_prefixes,
    hierarchy_from_paths,
    hierarchy_from_tree,
    read_hierarchy,
    write_arx,
)
from shoal.anonymize.hierarchies._files import find_label_problems, raise_findings
from shoal.data import adults_hierarchies
from shoal.errors import AlreadyExists, HierarchyInvalid, ShoalError

words = st.text("abcxyz;,\"' é*-0123456789", min_size=1, max_size=6).map(str.strip).filter(bool)

BUILT = {
    "interval": build_intervals((0, 60), whole=False, width=10, fanout=3),
    "binary": build_halves((0, 15), whole=True, min_width=1),
    "prefix": build_prefixes(pa.array(["70173", "70174", "01219"]), [5, 3, 1]),
    "dates": build_periods(["month", "year"], domain=(date(2001, 1, 1), date(2002, 6, 1))),
}


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_the_three_formats_of_one_tree_agree(tmp_path):
    arx = written(tmp_path, "a.csv", "a;x;*\nb;x;*\nc;y;*\nd;y;*\n")
    nested = written(tmp_path, "a.yaml", "'*': {x: [a, b], y: [c, d]}")
    as_json = written(tmp_path, "a.json", json.dumps({"*": {"x": ["a", "b"], "y": ["c", "d"]}}))
    pairs = written(tmp_path, "p.csv", "child,parent\na,x\nb,x\nc,y\nd,y\nx,*\ny,*\n")
    trees = [
        read_hierarchy(arx).taxonomy,
        read_hierarchy(nested, "nested").taxonomy,
        read_hierarchy(as_json, "nested").taxonomy,
        read_hierarchy(pairs, "child-parent").taxonomy,
    ]
    assert all(tree == trees[0] for tree in trees)


def test_parent_and_leaves_may_be_named(tmp_path):
    named = hierarchy_from_tree(
        {"parent": "*", "leaves": [{"parent": "x", "leaves": ["a", "b"]}, "c"]}
    )
    assert named.taxonomy == hierarchy_from_tree({"*": [{"x": ["a", "b"]}, "c"]}).taxonomy


@pytest.mark.heavy
@given(st.lists(words, min_size=2, max_size=6, unique=True))
def test_what_is_written_as_arx_reads_back(tmp_path_factory, leaves):
    rows = [[leaf, f"{i % 2}:half", "<root>"] for i, leaf in enumerate(leaves)]
    tree = hierarchy_from_paths(sorted(rows, key=lambda row: row[1]), opaque=True)
    path = tmp_path_factory.mktemp("h") / "tree.csv"
    again = read_hierarchy(write_arx(tree, path), opaque=True)
    assert again.taxonomy == tree.taxonomy
    assert (again.levels == tree.levels).all()


@pytest.mark.heavy
@given(st.text(max_size=60))
def test_any_text_reads_or_is_refused_by_name(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("h") / "any"
    path.write_text(content, encoding="utf-8")
    for format in ("arx", "nested", "child-parent"):
        with suppress(ShoalError):
            assert read_hierarchy(path, format).taxonomy.leaves


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a;x;*\nb;*\n", None),
        ("a;*\na;*\n", "duplicate leaf"),
        ("a;x\nb;y\n", None),
        ("a;x;p;*\nb;x;q;*\n", "ambiguous label"),
        ("5;0-4;*\n", "label does not cover"),
        ("", None),
    ],
)
def test_a_broken_arx_file_is_refused(tmp_path, content, reason):
    path = written(tmp_path, "broken.csv", content)
    with pytest.raises(HierarchyInvalid, match=r"broken\.csv") as caught:
        read_hierarchy(path)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\nb,a\n", None),
        ("a,x\na,y\nx,*\ny,*\n", "ambiguous label"),
        ("a,x,y\n", None),
        ("child,parent\n", None),
        ("a,x\nb,y\n", None),
    ],
)
def test_broken_lines_of_child_and_parent_are_refused(tmp_path, content, reason):
    with pytest.raises(HierarchyInvalid) as caught:
        read_hierarchy(written(tmp_path, "broken.csv", content), "child-parent")
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "content", ["{'*': [yes, no]}", "{a: [1], b: [2]}", "'*': [x", "{'*': [a, a]}", "&a ['*', *a]"]
)
def test_a_broken_nested_file_is_refused(tmp_path, content):
    with pytest.raises(HierarchyInvalid):
        read_hierarchy(written(tmp_path, "broken.yaml", content), "nested")


def test_truth_values_are_told_to_be_quoted():
    with pytest.raises(HierarchyInvalid, match="quotes"):
        hierarchy_from_tree({"*": [True, False]})


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(HierarchyInvalid, match="cannot be read"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe;*")
    with pytest.raises(HierarchyInvalid, match="UTF-8"):
        read_hierarchy(tmp_path / "bytes.csv")


def test_contracted_chains_are_reported():
    tree = hierarchy_from_paths([["a", "x", "*"], ["b", "y", "*"], ["c", "y", "*"]])
    assert "1 label merged" in tree.notes[0]
    assert hierarchy_from_paths([["a", "*"], ["b", "*"]]).notes == ()


@pytest.mark.parametrize("column", adults_hierarchies())
def test_hierarchies_of_made_adults_read(tmp_path, column):
    paths = adults_hierarchies()[column]
    (tmp_path / "tree.csv").write_text("".join(";".join(path) + "\n" for path in paths))
    tree = read_hierarchy(tmp_path / "tree.csv")
    assert sorted(tree.taxonomy.leaves) == sorted(path[0] for path in paths)


def test_ages_that_lie_outside_their_label_are_caught(tmp_path):
    # As ARX publishes it: 5 is not between 0 and 4, nor 10 between 5 and 9.
    lines = (f"{age};{low}-{low + 4};*" for age in range(1, 11) for low in [(age - 1) // 5 * 5])
    (tmp_path / "age.csv").write_text("\n".join(lines))
    with pytest.raises(
        HierarchyInvalid,
        match="leaf 5, leaf 10",
        check=lambda error: error.reason == "label does not cover",
    ):
        read_hierarchy(tmp_path / "age.csv")
    assert len(read_hierarchy(tmp_path / "age.csv", opaque=True).taxonomy.leaves) == 10


def test_adults_hierarchies_read_and_the_lying_one_is_caught(real_file):
    sizes = {}
    for path in real_file("adult/hierarchies/adult_hierarchy_age.csv").parent.glob("*.csv"):
        if path.name.endswith("age.csv"):
            with pytest.raises(
                HierarchyInvalid,
                match="leaf 5, leaf 10",
                check=lambda error: error.reason == "label does not cover",
            ):
                read_hierarchy(path)
        tree = read_hierarchy(path, opaque=path.name.endswith("age.csv"))
        with path.open() as file:
            leaves = [row[0] for row in csv.reader(file, delimiter=";")]
        assert sorted(tree.taxonomy.leaves) == sorted(leaves)
        sizes[path.stem] = (tree.taxonomy.size, len(tree.taxonomy.nodes))
    assert sizes["adult_hierarchy_age"] == (100, 136)
    assert sizes["adult_hierarchy_education"] == (16, 23)


@pytest.mark.parametrize("name", BUILT)
def test_what_a_builder_makes_reads_back_from_arx(tmp_path, name):
    again = read_hierarchy(write_arx(BUILT[name], tmp_path / f"{name}.csv"))
    assert again.taxonomy == BUILT[name].taxonomy
    assert (again.levels == BUILT[name].levels).all()


def test_a_file_is_not_overwritten_unasked(tmp_path):
    write_arx(BUILT["binary"], tmp_path / "age.csv")
    with pytest.raises(AlreadyExists):
        write_arx(BUILT["binary"], tmp_path / "age.csv")
    write_arx(BUILT["binary"], tmp_path / "age.csv", overwrite=True)


def reasons(rows, **how):
    """The case of each finding, all of one class."""
    found = find_label_problems(rows, **how)
    assert {type(finding) for finding in found} <= {HierarchyInvalid}
    return [finding.reason for finding in found]


def test_a_good_hierarchy_has_no_findings():
    assert find_label_problems([["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3", "*"]]) == []


def test_ragged_rows_and_no_rows_are_no_hierarchy():
    assert reasons([["1", "*"], ["2", "1-2", "*"]]) == [None]
    assert reasons([]) == [None]
    assert reasons([[]]) == [None]


def test_all_findings_come_at_once():
    rows = [["a", "x", "*"], ["a", "x", "*"], ["b", "", "*"], ["7", "1-2", "*"]]
    assert reasons(rows) == ["duplicate leaf", None, "label does not cover"]


def test_what_has_several_roots_is_no_hierarchy_and_nothing_of_it_is_said():
    (finding,) = find_label_problems([["Ada", "34", "flu"], ["Ada", "35", "cold"]])
    assert finding.message == "it has 2 roots instead of one"


def test_leaves_of_a_file_that_may_be_rows_are_counted_not_quoted():
    rows = [["Ada", "flu", "2025"], ["Bob", "cold", "2025"], ["Ada", "cold", "2025"]]
    for quoted in (True, False):
        said = " ".join(finding.message for finding in find_label_problems(rows, quoted=quoted))
        assert ("Ada" in said) == quoted
    assert "leaf 1, leaf 3" in said


def test_a_label_under_two_parents_is_ambiguous():
    rows = [["a", "x", "p", "*"], ["b", "x", "q", "*"]]
    found = find_label_problems(rows)
    assert [(type(f), f.reason) for f in found] == [(HierarchyInvalid, "ambiguous label")]
    assert "'x'" in found[0].message


def test_a_label_on_two_levels_for_different_sets_is_ambiguous():
    assert reasons([["a", "b", "*"], ["b", "c", "*"], ["d", "c", "*"]]) == ["ambiguous label"]
    assert reasons([["a", "*", "*"], ["b", "x", "*"]]) == ["ambiguous label"]


def test_a_label_repeated_up_a_path_for_the_same_set_is_fine():
    assert reasons([["a", "a", "*"], ["b", "x", "*"], ["c", "x", "*"]]) == []


@pytest.mark.parametrize(
    ("leaf", "label"),
    [
        ("5", "0-4"), ("100", "95-99"), ("30", "[20, 30)"), ("20", "]20, 30]"), ("20", "(20, 30]"),
        ("5", "<5"), ("6", "<=5"), ("5", ">5"), ("4", ">=5"), ("-3", "-2-4"), ("1.5", "2..4"),
    ],
)  # fmt: skip
def test_a_number_outside_its_label_is_found(leaf, label):
    assert reasons([[leaf, label, "*"]]) == ["label does not cover"]
    assert reasons([[leaf, label, "*"]], opaque=True) == []


@pytest.mark.parametrize(
    ("leaf", "label"),
    [
        ("4", "0-4"), ("20", "[20, 30)"), ("30", "(20, 30]"), ("5", "<=5"), ("5", ">=5"),
        ("-2", "-2-4"), ("5", "five"), ("blue", "0-4"),
    ],
)  # fmt: skip
def test_a_number_inside_its_label_is_not(leaf, label):
    assert reasons([[leaf, label, "*"]]) == []


def test_refusing_raises_the_first_error_and_says_all():
    raise_findings("sex.csv", [])
    found = [
        HierarchyInvalid("one", "mend", reason="duplicate leaf"),
        HierarchyInvalid("two", "mend"),
    ]
    with pytest.raises(
        HierarchyInvalid,
        match=r"sex\.csv: one; two\.",
        check=lambda error: error.reason == "duplicate leaf",
    ):
        raise_findings("sex.csv", found)
