"""Python code on pages of groups: that which releases or learns the same again."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.estimator import person_and_limit
from shoal.privacy import ApproxDP, Unprotected, exact_text

if TYPE_CHECKING:
    from shoal.domain import Box


class CodeFiles(NamedTuple):
    """The files that code on a page names.

    Parameters
    ----------
    folder
        Where the model is saved; None for a name that says what is in it.
    """

    table: str = "table.csv"
    domain: str = "domain.yaml"
    folder: str | None = None

    def fit_line(self, folder: str) -> str:
        """Return the line that fits a model and saves it, by default to this folder."""
        table, place = map(_quoted, (self.table, self.folder or folder))
        return f"model.fit({table}).save({place})"

    def load_text(self) -> str:
        """Return the code that reads what is public."""
        return f"shoal.Schema.load({_quoted(self.domain)})"


USUAL_FILES = CodeFiles()


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def estimator_code(model: Any, first: str, files: CodeFiles = USUAL_FILES, **own: Any) -> str:
    """Return Python code that fits the same estimator to a table of one's own.

    Parameters
    ----------
    model
        A private estimator; settings of it that are as by default are left out.
    **own
        The method's own settings; those that are None are left out.
    """
    given = _given_settings(model, own)
    more = "".join(f"\n    {name}={value!r}," for name, value in given.items())
    whose = _schema_code(model)
    return (
        f"import shoal\n{_imports(given.values())}\nbox = {_box_code(model.box)}\n{whose}"
        f"model = shoal.{type(model).__name__}(\n"
        f"    {first}{_promise_code(model)}, domain={'schema' if whose else 'box'},{more}\n)\n"
    ) + files.fit_line("model")


def mixed_code(model: Any, files: CodeFiles = USUAL_FILES) -> str:
    """Return Python code that fits the same estimator to a table with categories of one's own."""
    more = "".join(f", {name}={value!r}" for name, value in _given_settings(model, {}).items())
    return (
        f"import shoal\n\nschema = {files.load_text()}\n"
        f"model = shoal.cluster.PrivateKPrototypes(\n    {model.n_clusters_}, "
        f"{_promise_code(model)}, domain=schema{more}\n)\n"
    ) + files.fit_line("groups")


def _given_settings(model: Any, own: dict[str, Any]) -> dict[str, Any]:
    """Return settings that are not as by default."""
    options = own | {
        "clipping": "accept" if model.clipping == "accept" else None,
        "n_public": model.n_public,
        "nonfinite": "drop" if model.nonfinite == "drop" else None,
        "random_state": model.random_state,
    }
    return {name: value for name, value in options.items() if value is not None}


def _imports(values: Iterable[Any]) -> str:
    """Return lines that import the classes of settings that are objects."""
    kinds = sorted({(type(value).__module__, type(value).__name__) for value in values
                    if hasattr(value, "get_params")})  # fmt: skip
    return "".join(f"from {module.rpartition('.')[0]} import {name}\n" for module, name in kinds)


def _promise_code(model: Any) -> str:
    """Return the parameter that states the promise."""
    promise = model._promise()
    if isinstance(promise, Unprotected):
        return f"privacy=shoal.Unprotected({promise.reason!r})"
    amounts = [repr(exact_text(promise.epsilon))]
    if isinstance(promise, ApproxDP):
        amounts.append(repr(exact_text(promise.delta)))
    elif promise.neighbours == "add-remove":
        return f"epsilon={amounts[0]}"
    if promise.neighbours != "add-remove":
        amounts.append(f"neighbours={promise.neighbours!r}")
    return f"privacy=shoal.{type(promise).__name__}({', '.join(amounts)})"


def _schema_code(model: Any) -> str:
    """Return the line that says whose the rows are, where that is known."""
    person, limit = person_and_limit(model.domain)
    if person is None:
        return ""
    return f"schema = shoal.Schema.of_box(box, person={person!r}, max_rows_per_person={limit!r})\n"


def _box_code(box: "Box") -> str:
    names, low, high = list(box.names), box.low.tolist(), box.high.tolist()
    mark = ".simulated()" if box.simulation else ""
    if box.distance_unit != "km":
        return f"shoal.Box.of({names!r},\n                   {low!r}, {high!r}){mark}"
    ends = zip(names, low, high, strict=True)
    sides = ", ".join(f"{name!r}: ({first!r}, {last!r})" for name, first, last in ends)
    return f"shoal.Box.geo(**{{{sides}}}){mark}"


def learner_code(
    model: Any,
    table: str,
    names: Sequence[str],
    *,
    control_reports: int,
    seed: int | None,
    is_distributed: bool,
) -> str:
    """Return Python code that learns the same from the same reports.

    The lines run as they stand, in the folder of the reports if that is on this machine.
    """
    mechanism = model._reports_mechanism
    imports, read = (_read_on_spark if is_distributed else _read_here)(table, mechanism, names)
    seeded = "" if seed is None else f", random_state={seed}"
    settings = _mechanism_settings(mechanism)
    return (
        f"{imports}import shoal\nfrom shoal.cluster.local._saving import mechanism_of\n\n"
        f"mechanism = mechanism_of(\n{settings}\n)\n{read}"
        f"model = shoal.LocalClusterer(\n"
        f"    {len(model.cluster_centers_)}, mechanism=mechanism, method={model.method_!r}{seeded}"
        '\n)\nmodel.fit(reports).save("model")\n'
        f"model.control({control_reports})  # the same without data"
    )


def _mechanism_settings(mechanism: Any) -> str:
    """Return the settings of the mechanism, with all digits."""
    from shoal.perturb import settings_of

    return indent(pformat(settings_of(mechanism), width=76, sort_dicts=False), "    ")


def _read_here(table: str, mechanism: Any, names: Sequence[str]) -> tuple[str, str]:
    """Return imports and lines that read a file of this machine."""
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


def _read_on_spark(table: str, mechanism: Any, names: Sequence[str]) -> tuple[str, str]:
    """Return imports and lines that read a table with Spark; text of CSV becomes numbers."""
    from shoal.engine.spark import quote_name

    where, imports = repr(table), ""
    if not _is_uri(table):
        where, imports = f'"file://" + os.path.abspath({Path(table).name!r})', "import os\n"
    kind = "BIGINT" if _is_cell(mechanism) else "DOUBLE"
    columns = [
        f"CAST({name} AS {kind}) AS {name}" for name in map(quote_name, _columns(mechanism, names))
    ]
    text = table.rstrip("/").endswith((".csv", ".csv.gz"))
    read = f"csv({where}, header=True)" if text else f"parquet({where})"
    return (
        f"{imports}from pyspark.sql import SparkSession\n",
        "spark = SparkSession.builder.getOrCreate()\n"
        f"frame = spark.read.{read}.selectExpr(\n    *{columns}\n)\n"
        "reports = shoal.cluster.FrameReports(frame, mechanism)\n",
    )


def _is_uri(path: str) -> bool:
    return "://" in path or path.startswith("file:")


def _columns(mechanism: Any, names: Sequence[str]) -> list[str]:
    from shoal.perturb import shape_of

    return list(shape_of(mechanism).names_out(tuple(names)))


def _is_cell(mechanism: Any) -> bool:
    from shoal.mechanisms import LocalGrid

    return isinstance(mechanism, LocalGrid)
