"""Documents that others ask for: what they say, in whose terms, and what of a change is caught."""

import json
import re

import pytest

from shoal.domain import Box, Schema
from shoal.errors import AlreadyExists, InvalidSetting
from shoal.pages import findings
from shoal.privacy import Ledger, PureDP, Result
from shoal.synopsis import UniformGrid
from shoal.verify import document_folder, sign_folder, verify_folder
from shoal.verify._release import Release
from shoal.verify.documents import KINDS, QUESTIONS
from shoal.verify.documents._facts import Facts

ABOUT = {name: f"Answer about {name}" for name in QUESTIONS} | {"published": "2026-11-18"}
# Kinds of releases, with the documents that fit each.
FITTING = {
    "kmeans": set(KINDS),
    "seeded": {"nist", "csvw", "croissant"},
    "wave": {"nist", "csvw", "croissant"},
    "synopsis": set(KINDS),
    "mixed": set(KINDS),
    "prototypes": set(KINDS),
    "reports": set(KINDS),
    "table": {"nist", "csvw", "croissant"},
}
# The parts of a registry's record and their fields, as its data had them in September 2026.
RECORD = {
    "basic": {
        "name", "data_curators", "intended_use", "data_product_type", "data_product_region",
        "description", "publication_date", "data_product_sector",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name", "model_name_details", "actors", "release_type", "release_type_details",
        "data_source_type", "access_type", "access_type_details",
    },
    "accounting": {"post_processing", "composition"},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning", "mechanisms", "justification",
    },
    "administrative": {"notes", "status", "registry_authors", "tier"},
}  # fmt: skip


def read(folder, name):
    return json.loads((folder / name).read_text())


def failures(folder, **settings):
    return [finding.text for finding in verify_folder(folder, **settings).failed]


@pytest.mark.parametrize("name", FITTING)
def test_every_kind_of_release_has_the_documents_that_fit_it(copy_of, name):
    folder = copy_of(name)
    (done,) = document_folder(folder, about={"publisher": "The town"})
    assert set(done.left_out) == set(KINDS) - FITTING[name]
    assert all(path.is_file() for path in done.files)
    assert "publisher" not in done.not_stated
    assert not failures(folder)
    subjects = [each.subject for each in verify_folder(folder).releases[0].findings]
    assert "Documents" in subjects


def test_a_record_has_the_fields_of_the_registry_and_the_facts_of_the_release(copy_of):
    folder = copy_of("kmeans")
    document_folder(folder, kinds=["deployment"], about=ABOUT)
    record = read(folder, "deployment.json")
    assert set(record) == {"url_slug", "deployment"}
    parts = record["deployment"]
    assert {part: set(fields) for part, fields in parts.items()} == RECORD
    assert parts["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert parts["privacy_loss"]["privacy_unit"] == "Row-level"
    assert parts["dp_variant"]["variant_name"] == "Pure DP"
    assert parts["deployment_model"]["model_name"] == "Central"
    assert parts["basic"]["publication_date"] == "2026-11-18"
    assert parts["administrative"]["tier"] == 3
    assert "not stated" not in json.dumps({**parts, "administrative": ""})
    assert "could not be compared" in parts["administrative"]["notes"]


def test_entries_of_one_release_are_no_other_releases(tmp_path):
    ledger, texts = Ledger(), []
    for _ in range(2):
        UniformGrid(epsilon=1, domain=Box.unit(1), cells=4, ledger=ledger).fit([[0.5]] * 50)
        report = findings(Result("synopsis", PureDP(1)), ledger=ledger)
        release = Release(kind="synopsis", name="Cells", files=(), signature="x", report=report)
        texts.append(Facts(folder=tmp_path, release=release, about={}, audits={}).ledger_text)
    assert ledger.entries().num_rows == 4  # the check of the bounds has one of its own
    assert texts[0].endswith("held nothing but this release: ε = 1.")
    assert texts[1].endswith("held ε = 1 besides this release; together it is ε = 2.")


def test_a_number_of_rows_without_noise_is_told_of(tmp_path):
    promise = PureDP(1, neighbours="replace-one")
    UniformGrid(privacy=promise, domain=Box.unit(1), cells=4).fit([[0.5]] * 50).save(tmp_path / "g")
    document_folder(tmp_path / "g", kinds=["deployment"], about={"publisher": "The town"})
    said = read(tmp_path / "g", "deployment.json")["deployment"]["dp_variant"]
    assert said["unprotected_quantities"].startswith("Neighbouring tables have equally many rows")


def test_many_rows_that_were_moved_are_told_of(tmp_path):
    box = Box(x=(0, 1))
    grid = UniformGrid(epsilon=1, domain=box, cells=4, clipping="accept").fit([[7.0]] * 4000)
    grid.save(tmp_path / "grid")
    document_folder(tmp_path / "grid", kinds=["deployment"], about={"description": "Places."})
    implementation = read(tmp_path / "grid", "deployment.json")["deployment"]["implementation"]
    said = implementation["preprocessing_and_hyperparameter_tuning"]
    assert said.startswith("Nearly all rows lie outside the bounds and were moved to the edge. x:")


def test_what_nobody_answered_is_said_to_be_not_stated(copy_of):
    folder = copy_of("synopsis")
    (done,) = document_folder(folder, kinds=["deployment"])
    parts = read(folder, "deployment.json")["deployment"]
    assert parts["basic"]["intended_use"] == "not stated"
    assert parts["administrative"]["tier"] == 1
    assert "purpose" in done.not_stated


def test_rows_that_were_moved_and_the_ledger_are_in_the_documents(copy_of):
    folder = copy_of("accepted")
    document_folder(folder)
    record = read(folder, "deployment.json")["deployment"]
    made = record["implementation"]["preprocessing_and_hyperparameter_tuning"]
    assert "were moved to the edge. x: about " in made
    assert "From the release: About " in (folder / "nist.html").read_text(encoding="utf-8")
    total = "held ε = 1 besides this release; together it is ε = 2."
    assert total in record["accounting"]["composition"]
    assert failures(folder) == []


def test_reports_are_a_local_deployment_and_say_who_saw_the_rows(copy_of):
    folder = copy_of("reports")
    document_folder(folder, kinds=["deployment"])
    parts = read(folder, "reports.parquet.deployment.json")["deployment"]
    assert parts["deployment_model"]["model_name"] == "Local"
    assert "whoever ran that saw the rows" in parts["deployment_model"]["model_name_details"]
    assert parts["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.0}


def test_the_page_follows_the_blocks_and_says_aloud_what_is_not_covered(copy_of):
    folder = copy_of("kmeans")
    document_folder(folder, kinds=["nist"], about={"biases": "Night visits are missing."})
    page = (folder / "nist.html").read_text()
    blocks = re.findall(r"<summary>(.*?)(?: \(|:)", page)
    assert blocks == [
        "ε and other parameters", "Unit of privacy", "Other releases of the same rows",
        "Algorithms and correctness", "Utility", "Bias", "Query model", "Threat model",
        "Side channels", "Data security and access control", "Data collection exposure",
        "Singling out", "Linkability", "Inference",
    ]  # fmt: skip
    assert "Not covered: Linking this release with another source was not tried." in page
    assert "audits of PrivateKMeans found nothing against its claim" in page
    assert "Publisher: Night visits are missing." in page
    assert "Publisher: not stated" in page
    assert "final text was not compared" in page


def test_the_page_of_a_table_has_its_measured_risks_and_no_epsilon(copy_of):
    folder = copy_of("table")
    document_folder(folder, kinds=["nist"])
    page = (folder / "released.nist.html").read_text()
    assert "This release promises something else." in page
    assert "Measured: Prosecutor, who knows that you are in it" in page


def test_bounds_of_a_release_are_read_again_as_a_domain(copy_of):
    folder = copy_of("prototypes")
    document_folder(folder, kinds=["csvw"])
    schema = Schema.load(folder / "domain.csvw.json")
    assert schema.bounds == {"age": (0, 99)}
    assert schema.categories["sex"].values == ("F", "M")
    group = read(folder, "csv-metadata.json")
    assert [table["url"] for table in group["tables"]] == ["profiles.csv", "prototypes.csv"]


def test_a_released_table_has_its_columns_where_csvw_looks_for_them(copy_of):
    folder = copy_of("table")
    document_folder(folder, kinds=["csvw"])
    table = read(folder, "released.csv-metadata.json")
    columns = table["tableSchema"]["columns"]
    header = (folder / "released.csv").read_text().splitlines()[0].split(",")
    assert [column["titles"] for column in columns] == header
    assert [column["datatype"] for column in columns] == ["string", "string", "integer"]


# The warnings of a foreign reader, and of what it imports, are not ours to mend.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "prefix"), [("kmeans", ""), ("table", "released.")])
def test_croissant_is_valid_for_its_own_reader(copy_of, name, prefix):
    mlcroissant = pytest.importorskip("mlcroissant")
    folder = copy_of(name)
    document_folder(folder, kinds=["croissant"], about=ABOUT)
    dataset = mlcroissant.Dataset(jsonld=folder / f"{prefix}croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.data_biases == ["Answer about biases"]
    assert dataset.metadata.personal_sensitive_information
    table = "centers.csv" if name == "kmeans" else "released.csv"
    lines = (folder / table).read_text().splitlines()
    assert len(list(dataset.records(f"{table}/records"))) == len(lines) - 1


@pytest.mark.parametrize("file", ["deployment.json", "nist.html", "croissant.json"])
def test_a_document_edited_by_hand_is_caught(copy_of, file):
    folder = copy_of("kmeans")
    document_folder(folder)
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace("The town", "The city", 1))
    assert any(file in each for each in failures(folder))


def test_a_document_edited_with_its_digests_is_caught_by_the_release(copy_of):
    from shoal.documents import json_text, with_digest
    from shoal.synopsis.folder import digest_of

    folder = copy_of("kmeans")
    document_folder(folder, kinds=["deployment"])
    path = folder / "deployment.json"
    path.write_text(path.read_text().replace('"epsilon": 1.0', '"epsilon": 0.1'))
    listing = read(folder, "documents.json")
    del listing["digest"]
    listing["files"][0]["sha256"] = digest_of(path)
    (folder / "documents.json").write_text(json_text(with_digest(listing)))
    assert any("do not follow from the release" in each for each in failures(folder))


def test_documents_are_signed_with_the_release(copy_of, tmp_path):
    pytest.importorskip("cryptography")
    from shoal.collector import make_key

    key = make_key(tmp_path / "publisher.key").hex()
    folder = copy_of("synopsis")
    document_folder(folder)
    sign_folder(folder, tmp_path / "publisher.key")
    assert not failures(folder, key=key)
    (done,) = document_folder(folder, about={"purpose": "Another"}, overwrite=True)
    assert done.is_signed
    assert any("Not as they were signed" in each for each in failures(folder, key=key))


def test_documents_that_were_written_before_are_written_anew_with_the_same_answers(copy_of):
    folder = copy_of("synopsis")
    document_folder(folder, kinds=["deployment"], about={"purpose": "Plan bus lines"})
    with pytest.raises(AlreadyExists):
        document_folder(folder, kinds=["nist"])
    document_folder(folder, kinds=["nist"], overwrite=True)
    listing = read(folder, "documents.json")
    assert listing["kinds"] == ["deployment", "nist"]
    assert listing["about"] == {"purpose": "Plan bus lines"}
    assert not failures(folder)


def test_the_mark_of_a_simulation_is_on_its_documents(copy_of):
    folder = copy_of("seeded")
    document_folder(folder)
    assert read(folder, "documents.json")["simulation"] is True
    assert read(folder, "croissant.json")["description"].startswith("Simulation.")
    assert "Simulation." in (folder / "nist.html").read_text()


@pytest.mark.parametrize(
    ("name", "kinds", "message"),
    [
        ("seeded", ["deployment"], "A simulation protects nobody"),
        ("table", ["deployment"], "does not promise"),
        ("reproduction", None, "made-up and public tables"),
        ("synopsis", ["poem"], "no document of the kind 'poem'"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(copy_of, name, kinds, message):
    folder = copy_of(name)
    with pytest.raises(InvalidSetting, match=message):
        document_folder(folder, kinds=kinds)
    assert not list(folder.glob("*documents.json"))


def test_a_release_that_does_not_hold_is_not_documented(copy_of):
    folder = copy_of("kmeans")
    (folder / "centers.csv").write_text("changed")
    with pytest.raises(InvalidSetting, match="not documented"):
        document_folder(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour: red", "unknown key, 'colour'"),
        ("purpose: 3", "`purpose` that is no text"),
        ("published: soon", "`published` that is no day"),
        ("- purpose", "no mapping"),
    ],
)
def test_answers_to_no_question_are_refused(copy_of, tmp_path, text, message):
    (tmp_path / "about.yaml").write_text(text)
    with pytest.raises(InvalidSetting, match=message):
        document_folder(copy_of("synopsis"), about=tmp_path / "about.yaml")
