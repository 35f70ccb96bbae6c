"""``shoal version``: the versions of the parts, to quote in a report of a problem."""

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output

_PARTS = ("numpy", "scipy", "scikit-learn", "pyarrow", "duckdb", "randomgen")
_EXTRAS = ("pyspark", "fastapi", "adversarial-robustness-toolbox")


def version(json: Json = False, quiet: Quiet = False) -> None:
    """Show the versions of shoal and of the parts it runs on.

    **Examples**

        shoal version
        shoal version --json
    """
    from rich.table import Table

    parts = {"shoal": version_of("shoal"), "python": platform.python_version()}
    parts |= {
        name: installed for name in _PARTS + _EXTRAS if (installed := _installed_version(name))
    }
    table = Table.grid(padding=(0, 2))
    for name, number in parts.items():
        table.add_row(name, number)
    Output(json, quiet).result(parts, table)


def _installed_version(name: str) -> str | None:
    try:
        return version_of(name)
    except PackageNotFoundError:  # an extra that is not installed
        return None
