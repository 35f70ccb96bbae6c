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

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.anonymize._estimator import (
        OutputSettings,
        SearchSettings,
        TopDownSpecialization,
    )
    from shoal.anonymize._explore import ExploredSetting, TrialFile, explore, settings_to_explore
    from shoal.anonymize._frequency_table import FrequencyTable, count_combinations
    from shoal.anonymize._new_row_labels import LabelFinder
    from shoal.anonymize._policy import Policy, guarantee_of, policy_of, read_policy
    from shoal.anonymize.hierarchies import Hierarchy, read_hierarchy, write_arx
    from shoal.anonymize.release._result import RunResult
    from shoal.anonymize.release._run import run_policy
    from shoal.anonymize.risk._recount import AchievedPrivacy, recount
    from shoal.anonymize.search_problem import Metrics

_MODULE_OF = {
    "AchievedPrivacy": "risk._recount",
    "FrequencyTable": "_frequency_table",
    "Hierarchy": "hierarchies",
    "LabelFinder": "_new_row_labels",
    "Metrics": "search_problem",
    "OutputSettings": "_estimator",
    "Policy": "_policy",
    "RunResult": "release._run",
    "SearchSettings": "_estimator",
    "TopDownSpecialization": "_estimator",
    "ExploredSetting": "_explore",
    "TrialFile": "_explore",
    "count_combinations": "_frequency_table",
    "explore": "_explore",
    "guarantee_of": "_policy",
    "policy_of": "_policy",
    "read_hierarchy": "hierarchies",
    "read_policy": "_policy",
    "recount": "risk._recount",
    "run_policy": "release._run",
    "settings_to_explore": "_explore",
    "write_arx": "hierarchies",
}

__all__ = [
    "AchievedPrivacy",
    "ExploredSetting",
    "FrequencyTable",
    "Hierarchy",
    "LabelFinder",
    "Metrics",
    "OutputSettings",
    "Policy",
    "RunResult",
    "SearchSettings",
    "TopDownSpecialization",
    "TrialFile",
    "count_combinations",
    "explore",
    "guarantee_of",
    "policy_of",
    "read_hierarchy",
    "read_policy",
    "recount",
    "run_policy",
    "settings_to_explore",
    "write_arx",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
