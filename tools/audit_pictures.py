"""Draw the pictures of "Audit a promise": one that is kept, as far as is seen, and one that is not.

python tools/audit_pictures.py
"""

from pathlib import Path

from shoal.audit import mechanisms
from shoal.audit.twins import twins

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
CASES = {
    "audit-consistent": mechanisms["duchi d=2, half flipped"],
    "audit-violated": twins["Duchi with ties in both halves, d = 2"],
}


def main() -> None:
    """Both on the same pair, at the same number of draws."""
    for name, case in CASES.items():
        found = case.run(random_state=1)
        (PICTURES / f"{name}.svg").write_text(found.plot().svg())
        print(f"{name}: {found}\n")


if __name__ == "__main__":
    main()
