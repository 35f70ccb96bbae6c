import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import Policy, count_combinations, run_policy
from shoal.anonymize.release import _run as run
from shoal.anonymize.release import _writer as writer
from shoal.anonymize.release._manifest import read_manifest
from shoal.anonymize.release._writer import Release
from shoal.anonymize.risk import _recount as recount
from shoal.data import adults, adults_hierarchies
from shoal.errors import (
    AlreadyExists,
    CannotWrite,
    InvalidPolicy,
    NotKAnonymous,
    ShoalError,
    StartFails,
)

LETTER = {"role": "quasi", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}}}
AGE = {
    "role": "quasi", "type": "int", "domain": [0, 63],
    "hierarchy": {"kind": "binary", "min_width": 4},
}  # fmt: skip


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "q": rng.choice(list("aaaaabbccd"), n),
            "age": rng.integers(-5, 70, n),
            "s": rng.choice(["u", "v", "w"], n),
            "visits": rng.integers(0, 9, n),
        }
    )


def policy(folder, path="out.parquet", attributes=None, **parts):
    columns = {
        "id": {"role": "identifier"},
        "q": LETTER,
        "age": AGE,
        "s": {"role": "sensitive", "l": {"value": 2}},
        "visits": {"role": "other"},
    }
    content = {
        "version": 1,
        "attributes": columns if attributes is None else attributes,
        "privacy": {"k": 5, "suppression": 0.05, **parts.pop("privacy", {})},
        "search": {"restarts": 2, **parts.pop("search", {})},
        "output": {"path": path, **parts.pop("output", {})},
        **parts,
    }
    return Policy.of(content, folder)


def classes_in(table, columns):
    return Counter(zip(*(table[name].to_pylist() for name in columns), strict=True))


@pytest.mark.heavy
@pytest.mark.parametrize("path", ["out.parquet", "out.csv", "out.csv.gz"])
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_a_release_keeps_k_and_loses_no_row_uncounted(tmp_path, path, recoding):
    table = people()
    done = run_policy(policy(tmp_path, path, search={"recoding": recoding}), table)
    written = tmp_path / path
    released = pq.read_table(written) if path.endswith("parquet") else pa_csv.read_csv(written)
    assert released.column_names == ["q", "age", "s", "visits"]
    assert min(classes_in(released, ["q", "age"]).values()) >= 5
    assert released.num_rows + done.manifest["suppression"]["rows"] == 400
    assert done.produced.achieved.rows == released.num_rows
    kept = Counter(released["visits"].to_pylist())
    assert not kept - Counter(table["visits"].to_pylist())


@pytest.mark.heavy
def test_rows_keep_what_they_carry(tmp_path):
    table = people().append_column("row", pa.array(range(400)))
    wanted = policy(tmp_path, privacy={"suppression": 0.0})
    attributes = {**wanted.model_dump(exclude_unset=True)["attributes"]}
    attributes["row"] = {"role": "other", "force": True}
    for recoding in ("global", "local"):
        done = run_policy(
            policy(tmp_path, f"{recoding}.parquet", attributes, search={"recoding": recoding}),
            table,
        )
        released = pq.read_table(tmp_path / f"{recoding}.parquet")
        at = released["row"].to_numpy()
        assert list(at) != sorted(at)
        assert released["s"].to_pylist() == table["s"].take(pa.array(at)).to_pylist()
        tree = done.frequency.codec.hierarchies["q"].taxonomy
        for label, raw in zip(
            released["q"].to_pylist(), table["q"].take(pa.array(at)).to_pylist(), strict=True
        ):
            low, high = tree.interval(label)
            assert low <= tree.leaves.index(raw) < high


@pytest.mark.heavy
def test_nothing_of_the_input_is_left_in_the_file(tmp_path):
    table = people().to_pandas()
    table["q"] = table["q"].astype("category")
    done = run_policy(policy(tmp_path, privacy={"k": 50}), table)
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert schema.metadata is None
    assert done.outcome.cut is not None
    published = set(pq.read_table(tmp_path / "out.parquet")["q"].to_pylist())
    content = (tmp_path / "out.parquet").read_bytes()
    assert b"ARROW:schema" not in content
    assert b"pandas" not in content
    dictionary = pq.read_table(tmp_path / "out.parquet", read_dictionary=["q"])["q"]
    assert {x for c in dictionary.chunks for x in c.dictionary.to_pylist()} == published


@pytest.mark.heavy
def test_the_order_of_rows_is_never_the_same_twice(tmp_path):
    table = people().append_column("row", pa.array(range(400)))
    attributes = {"q": LETTER, "row": {"role": "other", "force": True}}
    attributes |= {n: {"role": "identifier"} for n in ("id", "age", "s", "visits")}
    orders = []
    for i in range(2):
        run_policy(policy(tmp_path, f"{i}.parquet", attributes), table)
        orders.append(pq.read_table(tmp_path / f"{i}.parquet")["row"].to_pylist())
    assert orders[0] != orders[1]


@pytest.mark.heavy
def test_the_manifest_says_what_was_reached_and_nothing_raw(tmp_path):
    done = run_policy(policy(tmp_path), people())
    told = json.loads((tmp_path / "out.manifest.json").read_text())
    assert told == json.loads(json.dumps(done.manifest))
    assert told["k"]["reached"] >= told["k"]["asked"] == 5
    assert told["l"]["s"]["reached"] >= 2
    assert "p17" not in json.dumps(told)
    assert set(told["cut"]) == {"q", "age"}


@pytest.mark.heavy
def test_the_mapping_lists_every_leaf_whether_it_occurs_or_not(tmp_path):
    table = people().filter(pa.compute.not_equal(people()["q"], "d"))
    run_policy(policy(tmp_path), table)
    with (tmp_path / "out.mapping.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["value"] for line in lines if line["column"] == "q"] == [*"abcd", "<null>"]
    assert len([line for line in lines if line["column"] == "age"]) == 16 + 1


@pytest.mark.heavy
def test_local_recoding_writes_no_mapping(tmp_path):
    run_policy(policy(tmp_path, search={"recoding": "local"}), people())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.manifest.json", "out.parquet"]


@pytest.mark.heavy
@pytest.mark.parametrize("intervals", ["bounds", "midpoint"])
def test_intervals_may_be_published_as_numbers(tmp_path, intervals):
    run_policy(policy(tmp_path, output={"intervals": intervals}), people())
    released = pq.read_table(tmp_path / "out.parquet")
    if intervals == "bounds":
        assert pa.types.is_integer(released["age_low"].type)
        pairs = classes_in(released, ["q", "age_low", "age_high"])
        assert all(low <= high for _, low, high in pairs)
    else:
        pairs = classes_in(released, ["q", "age"])
    assert min(pairs.values()) >= 5


@pytest.mark.heavy
def test_people_with_several_rows_count_once(tmp_path):
    table = people().set_column(0, "id", pa.array([f"p{i % 90}" for i in range(400)]))
    done = run_policy(policy(tmp_path, privacy={"person": "id"}), table)
    assert done.produced.achieved.by_person
    assert done.produced.achieved.k >= 5
    assert "id" not in pq.read_schema(tmp_path / "out.parquet").names


@pytest.mark.heavy
def test_a_finished_run_shown_by_chance_names_nobody(tmp_path):
    table = people()
    table = table.set_column(0, "id", [[f"Zoë{i // 2}" for i in range(table.num_rows)]])
    finished = run_policy(policy(tmp_path, privacy={"person": "id"}), table)
    assert "Zoë" in str(finished.frequency.owners)
    assert "Zoë" not in repr(finished)
    assert "Zoë" not in repr(finished.frequency)


@pytest.mark.heavy
def test_the_twin_that_counts_rows_as_people_is_caught(tmp_path, monkeypatch):
    """Five rows of two people make a class for whoever counts rows; the re-count does not."""
    owners = ["p", "p", "p", "o", "o", *(f"x{i}" for i in range(20))]
    table = pa.table({"id": owners, "q": ["a"] * 5 + ["c"] * 20})
    attributes = {"id": {"role": "identifier"}, "q": LETTER}
    wanted = policy(tmp_path, attributes=attributes, privacy={"person": "id", "suppression": 0})
    monkeypatch.setattr(
        run,
        "count_combinations",
        lambda p, t: count_combinations(
            policy(tmp_path, attributes=attributes, privacy={"suppression": 0}), t
        ),
    )
    with pytest.raises(NotKAnonymous, match="k is 2"):
        run_policy(wanted, table)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_pseudonyms_are_published_and_identifiers_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("KEY", "ab" * 32)
    attributes = {
        "id": {"role": "identifier", "action": "hmac", "key_env": "KEY"},
        "q": LETTER,
        **{n: {"role": "identifier"} for n in ("age", "s", "visits")},
    }
    run_policy(policy(tmp_path, attributes=attributes), people())
    released = pq.read_table(tmp_path / "out.parquet")
    assert released.column_names == ["id", "q"]
    assert all(len(token) == 64 for token in released["id"].to_pylist())
    public = (tmp_path / "out.manifest.json").read_text()
    assert "ab" * 32 not in public


@pytest.mark.heavy
def test_starred_rows_stay_if_they_pass_together(tmp_path):
    table = pa.table(
        {"q": ["a"] * 50 + ["c"] * 4 + ["d"] * 4, "r": ["a"] * 50 + ["c"] * 4 + ["a"] * 4}
    )
    attributes = {"q": LETTER, "r": LETTER}
    done = run_policy(
        policy(
            tmp_path,
            attributes=attributes,
            privacy={"suppression": 0.2},
            output={"suppressed": "star"},
            search={"restarts": 0, "score": "ncp"},
        ),
        table,
    )
    released = classes_in(pq.read_table(tmp_path / "out.parquet"), ["q", "r"])
    assert sum(released.values()) == 58
    assert done.produced.starred == 8
    assert released["*", "*"] == 8
    assert done.produced.achieved.k == 8


@pytest.mark.heavy
def test_starred_rows_that_are_too_few_are_dropped(tmp_path):
    table = pa.table({"q": ["a"] * 50 + ["c"] * 4})
    star = policy(
        tmp_path,
        attributes={"q": LETTER},
        privacy={"suppression": 0.2},
        output={"suppressed": "star"},
    )
    done = run_policy(star, table)
    assert done.produced.starred == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 50


def test_starred_rows_read_again_are_values_like_any_other(tmp_path):
    """A table whose rows say * is no wildcard: the value needs a leaf, and is counted as one."""
    table = pa.table({"q": ["a"] * 9 + ["*"] * 3})
    with pytest.raises(ShoalError):
        run_policy(policy(tmp_path, attributes={"q": LETTER}), table)


@pytest.mark.heavy
def test_nulls_are_a_combination_of_their_own(tmp_path):
    table = pa.table({"q": ["a"] * 20 + [None] * 6 + ["c"] * 20})
    run_policy(policy(tmp_path, attributes={"q": LETTER}, privacy={"suppression": 0}), table)
    released = classes_in(pq.read_table(tmp_path / "out.parquet"), ["q"])
    assert released == {("a",): 20, ("<null>",): 6, ("c",): 20}


@pytest.mark.heavy
def test_nulls_as_root_are_published_as_the_root(tmp_path):
    table = pa.table({"q": ["a"] * 20 + [None] * 6 + ["c"] * 20})
    run_policy(
        policy(tmp_path, attributes={"q": LETTER}, privacy={"suppression": 0, "nulls": "as_root"}),
        table,
    )
    released = classes_in(pq.read_table(tmp_path / "out.parquet"), ["q"])
    assert released == {("a",): 20, ("*",): 6, ("c",): 20}


@pytest.mark.heavy
def test_nulls_to_be_suppressed_are_not_in_the_file(tmp_path):
    table = pa.table({"q": ["a"] * 20 + [None] * 2 + ["c"] * 20, "visits": [1, 2] * 21})
    attributes = {"q": LETTER, "visits": {"role": "other"}}
    done = run_policy(policy(tmp_path, attributes=attributes, privacy={"nulls": "suppress"}), table)
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 40
    assert done.manifest["suppression"]["rows"] == 2


@pytest.mark.heavy
def test_a_kept_cut_is_used_again_and_checked(tmp_path):
    first = run_policy(policy(tmp_path), people())
    manifest = read_manifest(tmp_path / "out.manifest.json")
    again = run_policy(
        policy(tmp_path, "again.parquet", privacy={"suppression": 0.3}),
        people(300, seed=2),
        manifest=manifest,
        new_people=True,
    )
    assert again.manifest["cut"] == first.manifest["cut"]
    assert again.produced.achieved.k >= 5
    with pytest.raises(StartFails, match="earlier cut"):
        run_policy(
            policy(tmp_path, "few.parquet", privacy={"suppression": 0}),
            people(40, seed=3),
            manifest=manifest,
            new_people=True,
        )


@pytest.mark.heavy
def test_a_kept_cut_of_learnt_prefixes_suppresses_what_it_does_not_cover(tmp_path):
    attributes = {"code": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [2, 1]}}}
    first = pa.table({"code": ["11"] * 9 + ["12"] * 9 + ["21"] * 9})
    done = run_policy(policy(tmp_path, attributes=attributes), first)
    second = pa.table({"code": ["11"] * 9 + ["21"] * 9 + ["99"] * 2})
    asked = policy(tmp_path, "again.parquet", attributes, privacy={"suppression": 0.2})
    again = run_policy(asked, second, manifest=done.manifest, new_people=True)
    assert classes_in(pq.read_table(again.paths.table), ["code"]) == {("11",): 9, ("21",): 9}


@pytest.mark.heavy
def test_labels_of_suppressed_learnt_values_are_nowhere(tmp_path):
    attributes = {"code": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [2]}}}
    table = pa.table({"code": ["11"] * 60 + ["77"] * 2 + ["21"] * 9})
    run_policy(policy(tmp_path, attributes=attributes), table)
    for file in tmp_path.iterdir():
        assert (
            b"77" not in file.read_bytes().replace(b'"table_sha256"', b"") or file.suffix == ".json"
        )
    told = json.loads((tmp_path / "out.manifest.json").read_text())
    assert told["cut"] == {"code": ["11", "21"]}
    assert told["learnt"] == ["code"]


@pytest.mark.heavy
def test_an_output_that_exists_is_not_touched_unasked(tmp_path):
    (tmp_path / "out.manifest.json").write_text("old")
    with pytest.raises(AlreadyExists):
        run_policy(policy(tmp_path), people())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.manifest.json"]
    run_policy(policy(tmp_path, output={"overwrite": True}), people())
    assert json.loads((tmp_path / "out.manifest.json").read_text())["k"]["asked"] == 5


def test_the_mapping_of_an_earlier_cut_does_not_stay_beside_a_release_without_one(tmp_path):
    run_policy(policy(tmp_path), people())
    (mapping,) = tmp_path.glob("*mapping*")
    local = policy(tmp_path, search={"recoding": "local"}, output={"overwrite": True})
    run_policy(local, people())
    assert not mapping.exists()


def test_paths_default_beside_the_table_and_need_a_format(tmp_path):
    paths = run.paths_of(policy(tmp_path, "x.csv.gz", output={"mapping": "m.csv"}))
    assert paths.mapping == tmp_path / "m.csv"
    assert paths.manifest == tmp_path / "x.manifest.json"
    assert paths.report == tmp_path / "x.report.html"
    with pytest.raises(CannotWrite):
        run.paths_of(policy(tmp_path, "x.xlsx"))
    with pytest.raises(InvalidPolicy, match=r"output\.path"):
        run.paths_of(Policy.of({"version": 1, "attributes": {"q": LETTER}, "privacy": {"k": 2}}))
    with pytest.raises(InvalidPolicy, match=r"input\.path"):
        run_policy(policy(tmp_path))


@pytest.mark.heavy
def test_a_file_that_breaks_the_promise_gets_no_name(tmp_path, monkeypatch):
    def as_they_are(problem, outcome, star):
        leaves = [
            tree.leaf[codes] for tree, codes in zip(problem.trees, problem.codes.T, strict=True)
        ]
        nobody = np.zeros(len(problem.n), dtype=bool)
        return Release(np.stack(leaves, axis=1), nobody, nobody, None)

    monkeypatch.setattr(run, "release_of", as_they_are)
    with pytest.raises(NotKAnonymous, match="k is 1"):
        run_policy(policy(tmp_path), people())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_a_file_with_a_row_missing_gets_no_name(tmp_path, monkeypatch):
    real = writer.shuffle_rows
    monkeypatch.setattr(
        writer,
        "shuffle_rows",
        lambda batches, rows, rng: (b.slice(1) for b in real(batches, rows, rng)),
    )
    with pytest.raises(NotKAnonymous, match="rows"):
        run_policy(policy(tmp_path), people())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_killed_run_leaves_no_output(tmp_path):
    """Killed while it writes, a run leaves no file of the release, and a record without rows."""
    pq.write_table(people(2000), tmp_path / "in.parquet")
    script = tmp_path / "run.py"
    script.write_text(f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from shoal.anonymize import Policy, run_policy
from shoal.anonymize.release import _writer as writer
real = writer.shuffle_rows
def slow(*args):
    for batch in real(*args):
        yield batch
        print("writing", flush=True)
        time.sleep(60)
writer.shuffle_rows = slow
out = Path({str(tmp_path / "out")!r})
tree = {{"*": {{"x": ["a", "b"], "y": ["c", "d"]}}}}
columns = {{"q": {{"role": "quasi", "hierarchy": {{"tree": tree}}}}}}
columns |= {{name: {{"role": "identifier"}} for name in ("id", "age", "s", "visits")}}
run_policy(Policy.of({{"version": 1, "attributes": columns, "privacy": {{"k": 5}},
                      "output": {{"path": "out.parquet"}}}}, out), {str(tmp_path / "in.parquet")!r})
""")
    (tmp_path / "out").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == b"writing\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=30)
    child.stdout.close()
    (record,) = (tmp_path / "out").iterdir()
    assert record.name == ".out.parquet.shoal"
    assert {*json.loads(record.read_text().splitlines()[-1])} == {"begin", "key", "finished"}
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in scratch.iterdir())


rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", None]),
        st.integers(0, 63),
        st.sampled_from("uvw"),
        st.integers(0, 30),
    ),
    min_size=12,
    max_size=60,
)


@pytest.mark.heavy
@settings(deadline=None, max_examples=20)
@given(
    rows,
    st.integers(2, 5),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.booleans(),
    st.sampled_from(["global", "local"]),
    st.sampled_from(["own_value", "suppress", "as_root"]),
    st.sampled_from(["drop", "star"]),
    st.sampled_from(["label", "bounds", "midpoint"]),
)
def test_any_release_keeps_k_and_l_by_the_definition(
    tmp_path_factory, drawn, k, suppression, by_person, recoding, nulls, suppressed, intervals
):
    folder = tmp_path_factory.mktemp("run")
    q, age, s, who = zip(*drawn, strict=True)
    table = pa.table(
        {"q": pa.array(q, pa.string()), "age": age, "s": s, "who": who, "row": range(len(q))}
    )
    attributes = {
        "q": LETTER,
        "age": AGE,
        "s": {"role": "sensitive", "l": {"value": 2}},
        "who": {"role": "identifier"},
        "row": {"role": "other", "force": True},
    }
    wanted = policy(
        folder,
        attributes=attributes,
        privacy={
            "k": k,
            "suppression": suppression,
            "nulls": nulls,
            **({"person": "who"} if by_person else {}),
        },
        search={"recoding": recoding},
        output={"suppressed": suppressed, "intervals": intervals},
    )
    try:
        done = run_policy(wanted, table)
    except ShoalError as error:
        assert not isinstance(error, NotKAnonymous)  # noqa: PT017
        return
    released = pq.read_table(folder / "out.parquet")
    published = [n for n in released.column_names if n not in ("s", "row")]
    members, values = defaultdict(set), defaultdict(set)
    for line in released.to_pylist():
        key = tuple(line[n] for n in published)
        members[key].add(who[line["row"]] if by_person else line["row"])
        values[key].add(line["s"])
        assert s[line["row"]] == line["s"]
    assert all(len(found) >= k for found in members.values())
    assert all(len(found) >= 2 for found in values.values())
    gone = done.manifest["suppression"]
    assert len(released) == len(q) - gone["rows"] + gone["starred"]
    assert gone["rows"] <= suppression * len(q) + 1e-9


ADULTS = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "income"),
)


def released_at_ten(folder, table, files, opaque=()):
    """The run of a policy over Adult's nine columns, without suppression or restarts."""
    attributes = {
        name: {
            "role": "quasi",
            "hierarchy": {
                "file": str(files[name]),
                "labels": "opaque" if name in opaque else "intervals",
            },
        }
        for name in ADULTS
    }
    privacy, search = {"k": 10, "suppression": 0}, {"restarts": 0}
    done = run_policy(policy(folder, attributes=attributes, privacy=privacy, search=search), table)
    assert recount.recount(str(folder / "out.parquet"), done.policy).k >= 10
    return done


@pytest.mark.heavy
def test_made_adults_come_out_as_measured(tmp_path):
    files = {name: tmp_path / f"{name}.csv" for name in ADULTS}
    for name, paths in adults_hierarchies().items():
        files[name].write_text("".join(";".join(path) + "\n" for path in paths))
    done = released_at_ten(tmp_path, adults(30_000), files)
    assert done.outcome.metrics.ncp == pytest.approx(0.61893, abs=1e-5)
    assert done.produced.achieved.classes == 64


@pytest.mark.heavy
def test_adult_comes_out_as_the_literature_measured_it(tmp_path, real_file):
    tree = "adult/hierarchies/adult_hierarchy_{}.csv"
    files = {name: real_file(tree.format(name)) for name in ADULTS if name != "income"}
    files["income"] = real_file(tree.format("salary-class"))
    table = pa_csv.read_csv(real_file("adult/adult.csv")).slice(0, 32_561).select(ADULTS)
    for name in ("workclass", "occupation", "native-country"):
        kept = pa.compute.invert(pa.compute.is_in(table[name], pa.array(["?", ""])))
        table = table.filter(pa.compute.fill_null(kept, False))
    assert table.num_rows == 30_162
    done = released_at_ten(tmp_path, table, files, opaque=["age"])
    assert done.outcome.metrics.ncp == pytest.approx(0.63554, abs=1e-5)
    assert done.produced.achieved.classes == 24


@pytest.mark.heavy
@pytest.mark.parametrize("as_file", [False, True])
def test_times_of_another_zone_find_the_class_they_were_counted_in(tmp_path, as_file):
    instants = np.array(["2021-03-28T01:30", "2021-03-28T23:30"], dtype="datetime64[us]")
    times = pa.array(np.repeat(instants, 20), pa.timestamp("us", "Asia/Kolkata"))
    table = pa.table({"t": times, "visits": np.arange(40) % 9})
    day = {"role": "quasi", "type": "date", "hierarchy": {"kind": "date", "levels": ["day"]}}
    asked = policy(tmp_path, attributes={"t": day, "visits": {"role": "other", "force": True}})
    pq.write_table(table, tmp_path / "rows.parquet")
    run_policy(asked, str(tmp_path / "rows.parquet") if as_file else table)
    released = pq.read_table(tmp_path / "out.parquet")
    assert classes_in(released, ["t"]) == {("2021-03-28",): 40}
