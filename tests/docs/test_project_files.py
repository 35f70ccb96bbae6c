"""Files for whoever hosts, cites or changes the project: they parse, and say what the code says."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION_CLASSIFIER = "Programming Language :: Python :: 3."
ISSUE_FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def document(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps_of(job):
    return [step.get("run", "") for step in job["steps"]]


def make_targets():
    return {*re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}


def test_continuous_integration_tries_every_python_that_is_declared():
    jobs = document(".github/workflows/ci.yml")["jobs"]
    tried = jobs["test"]["strategy"]["matrix"]["python"]
    declared = [c.removeprefix(VERSION_CLASSIFIER) for c in PROJECT["classifiers"]]
    assert {f"3.{minor}" for minor in declared if minor.isdigit()} <= set(tried)
    assert PROJECT["requires-python"] == f">={tried[0]}"
    assert ".ci/run" in steps_of(jobs["test"])


def test_continuous_integration_uses_tools_and_targets_that_exist():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    jobs = [job for file in workflows for job in document(file)["jobs"].values()]
    commands = " ".join(command for job in jobs for command in steps_of(job))
    for path in re.findall(r"tools/\w+\.py|\.ci/\w+", commands):
        assert (ROOT / path).is_file(), path
    assert set(re.findall(r"make (\w+)", commands)) <= make_targets()


def test_every_part_of_the_long_tests_is_run_every_week():
    job = document(".github/workflows/weekly.yml")["jobs"]["slow"]
    parts = job["strategy"]["matrix"]["part"]
    assert parts == [f"{i}/{len(parts)}" for i in range(1, len(parts) + 1)]
    assert "make slow PART=${{ matrix.part }}" in steps_of(job)


def test_hooks_run_the_tools_of_the_environment():
    (repository,) = document(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff", "ruff-format", "mypy"]
    for hook in repository["hooks"]:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert hook["entry"].startswith(".venv/bin/")


def test_the_citation_has_what_is_required_and_the_package_s_own_facts():
    citation = document("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["abstract"] == PROJECT["description"]
    assert citation["keywords"] == PROJECT["keywords"]


def test_lowest_versions_are_the_lower_bounds_and_lie_within_the_requirements():
    pins = [Requirement(pin) for pin in tool("lowest").lowest(PROJECT["dependencies"])]
    wanted = {each.name: each.specifier for each in map(Requirement, PROJECT["dependencies"])}
    assert {pin.name for pin in pins} == {*wanted}
    for pin in pins:
        (exact,) = pin.specifier
        assert exact.operator == "=="
        assert wanted[pin.name].contains(exact.version)


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_are_named_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|yml|txt))`", text)
    real = [path for path in named if not re.search(r"your[_-]name|test_your", path)]
    assert real
    homes = (ROOT, ROOT / "src" / "shoal")
    assert [path for path in real if not any((home / path).exists() for home in homes)] == []


@pytest.mark.parametrize("path", ISSUE_FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_what_is_required_and_links_to_files_that_exist(path):
    form = document(path)
    assert form["name"]
    assert form["description"]
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert fields
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    for target in re.findall(r"\.\./blob/HEAD/([\w./-]+)", path.read_text(encoding="utf-8")):
        assert (ROOT / target).is_file(), target


def test_a_broken_promise_is_reported_in_private():
    first, *_ = ISSUE_FORMS
    text = first.read_text(encoding="utf-8")
    assert "../security/advisories/new" in text
    assert "SECURITY.md" in text
    assert not [part for part in document(first)["body"] if part["type"] == "textarea"]


def test_releasing_checks_with_targets_that_exist():
    text = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`make (\w+)`", text))
    assert {"check", "test", "slow", "lowest", "newest", "audit"} <= named <= make_targets()


def test_the_changelog_begins_with_the_package_s_version_and_its_promises():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, *headings = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    assert version.split()[0] == PROJECT["version"]
    assert headings[0] == "Privacy"


def test_heavy_marks_follow_the_times_of_a_run():
    marked = tool("heavy_tests").marked
    plain = "import math\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    pass\n"
    heavy = marked(plain, {"test_a": 0.2, "test_b": 0.01})
    assert heavy.startswith("import pytest\n")
    assert "@pytest.mark.heavy\ndef test_a()" in heavy
    assert heavy.count("heavy") == 1
    assert marked(heavy, {"test_a": 0.2}) == heavy == marked(heavy, {})
    assert "@pytest.mark.heavy\ndef test_b()" in marked(heavy, {"test_b": 0.2})
    assert "heavy" not in marked(heavy, {"test_a": 0.01})
