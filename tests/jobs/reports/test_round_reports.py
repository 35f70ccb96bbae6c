import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.data import write_table
from shoal.errors import NotAReport
from shoal.jobs.reports import _round_reports as round_reports
from shoal.jobs.reports._round_reports import is_in_rounds, load_rounds
from shoal.privacy import Ledger, LocalDP

N = 400
NUMBERS = """version: 1
columns: {a: {low: 0, high: 10}, b: {low: 0, high: 10}, c: {low: 0, high: 10}}
"""
MIXED = """version: 1
columns:
  a: {low: 0, high: 10}
  kind: {values: [x, y], other: bucket}
person: who
"""


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds")
    rng = np.random.default_rng(0)
    made = {name: rng.normal(np.where(np.arange(N) % 2, 3, 7), 0.5) for name in "abc"}
    made["kind"] = np.where(np.arange(N) % 2, "x", "y")
    made["who"] = np.arange(N) // 2  # each person has two rows
    write_table(pa.table(made), folder / "rows.csv")
    (folder / "numbers.yaml").write_text(NUMBERS)
    (folder / "mixed.yaml").write_text(MIXED)
    return folder


def perturb(folder, domain, output, *words):
    rounds = ("perturb", folder / "rows.csv", "--mechanism", "rounds", "--epsilon", 4)
    return run(*rounds, "--domain", folder / domain, "--clip", "-o", output, *words)


@pytest.mark.heavy
def test_numbers_are_reported_in_rounds_and_learnt_from(folder, tmp_path):
    reports, ledger = tmp_path / "r.parquet", tmp_path / "all.ledger"
    made = perturb(folder, "numbers.yaml", reports, "-k", 2, "--ledger", ledger)
    assert made.exit_code == 0, made.output
    table = pq.read_table(reports)
    assert (table.num_rows, table.column_names) == (N, ["round", "question", "answer"])
    assert all(pa.types.is_integer(kind) for kind in table.schema.types)
    assert set(table["round"].to_pylist()) == {0, 1, 2}
    about = json.loads((tmp_path / "r.parquet.json").read_text())
    assert about["mechanism"]["class"] == "LocalRounds"
    assert len(about["rounds"]) == 3
    assert Ledger(ledger).entries().num_rows == 1
    assert about["guarantee"] == LocalDP(4).to_dict()
    assert "LocalDP" in str(Ledger(ledger).entries().to_pylist()[0])

    learnt = run("learn", reports, "-o", tmp_path / "model", "--json")
    assert learnt.exit_code == 0, learnt.output
    assert json.loads(learnt.stdout)["n_clusters"] == 2
    model = shoal.load_model(tmp_path / "model")
    assert model.predict(np.array([[3.0, 3, 3]])).shape == (1,)
    assert (tmp_path / "model" / "report.html").is_file()


@pytest.mark.heavy
def test_mixed_records_of_people_are_reported_once_each(folder, tmp_path):
    reports = tmp_path / "r.csv"
    made = perturb(folder, "mixed.yaml", reports, "-k", 2, "--seed", 3)
    assert made.exit_code == 0, made.output
    assert pa_csv.read_csv(reports).num_rows == N // 2
    about = json.loads((tmp_path / "r.csv.json").read_text())
    assert about["mechanism"]["class"] == "LocalPrototypes"
    assert about["protects"] == "a person, identified by 'who'"
    learnt = run("learn", reports, "-k", 2, "-o", tmp_path / "model", "--json")
    assert learnt.exit_code == 0, learnt.output
    assert json.loads(learnt.stdout)["simulation"] is True
    names = ["_group", "_share", "a", "kind"]
    assert pa_csv.read_csv(tmp_path / "model" / "prototypes.csv").column_names == names


@pytest.fixture(scope="module")
def written(folder):
    """Reports of rounds that nothing is wrong with."""
    made = perturb(folder, "mixed.yaml", folder / "good.parquet", "-k", 2, "--seed", 3)
    assert made.exit_code == 0, made.output
    return folder / "good.parquet"


@pytest.mark.heavy
def test_a_rehearsal_is_repeated_by_its_seed(folder, written, tmp_path):
    made = perturb(folder, "numbers.yaml", tmp_path / "a.csv", "-k", 2, "--seed", 5)
    again = perturb(folder, "numbers.yaml", tmp_path / "b.csv", "-k", 2, "--seed", 5)
    assert made.exit_code == again.exit_code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert json.loads((tmp_path / "a.csv.json").read_text())["simulation"] is True


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "fixed beforehand"),
        (("-k", "2-5"), "fixed beforehand"),
        (("-k", 2, "--cells", 4), "--cells"),
        (("-k", 2, "--scale", "box"), "--scale"),
        (("-k", 2, "--lattice", 1), "--lattice"),
        (("-k", 2, "--remap", "clamp"), "--remap"),
        (("-k", 2, "--keep-order"), "--keep-order"),
        (("-k", 2, "--engine", "spark"), "--engine"),
    ],
)
def test_options_that_rounds_do_not_have_are_refused(folder, tmp_path, words, text):
    made = perturb(folder, "numbers.yaml", tmp_path / "r.csv", *words)
    assert made.exit_code == 2, made.output
    assert text in " ".join(made.output.split())
    assert not list(tmp_path.iterdir())


def test_a_number_of_groups_is_for_rounds_only(folder, tmp_path):
    common = ("--epsilon", 1, "--domain", folder / "numbers.yaml", "-o", tmp_path / "r.csv")
    made = run("perturb", folder / "rows.csv", *common, "-k", 2)
    assert made.exit_code == 2
    assert "shoal learn" in made.output


def test_few_people_spend_nothing(folder, tmp_path):
    (tmp_path / "few.csv").write_text("a,b,c\n" + "1,2,3\n" * 20)
    common = ("--mechanism", "rounds", "-k", 2, "--epsilon", 1, "-o", tmp_path / "r.csv")
    ledger = ("--ledger", tmp_path / "few.ledger")
    made = run(
        "perturb", tmp_path / "few.csv", *common, "--domain", folder / "numbers.yaml", *ledger
    )
    assert made.exit_code == 2, made.output
    assert "at least 100" in " ".join(made.output.split())
    assert not (tmp_path / "r.csv").exists()
    assert Ledger(tmp_path / "few.ledger").entries().num_rows == 0


def test_more_records_than_memory_holds_are_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(round_reports, "MOST_NUMBERS", 100)
    made = perturb(folder, "numbers.yaml", tmp_path / "r.csv", "-k", 2)
    assert made.exit_code == 2, made.output
    assert "in memory" in " ".join(made.output.split())


def test_rows_outside_the_bounds_are_refused_unless_moved(folder, tmp_path):
    (tmp_path / "far.csv").write_text("a,b,c\n" + "1,2,99\n" * 200)
    common = ("--mechanism", "rounds", "-k", 1, "--epsilon", 1, "-o", tmp_path / "r.csv")
    made = run("perturb", tmp_path / "far.csv", *common, "--domain", folder / "numbers.yaml")
    assert made.exit_code == 2, made.output
    assert "--clip" in made.output


@pytest.mark.parametrize(
    "words", [("-k", 3), ("-k", "2-4"), ("--method", "em"), ("--choose", "gap")]
)
def test_what_rounds_do_not_say_cannot_be_learnt(written, tmp_path, words):
    made = run("learn", written, "-o", tmp_path / "model", *words)
    assert made.exit_code == 2, made.output
    assert not (tmp_path / "model").exists()


def test_reports_of_rounds_are_known_by_their_sidecar(written, tmp_path):
    assert is_in_rounds(str(written))
    assert not is_in_rounds(str(tmp_path / "nothing.csv"))
    loaded = load_rounds(str(written), lambda read: None)
    assert loaded.transcript.first.n_clusters == 2
    assert loaded.guarantee.simulation


@pytest.mark.parametrize("key", ["seed", "rounds", "mechanism", "simulation", "domain"])
def test_a_damaged_sidecar_is_refused(written, tmp_path, key):
    (tmp_path / "r.parquet").write_bytes(written.read_bytes())
    about = json.loads(written.with_name("good.parquet.json").read_text())
    about[key] = {"class": "LocalRounds"} if key == "mechanism" else None
    if key == "simulation":
        del about[key]
    (tmp_path / "r.parquet.json").write_text(json.dumps(about))
    with pytest.raises(NotAReport):
        load_rounds(str(tmp_path / "r.parquet"), lambda read: None)


WIDE = "abcdefgh"


@pytest.fixture(scope="module")
def wide(folder):
    """A table of eight columns, with a domain for so many of them as are asked for."""
    rng = np.random.default_rng(1)
    made = {name: rng.normal(np.where(np.arange(N) % 2, 3, 7), 0.5) for name in WIDE}
    write_table(pa.table(made), folder / "wide.csv")
    columns = ", ".join(f"{name}: {{low: 0, high: 10}}" for name in WIDE)
    (folder / "wide.yaml").write_text(f"version: 1\ncolumns: {{{columns}}}\n")

    def perturb(columns, mechanism, output, *words):
        asked = ("--domain", folder / "wide.yaml", "--columns", ",".join(WIDE[:columns]), "--clip")
        asked = (*asked, "--mechanism", mechanism, "--epsilon", 4, "-o", output, *words)
        return run("perturb", folder / "wide.csv", *asked)

    return perturb


@pytest.mark.parametrize(
    ("columns", "name"),
    [(1, "LocalGrid"), (3, "LocalGrid"), (4, "LocalRounds"), (5, "LocalRounds")],
)
def test_auto_takes_rounds_from_four_columns_on(wide, tmp_path, columns, name):
    made = wide(columns, "auto", tmp_path / "r.csv", "-k", 2, "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["mechanism"]["class"] == name
    assert json.loads(made.stdout)["mechanism"]["n_clusters"] == 2
    assert f"was chosen for {columns} column" in made.stderr


def test_auto_takes_rounds_for_categories(folder, tmp_path):
    common = ("perturb", folder / "rows.csv", "--mechanism", "auto", "-k", 2, "--epsilon", 4)
    made = run(*common, "--domain", folder / "mixed.yaml", "-o", tmp_path / "r.csv", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["mechanism"]["class"] == "LocalPrototypes"


def test_auto_needs_no_number_of_groups_where_it_takes_a_grid(wide, tmp_path):
    assert wide(2, "auto", tmp_path / "r.csv").exit_code == 0
    made = wide(4, "auto", tmp_path / "s.csv")
    assert made.exit_code == 2
    assert "-k 5" in made.output
    assert wide(4, "auto", tmp_path / "s.csv", "-k", 2, "--engine", "spark").exit_code == 2
    assert not (tmp_path / "s.csv").exists()


def test_cells_are_chosen_for_the_groups_that_will_be_looked_for(wide, tmp_path):
    cells = []
    for words in ((), ("-k", 2), ("-k", "2-200")):
        made = wide(2, "local-grid", tmp_path / "r.csv", "--overwrite", "--json", *words)
        cells.append(json.loads(made.stdout)["mechanism"]["cells"][0])
    assert cells[0] <= cells[2]
    assert cells[1] < cells[2]


@pytest.mark.parametrize(
    ("columns", "mechanism", "words"),
    [
        (3, "local-grid", None),
        (4, "local-grid", "--mechanism rounds"),
        (8, "local-grid", "In 8 columns the cells of one grid are coarse"),
        (4, "rounds", None),
        (8, "rounds", "poorly at 1"),
    ],
)
def test_where_groups_are_found_poorly_is_said_before_anything_is_drawn(
    wide, tmp_path, monkeypatch, columns, mechanism, words
):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.jobs._engine.Engines.table", stop)
    k = ("-k", 2) if mechanism == "rounds" else ()
    made = wide(columns, mechanism, tmp_path / "r.csv", *k)
    said = " ".join(made.stderr.split())
    assert ("Note" in said) == (words is not None)
    assert (words or "") in said
    assert "Note" not in wide(columns, mechanism, tmp_path / "r.csv", *k, "--quiet").stderr
