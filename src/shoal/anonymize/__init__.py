"""k-anonymity: generalise the quasi-identifiers of a table until k people share each combination.

A table is read once and counted; a search decides under which labels its rows are published; the
release is written, counted again by the definitions, and only then given its name. Words that the
modules share:

- **policy**: which column is what, what is promised, how to search and where to write.
- **quasi-identifier** (QID): a column by which someone might be recognised. There are d of them.
- **hierarchy**: what the values of a QID may be generalised to; its tree is a *taxonomy*.
- **place**: the number of a node in ``taxonomy.nodes``; 0 is the root. **code**: the number of a
  leaf. A code is not a place: ``Tree.leaf`` leads from one to the other.
- **row**: a row of the table. **line**: a distinct combination of QIDs, of sensitive values and,
  if people have several rows, of the person. There are F lines; line i stands for ``n[i]`` rows.
- **frequency table**: all lines. A search sees these and never the rows.
- **label**: the node under which a line is published on a QID. **class**: the published lines
  whose labels agree on every QID. The rules are about classes: k people in each, varied sensitive
  values (l), values distributed as in the whole table (t).
- **cut**: for each QID the nodes that are published, which together cover every leaf; *global*
  recoding has one for all rows, *local* recoding has none.
- **split**: to replace a node of the cut by its children. **score**: what makes one split better
  than another. **objective**: what makes one finished release better than another.
- **suppressed**: not published; a line is suppressed whole. **starred**: suppressed, but published
  as a row of ``*``. **budget**: how many rows may be suppressed.
- **outcome**: the labels and suppressed lines that a search returns. **release**: what becomes of
  each line when the table is written.
- **person**: the column that says whose a row is; k counts people where it is given, else rows.
- **register**: fingerprints of the people of all releases under one cut, for their holder alone.
- **manifest**: what may be published about a release.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize._label_finder import LabelFinder
    from shoal.anonymize._specialization import (
        OutputSettings,
        SearchSettings,
        TopDownSpecialization,
    )
    from shoal.anonymize.frequency_table import FrequencyTable, count_combinations
    from shoal.anonymize.hierarchies import Hierarchy, read_hierarchy, write_arx
    from shoal.anonymize.policy import Policy, read_policy
    from shoal.anonymize.release.result import RunResult
    from shoal.anonymize.release.run import run_policy
    from shoal.anonymize.risk.recount import AchievedPrivacy, recount

_MODULE_OF = {
    "AchievedPrivacy": "risk.recount",
    "RunResult": "release.run",
    "FrequencyTable": "frequency_table",
    "Hierarchy": "hierarchies",
    "LabelFinder": "_label_finder",
    "OutputSettings": "_specialization",
    "Policy": "policy",
    "SearchSettings": "_specialization",
    "TopDownSpecialization": "_specialization",
    "count_combinations": "frequency_table",
    "read_hierarchy": "hierarchies",
    "read_policy": "policy",
    "recount": "risk.recount",
    "run_policy": "release.run",
    "write_arx": "hierarchies",
}

__all__ = [
    "AchievedPrivacy",
    "FrequencyTable",
    "Hierarchy",
    "LabelFinder",
    "OutputSettings",
    "Policy",
    "RunResult",
    "SearchSettings",
    "TopDownSpecialization",
    "count_combinations",
    "read_hierarchy",
    "read_policy",
    "recount",
    "run_policy",
    "write_arx",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since running a policy needs no scikit-learn."""
    if name in _MODULE_OF:
        return getattr(import_module(f"shoal.anonymize.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'shoal.anonymize' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
