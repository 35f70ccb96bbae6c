"""Every example of README.md and of the pages runs as it stands, and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r'^```(\w+)(?: title="([\w.]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
SAID = re.compile(r"^# -> (.*)$", re.MULTILINE)


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def printed_by(block: str, scope: dict[str, object]) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(block, scope)
    return out.getvalue().splitlines()


@pytest.mark.heavy
@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=page_name)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    """One after another, in a folder of their own; a block with a title is a file there."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for language, title, block in FENCE.findall(page.read_text()):
        if title:
            Path(title).write_text(block)
        elif language == "python":
            assert printed_by(block, scope) == SAID.findall(block)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_no_example_escapes_the_test_above(page):
    text = page.read_text()
    fences = [line for line in text.splitlines() if "```" in line or "~~~" in line]
    assert len(fences) == 2 * len(FENCE.findall(text))
    assert text.count("```py") == text.count("```python\n")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_examples_fit_a_page_of_the_site(page):
    lines = [line for *_, block in FENCE.findall(page.read_text()) for line in block.splitlines()]
    assert [line for line in lines if len(line) > 84] == []
