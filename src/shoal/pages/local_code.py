"""Python that learns the same from the same reports, for the page that shows what was learnt."""

from collections.abc import Sequence
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

from shoal.cli.inputs.table import is_uri
from shoal.pages.local import Groups

__all__ = ["code"]


def code(groups: Groups, table: str, seed: int | None) -> str:
    """Lines that run as they stand, in the folder of the reports if that is on this machine.

    Parameters
    ----------
    groups, table, seed
        What was learnt; where the reports are; of the learner.
    """
    from shoal.cluster.local.frames import Gathered

    mechanism, method = groups.model.mechanism, groups.model.method_
    on_spark = isinstance(groups.heard.reports, Gathered)
    imports, read = (_on_spark if on_spark else _here)(table, mechanism, groups.names)
    seeded = "" if seed is None else f", random_state={seed}"
    return (
        f"{imports}import shoal\nfrom shoal.cluster.local.saving import mechanism_of\n\n"
        f"mechanism = mechanism_of(\n{_settings(mechanism)}\n)\n{read}"
        f"model = shoal.LocalClusterer(\n"
        f"    {groups.k}, mechanism=mechanism, method={method!r}{seeded}\n)\n"
        'model.fit(reports).save("model")\n'
        f"model.control({groups.without})  # the same without data"
    )


def _settings(mechanism: Any) -> str:
    """What made the reports, to the last digit."""
    from shoal.perturb.settings import settings_of

    return indent(pformat(settings_of(mechanism), width=76, sort_dicts=False), "    ")


def _here(table: str, mechanism: Any, names: Sequence[str]) -> tuple[str, str]:
    """Imports and lines that read a file; its folder is nobody else's."""
    name = Path(table).name
    columns = _columns(mechanism, names)
    values = f"np.column_stack([table[name] for name in {columns}])"
    if _is_cell(mechanism):
        values = f"table[{columns[0]!r}].to_numpy()"
    module, read = "pyarrow.parquet", "read_table"
    if name.endswith((".csv", ".csv.gz")):
        module, read = "pyarrow.csv", "read_csv"
    return (
        f"import numpy as np\nfrom {module} import {read}\n",
        f"table = {read}({name!r})\nreports = shoal.Reports({values}, mechanism)\n",
    )


def _on_spark(table: str, mechanism: Any, names: Sequence[str]) -> tuple[str, str]:
    """Imports and lines that read what Spark has; text of a CSV file is read as numbers there."""
    from shoal.engine.spark.schema import quoted

    where, imports = repr(table), ""
    if not is_uri(table):
        where, imports = f'"file://" + os.path.abspath({Path(table).name!r})', "import os\n"
    kind = "BIGINT" if _is_cell(mechanism) else "DOUBLE"
    columns = [
        f"CAST({name} AS {kind}) AS {name}" for name in map(quoted, _columns(mechanism, names))
    ]
    text = table.rstrip("/").endswith((".csv", ".csv.gz"))
    read = f"csv({where}, header=True)" if text else f"parquet({where})"
    return (
        f"{imports}from pyspark.sql import SparkSession\n",
        "spark = SparkSession.builder.getOrCreate()\n"
        f"frame = spark.read.{read}.selectExpr(\n    *{columns}\n)\n"
        "reports = shoal.cluster.FrameReports(frame, mechanism)\n",
    )


def _columns(mechanism: Any, names: Sequence[str]) -> list[str]:
    from shoal.perturb.shape import shape_of

    return list(shape_of(mechanism).names_out(tuple(names)))


def _is_cell(mechanism: Any) -> bool:
    from shoal.mechanisms import LocalGrid

    return isinstance(mechanism, LocalGrid)
