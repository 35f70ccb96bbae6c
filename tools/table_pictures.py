"""Draw the pictures of "Hand over a table": made-up students, and the students of OULAD.

SHOAL_DATA=../shared/data python tools/table_pictures.py
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import shoal
import shoal.figures
from shoal.anonymize import problem_of, read_policy, run_policy
from shoal.anonymize.risk._reidentification import leaf_class_sizes
from shoal.pages.table import page

DOCS = Path(__file__).parents[1] / "docs"
OULAD = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "education/oulad_student_info.csv"


def main() -> None:
    """For each table its classes before and after, and what is kept of each column."""
    _draw("students", shoal.students(3_000, seed=1))
    if OULAD.is_file():
        _draw("oulad", str(OULAD))
    else:
        print("OULAD is not here; set SHOAL_DATA")


def _draw(name: str, table: Any) -> None:
    policy = read_policy(DOCS / "policies" / f"{name}.yaml")
    of = "people" if policy.privacy.person else "rows"
    sizes = leaf_class_sizes(problem_of(policy, table).problem)
    title = f"Before: how many in 100 {of} are in groups of which size"
    before = shoal.figures.class_sizes(sizes, k=policy.privacy.k, of=of, title=title)
    with tempfile.TemporaryDirectory() as folder:
        policy._folder = Path(folder)
        after = page(run_policy(policy, table)).figures
    for part, figure in zip(("before", "after", "kept"), (before, *after), strict=True):
        (DOCS / "pictures" / f"table-{name}-{part}.svg").write_text(figure.svg())


if __name__ == "__main__":
    main()
