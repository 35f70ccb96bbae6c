"""Cells of an experiment, and the file that keeps what each gave: killed, it goes on from there.

A cell is the smallest piece that is run and kept: one part of a document at one setting, all its
draws. Finished cells are lines of one file, each flushed to the disk before the next; a line that a
killed process left in halves is skipped, and its cell is run again.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import AlreadyExists, InvalidSetting, sentence
from shoal.files import file_lock

Row = dict[str, Any]
NAME = "cells.jsonl"


@dataclass(frozen=True)
class Cell:
    """One part of a document at one setting.

    Parameters
    ----------
    part
        Which part, e.g. "utility".
    """

    part: str
    settings: Mapping[str, Any]
    cost: float = field(default=1.0, compare=False)

    @property
    def key(self) -> str:
        """Its name in the file of cells.

        Examples
        --------
        >>> Cell("noise", {"d": 2, "draws": 10}).key
        'noise {"d": 2, "draws": 10}'
        """
        return f"{self.part} {json.dumps(dict(self.settings), sort_keys=True)}"


class CellFile:
    """The finished cells of a run, in a folder.

    Parameters
    ----------
    folder
        The folder of the run; it is made.
    """

    def __init__(self, folder: Path, run: Mapping[str, Any]) -> None:
        self.folder = folder
        self.path = folder / NAME
        self._run = dict(run)
        self._rows: dict[str, list[Row]] = {}

    @contextmanager
    def opened(self) -> Iterator["CellFile"]:
        """Hold the folder alone, with the cells that earlier runs finished."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with file_lock(self.folder / ".lock") as holds:
            if not holds:
                raise AlreadyExists(
                    f"Another run is at work in {self.folder}.",
                    sentence("Wait for it, or choose another {output}."),
                )
            self._read()
            yield self

    def has(self, cell: Cell) -> bool:
        """Whether a cell is finished."""
        return cell.key in self._rows

    def rows(self, cells: Sequence[Cell]) -> list[Row]:
        """Return the rows of finished cells, each with its part and settings.

        Parameters
        ----------
        cells
            The cells, in the order of the rows; those that are not finished are left out.
        """
        return [
            {"part": cell.part, **cell.settings, **row}
            for cell in cells
            for row in self._rows.get(cell.key, ())
        ]

    def add(self, cell: Cell, rows: Sequence[Row], seconds: float) -> None:
        """Write a finished cell to the disk."""
        self._rows[cell.key] = list(rows)
        self._append({"cell": cell.key, "seconds": round(seconds, 3), "rows": list(rows)})

    def _read(self) -> None:
        self._rows.clear()
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        if text and not text.endswith("\n"):  # a process was killed in the middle of a line
            self._append_text("\n")
        lines = [line for line in map(_parsed, text.split("\n")) if line is not None]
        if not lines:
            self._append(self._run)
            return
        if lines[0] != self._run:
            raise InvalidSetting(
                f"{self.folder} holds another run: another document, edition or scale.",
                sentence("Choose another {output}, or remove that folder."),
                setting="output",
            )
        self._rows.update((line["cell"], line["rows"]) for line in lines[1:])

    def _append(self, line: Mapping[str, Any]) -> None:
        self._append_text(json.dumps(line) + "\n")

    def _append_text(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def _parsed(line: str) -> dict[str, Any] | None:
    """Return the content of a line; None for one that was not written to its end."""
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
