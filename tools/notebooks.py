"""Run the notebooks of the documentation and store what their cells show.

    python tools/notebooks.py

Cells are run by Python itself, so no Jupyter is needed: what a cell prints and what its last
expression shows, as text and as HTML, is stored as Jupyter would store it.
"""

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
Output = dict[str, Any]


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of a run from top to bottom, in an empty folder."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    cells, number, here = [], 0, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                filled = cell
                if cell["cell_type"] == "code":
                    number += 1
                    outputs = run("".join(cell["source"]), scope, number)
                    filled = {**cell, "execution_count": number, "outputs": outputs}
                cells.append(filled)
        finally:
            os.chdir(here)
    return {**notebook, "cells": cells}


def run(source: str, scope: dict[str, Any], number: int) -> list[Output]:
    """Run a cell; what it printed, and what its last expression shows."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), scope)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())}
        )
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {},
             "data": shown(value)}
        )  # fmt: skip
    return outputs


def shown(value: Any) -> dict[str, list[str]]:
    """What Jupyter shows of a value."""
    data = {"text/plain": lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    return data if html is None else {"text/html": lines(html()), **data}


def lines(text: str) -> list[str]:
    """Text as notebooks store it."""
    return text.splitlines(keepends=True)


def text_of(notebook: dict[str, Any]) -> str:
    """A notebook as its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        path.write_text(text_of(executed(json.loads(path.read_text(encoding="utf-8")))), "utf-8")
        print(path)
