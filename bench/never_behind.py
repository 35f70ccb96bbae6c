"""Loss of released files, computed from the file and the hierarchies alone, beside ARX's.

For Adult (nine quasi-identifiers), German credit (seven) and OULAD (six, k counted in students) at
k = 5, 10, 50 and 0, 2, 5 % suppressed or local recoding, a table is released to a CSV file. What is
printed of it, its loss and its smallest class, is computed by the functions ``loss_of`` and
``smallest_class`` below, which read the released file and the hierarchies' files and nothing of the
search. OULAD's file does not tell people apart, so its smallest class is in rows here. The loss is
the mean normalised certainty penalty: (leaves of a label - 1) / (leaves - 1), 1 for a row that is
missing. A release is searched for with all leaves of the hierarchies, ``loss``; ARX's figures
(3.9.2, optimal, the same rows and hierarchies: ``ARX``) count the leaves that occur in the table
alone, and so does ``loss, occurring``, the column to hold beside them.
"""

import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv
import yaml
from adult_rows import DATA, QUASI, adult
from measure import write

from shoal.anonymize import run_policy

ARX = {
    (5, "0 %"): 0.6355, (5, "2 %"): 0.3693, (5, "5 %"): 0.2811, (5, "local"): 0.0635,
    (10, "0 %"): 0.6355, (10, "2 %"): 0.3909, (10, "5 %"): 0.3293, (10, "local"): 0.0885,
    (50, "0 %"): 0.6355, (50, "2 %"): 0.5379, (50, "5 %"): 0.4678, (50, "local"): 0.1624,
}  # fmt: skip
HOW = {
    "0 %": (0.0, "global"),
    "2 %": (0.02, "global"),
    "5 %": (0.05, "global"),
    "local": (0.0, "local"),
}
GERMAN = (
    "age", "purpose", "employment_since", "personal_status_sex", "housing", "job", "foreign_worker",
)  # fmt: skip
OULAD_POLICY = Path(__file__).parent.parent / "docs/policies/oulad.yaml"


def loss_of(
    released: Path,
    hierarchies: dict[str, Path],
    rows: int,
    values: dict[str, set[str]] | None = None,
) -> float:
    """The mean penalty of ``rows`` rows; those that the file does not have cost 1.

    With ``values``, only these leaves of each hierarchy count.
    """
    leaves = {
        name: _leaves_of_labels(path, values and values[name]) for name, path in hierarchies.items()
    }
    total, published = 0.0, 0
    with released.open() as file:
        for row in csv.DictReader(file):
            costs = [(of[row[name]] - 1) / (max(of.values()) - 1) for name, of in leaves.items()]
            total += sum(costs) / len(costs)
            published += 1
    return (total + rows - published) / rows


def smallest_class(released: Path, names: list[str]) -> int:
    """How many rows share the rarest combination of labels."""
    with released.open() as file:
        return min(
            Counter(tuple(row[name] for name in names) for row in csv.DictReader(file)).values()
        )


def values_of(table: Path, names: list[str]) -> dict[str, set[str]]:
    """The values of each column; an empty cell is a missing one."""
    with table.open() as file:
        rows = list(csv.DictReader(file))
    return {name: {row[name] or "<null>" for row in rows} for name in names}


def _leaves_of_labels(path: Path, values: set[str] | None) -> dict[str, int]:
    leaves: dict[str, set[str]] = {}
    with path.open() as file:
        for line in csv.reader(file, delimiter=";"):
            for label in line if values is None or line[0] in values else ():
                leaves.setdefault(label, set()).add(line[0])
    return {label: len(below) for label, below in leaves.items()}


def tables(folder: Path) -> Iterator[tuple[str, Path, dict[str, Path], dict[str, Any], int]]:
    """Name, file, hierarchies, further columns and rows of each table."""
    rows = adult()
    pyarrow.csv.write_csv(rows, folder / "adult.csv")
    files = {n: "salary-class" if n == "income" else n for n in QUASI}
    of_adult = {n: DATA / f"hierarchies/adult_hierarchy_{f}.csv" for n, f in files.items()}
    yield "adult", folder / "adult.csv", of_adult, {}, len(rows)
    yield from _german(folder)
    yield from _oulad(folder)


def _german(folder: Path) -> Iterator[Any]:
    table = pyarrow.csv.read_csv(DATA.parent / "credit/german_credit.csv")
    hierarchies = {}
    for name in GERMAN:
        values = sorted(set(table[name].to_pylist()))
        paths = [[str(value), "*"] for value in values]
        if name == "age":
            widths = (5, 10, 20, 40)
            paths = [
                [str(v), *(f"{v // w * w} to {v // w * w + w - 1}" for w in widths), "*"]
                for v in range(0, 80)
            ]
        hierarchies[name] = _written(folder / f"german-{name}.csv", paths)
    pyarrow.csv.write_csv(table.select(list(GERMAN)), folder / "german.csv")
    yield "german", folder / "german.csv", hierarchies, {}, len(table)


def _oulad(folder: Path) -> Iterator[Any]:
    content = yaml.safe_load(OULAD_POLICY.read_text())["attributes"]
    path = DATA.parent / "education/oulad_student_info.csv"
    hierarchies = {
        name: _written(folder / f"oulad-{name}.csv", _paths(entry["hierarchy"]["tree"]))
        for name, entry in content.items()
        if entry["role"] == "quasi"
    }
    others = {n: e for n, e in content.items() if e["role"] != "quasi"}
    others["final_result"] = {"role": "other"}
    with path.open() as file:
        yield "oulad", path, hierarchies, others, sum(1 for _ in file) - 1


def _paths(tree: dict[str, Any]) -> list[list[str]]:
    """Rows of an ARX file, the missing value as one more leaf, chains filled up to equal length."""
    (root, below), paths = next(iter(tree.items())), [["<null>", "<null>", "*"]]
    groups = below.items() if isinstance(below, dict) else ((leaf, [leaf]) for leaf in below)
    paths += [[str(leaf), str(group), root] for group, leaves in groups for leaf in leaves]
    return paths


def _written(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    return path


def release(
    table: Path, hierarchies: dict[str, Path], others: Any, k: int, how: str, out: Path
) -> None:
    """Release a table to a CSV file."""
    suppression, recoding = HOW[how]
    quasi = {
        name: {
            "role": "quasi",
            "hierarchy": {"file": str(path), "format": "arx", "labels": "opaque"},
        }
        for name, path in hierarchies.items()
    }
    person = {"person": "id_student"} if "id_student" in others else {}
    run_policy(
        {
            "version": 1,
            "input": {"path": str(table), "null_values": [""]},
            "attributes": quasi | others,
            "privacy": {"k": k, "suppression": suppression, **person},
            "search": {"recoding": recoding},
            "output": {"path": str(out)},
        },
        overwrite=True,
    )


def main(wanted: list[str]) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, table, hierarchies, others, n in tables(folder):
            if wanted and name not in wanted:
                continue
            values = values_of(table, list(hierarchies))
            for k in (5, 10, 50):
                for how in HOW:
                    out = folder / "out.csv"
                    release(table, hierarchies, others, k, how, out)
                    row: dict[str, Any] = {"table": name, "k": k, "suppressed": how}
                    row["loss"] = round(loss_of(out, hierarchies, n), 5)
                    row["loss, occurring"] = round(loss_of(out, hierarchies, n, values), 5)
                    row["ARX"] = ARX.get((k, how), "") if name == "adult" else ""
                    row["smallest class"] = smallest_class(out, list(hierarchies))
                    rows.append(row)
                    print(*row.values(), flush=True)
    write("never-behind", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
