"""One row a person from tables of events: whole numbers, grouped by person, divided once.

- *encoded line*: a row of a table as whole numbers, and whose it is.
- *query*: one of four forms over encoded lines, each with one line a person.
- *joined result*: the queries' lines of a person side by side, before any division.
"""

from shoal.engine.feature_table._embedded import FeatureTally
from shoal.engine.feature_table._plan import public_rows
from shoal.engine.feature_table._table import FeatureTable, features

__all__ = ["FeatureTable", "FeatureTally", "features", "public_rows"]
