"""What one row a person is made of, as one closed file of public statements.

The words of this package:

- *features file*: which tables there are, what is public about them, and what is computed.
- *feature*: one number a person, computed from this person's rows and from public things alone.
- *aggregate*: how rows become a number: ``count``, ``mean``, ``days``, ...
- *condition*: which rows an aggregate takes, by whole numbers: codes, steps, hours, days.
- *step*: the unit in which a column of numbers is added up, so that sums are whole numbers.
- *public table*: one that says nothing about the people, by the statement of a named source.
"""

from shoal.domain.features._definition import (
    Category,
    Condition,
    Crosswalk,
    EventTable,
    Feature,
    FeaturesFile,
    IdRules,
    Number,
    PeopleTable,
    PublicTable,
    Text,
    columns_of,
)
from shoal.domain.features._period import Period

__all__ = [
    "Category",
    "Condition",
    "Crosswalk",
    "EventTable",
    "Feature",
    "FeaturesFile",
    "IdRules",
    "Number",
    "PeopleTable",
    "Period",
    "PublicTable",
    "Text",
    "columns_of",
]
