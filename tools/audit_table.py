"""Write the tables of "What the audit found" from the results of the last full run.

    python bench/audit.py && python bench/audit_power.py && python tools/audit_table.py

Nothing on that page that was measured is typed: what stands between its markers is made here from
``bench/results/audit.json`` and ``bench/results/audit_power.json``. The verdicts on what is ours
also go into ``src/shoal/audit/verdicts.json``, for `shoal verify`.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "audit.md"
RESULTS = ROOT / "bench" / "results"
SHIPPED = ROOT / "src" / "shoal" / "audit" / "verdicts.json"
HEADS = ("audited", "claimed", "certified", "draws a side", "verdict")
WITHOUT_DRAWS = ("ledger", "brute force")
Row = dict[str, Any]


def results(name: str) -> Row:
    """What a run left."""
    found: Row = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def rows_of(kind: str) -> list[Row]:
    """The verdicts of a kind."""
    return [row for row in results("audit")["rows"] if row["kind"] == kind]


def run() -> str:
    """When, with which version, at which level, from which seed."""
    audit = results("audit")
    minutes = sum(row["cpu_seconds"] for row in audit["rows"]) / 60
    return (
        f"Run on {audit['date']} with shoal {audit['shoal']}: {len(audit['rows'])} audits, "
        f"alpha {audit['alpha']:g} each, seed {audit['seed']}, {minutes:.0f} CPU minutes."
    )


def mechanisms() -> str:
    """Every mechanism."""
    return _table(HEADS, [_cells(row) for row in rows_of("mechanisms")])


def estimators() -> str:
    """Every estimator; a note where fewer fits were made than the case asks for."""
    rows = rows_of("estimators")
    table = _table(HEADS, [_cells(row) for row in rows])
    fewer = [row for row in rows if row["draws"] < row["own_draws"]]
    if not fewer:
        return table
    own = max(row["own_draws"] for row in fewer)
    return (
        f"{table}\n\n{len(fewer)} of these had fewer fits than the {own:,} that `make slow` makes."
    )


def twins() -> str:
    """Every broken form, with what must be found of it, and what found it."""
    heads = ("twin", "claimed", "reference", "certified", "draws a side", "by", "verdict")
    return _table(heads, [_twin(row) for row in rows_of("twins")])


def alarms() -> str:
    """How often correct mechanisms were called violated."""
    rows = rows_of("alarms")
    wrong = sum(row["verdict"] == "violated" for row in rows)
    largest = max(row["certified"] / row["claimed"] for row in rows)
    return (
        f"Of {len(rows)} audits of correct mechanisms, a seed each, at {rows[0]['draws']:,} draws "
        f"a side and alpha {results('audit')['alpha']:g}, {wrong} said `violated`. The largest "
        f"bound was {largest:.3f} of its claim."
    )


def power() -> str:
    """The smallest overspend that is seen, by mechanism and number of columns."""
    rows = results("audit_power")["rows"]
    first = rows[0]
    lines = [
        [f"`{row['mechanism']}`", str(row["columns"]), row["instrument"], _factor(row)]
        for row in rows
    ]
    table = _table(("mechanism", "columns", "by", "smallest factor seen"), lines)
    return f"{table}\n\n{first['draws']:,} draws a side, alpha {first['alpha']:g}."


def _factor(row: Row) -> str:
    factor = row["smallest_factor_caught"]
    return "none up to 4" if factor is None else f"{factor:g}"


def _cells(row: Row) -> list[str]:
    return [row["name"], *_numbers(row, "claimed", "certified"), _draws(row), row["verdict"]]


def _twin(row: Row) -> list[str]:
    numbers = _numbers(row, "claimed", "must_show", "certified")
    by = row["instrument"].removeprefix("lower bound by ")
    return [row["name"], *numbers, _draws(row), by, row["verdict"]]


def _numbers(row: Row, *names: str) -> list[str]:
    return [f"{row[name]:.3g}" for name in names]


def _draws(row: Row) -> str:
    return "" if row["instrument"] in WITHOUT_DRAWS else f"{row['draws']:,}"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


PARTS = {
    "run": run,
    "mechanisms": mechanisms,
    "estimators": estimators,
    "twins": twins,
    "alarms": alarms,
    "power": power,
}


def with_tables(page: str) -> str:
    """The page with what stands between its markers made anew."""
    for name, made in PARTS.items():
        begin, end = f"<!-- {name}: by tools/audit_table.py -->", f"<!-- {name}: end -->"
        new = f"{begin}\n\n{made()}\n\n{end}"
        page, found = re.subn(f"{begin}.*?{end}", lambda _, new=new: new, page, flags=re.DOTALL)
        assert found == 1, f"the page has no place for {name}"
    return page


def shipped() -> str:
    """The verdicts on what is ours, by drawing and by replaying, as the package has them."""
    audit, replay = results("audit"), results("replay")
    drawn = [row for kind in ("mechanisms", "estimators") for row in rows_of(kind)]
    replayed = [row for row in replay["rows"] if row["kind"] == "families"]
    verdicts = [
        {"name": row["name"], "by": by, "verdict": row["verdict"]}
        for by, rows in (("draws", drawn), ("replay", replayed))
        for row in rows
    ]
    about = {"schema": "shoal.audit-verdicts/1", "shoal": audit["shoal"], "date": audit["date"]}
    return json.dumps(about | {"verdicts": verdicts}, indent=1) + "\n"


if __name__ == "__main__":
    SHIPPED.write_text(shipped(), encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
