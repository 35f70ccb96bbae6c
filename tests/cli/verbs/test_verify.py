"""``shoal verify`` and ``shoal keys``: output, exit codes, and what is signed."""

import json

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.collector import read_key


@pytest.fixture
def model(tmp_path):
    fitted = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(1))
    return fitted.fit([[0.2], [0.8]] * 300).save(tmp_path / "model")


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_a_release_that_holds_ends_with_0_and_says_what_is_unseen(model, tmp_path):
    done = run("verify", model, "-o", tmp_path / "verified.html")
    assert done.exit_code == 0, done.output
    assert "Everything that can be checked from outside holds." in done.output
    assert "Unseen" in done.output
    assert "ε = 1, pure differential privacy" in (tmp_path / "verified.html").read_text()


def test_a_release_that_was_changed_ends_with_1(model):
    (model / "centers.csv").write_text("changed")
    done = run("verify", model, "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["schema"] == "shoal.verification/1"
    assert document["holds"] is False


def test_a_folder_without_a_release_ends_with_2(tmp_path):
    assert run("verify", tmp_path).exit_code == 2


def test_keys_are_made_shown_and_sign(model, tmp_path):
    pytest.importorskip("cryptography")
    key = tmp_path / "publisher.key"
    made = json.loads(run("keys", "new", key, "--json").stdout)
    assert key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "publisher.key.pub").read_text().strip() == made["public"]
    assert read_key(key).public_key().public_bytes_raw().hex() == made["public"]
    assert made["public"] in run("keys", "show", key).stdout
    assert run("keys", "sign", model, key).exit_code == 0
    assert run("verify", model, "--key", made["file"]).exit_code == 0
    (model / "signature.json").unlink()
    assert run("verify", model, "--key", made["public"]).exit_code == 1


def test_cluster_and_perturb_sign_what_they_write(tmp_path):
    pytest.importorskip("cryptography")
    key = tmp_path / "publisher.key"
    run("keys", "new", key)
    (tmp_path / "ages.csv").write_text("age\n" + "20\n60\n" * 300)
    (tmp_path / "ages.yaml").write_text("version: 1\ncolumns: {age: {low: 0, high: 99}}\n")
    given = (tmp_path / "ages.csv", "--epsilon", "1", "--domain", tmp_path / "ages.yaml")
    given = (*given, "--sign", key, "--seed", "1")
    done = run("cluster", *given, "-k", "2", "-o", tmp_path / "model")
    assert done.exit_code == 0, done.output
    assert run("verify", tmp_path / "model", "--key", f"{key}.pub").exit_code == 0
    (tmp_path / "reports").mkdir()
    output = tmp_path / "reports" / "noisy.parquet"
    done = run("perturb", *given, "--mechanism", "piecewise", "-o", output)
    assert done.exit_code == 0, done.output
    assert run("verify", tmp_path / "reports", "--key", f"{key}.pub").exit_code == 0


def test_a_key_that_is_none_is_refused_before_anything_is_spent(tmp_path):
    pytest.importorskip("cryptography")
    (tmp_path / "bad.key").write_text("no key")
    (tmp_path / "ages.csv").write_text("age\n" + "20\n60\n" * 300)
    (tmp_path / "ages.yaml").write_text("version: 1\ncolumns: {age: {low: 0, high: 99}}\n")
    done = run(
        "cluster", tmp_path / "ages.csv", "-k", "2", "--epsilon", "1",
        "--domain", tmp_path / "ages.yaml", "-o", tmp_path / "model",
        "--sign", tmp_path / "bad.key", "--ledger", tmp_path / "ages.ledger",
    )  # fmt: skip
    assert done.exit_code == 2
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "ages.ledger").exists()
