"""The notebooks of the documentation run from top to bottom and show what is stored in them."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
notebooks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(notebooks)
FILES = sorted(notebooks.FOLDER.glob("*.ipynb"))


def texts(notebook):
    """What is printed and shown as text; pictures are held to their numbers elsewhere."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        "".join(output.get("text") or output["data"]["text/plain"])
        for cell in code
        for output in cell["outputs"]
    ]


def test_there_are_three():
    assert [file.stem for file in FILES] == ["groups", "hand-over-a-table", "local-reports"]


@pytest.mark.heavy
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_shows_what_it_computes(file):
    """If not: ``python tools/notebooks.py``."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert texts(notebooks.executed(stored)) == texts(stored) != []
    assert stored["nbformat"] == 4


def test_pictures_and_tables_are_stored_as_html():
    stored = json.loads((notebooks.FOLDER / "groups.ipynb").read_text(encoding="utf-8"))
    shown = [o["data"] for c in stored["cells"] for o in c.get("outputs", ()) if "data" in o]
    html = "".join("".join(each.get("text/html", ())) for each in shown)
    assert "<table" in html
    assert "data:image/svg+xml;base64," in html
