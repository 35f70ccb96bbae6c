"""The page on the three documents names modules and names that exist, and figures of the audit."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "from-the-documents.md").read_text(encoding="utf-8")
AUDIT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)`(?: `(\w+)`)?", PAGE)


def test_there_are_places():
    assert len(NAMED) > 30


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_place_exists(file, name):
    assert (ROOT / "src" / "shoal" / file).is_file()
    if name:
        module = importlib.import_module("shoal." + file.removesuffix(".py").replace("/", "."))
        assert hasattr(module, name)


def test_every_loss_is_one_that_the_audit_certified():
    certified = {line.split(" | ")[3] for line in AUDIT.splitlines() if "| violated |" in line}
    losses = re.findall(r"(?:loses|loses up to|angles|polar angle|up to) (\d+\.\d+)", PAGE)
    assert len(losses) >= 10
    assert [loss for loss in losses if loss not in certified] == []


def test_the_choices_that_are_named_exist():
    from shoal.anonymize._policy import Search

    scores = Search.model_json_schema()["properties"]["score"]["enum"]
    assert {*re.findall(r"score: (\w+)", PAGE)} <= {*scores}
    code = "".join(file.read_text() for file in (ROOT / "src/shoal/cluster").rglob("*.py"))
    assert [m for m in re.findall(r'`method="([\w-]+)"`', PAGE) if f'"{m}"' not in code] == []
