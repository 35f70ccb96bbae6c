"""Build hierarchies over a public list of values: in its order, or by how common they are.

The list is written into the policy, so labels say nothing about the table's own rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.anonymize.hierarchies._files import hierarchy_from_paths
from shoal.anonymize.hierarchies._hierarchy import Hierarchy
from shoal.domain.value_text import normalise_text, value_to_text


def build_ordered(values: Sequence[Any], fanout: int = 2) -> Hierarchy:
    """Merge neighbours of an ordered list, ``fanout`` at a time, level by level.

    Parameters
    ----------
    values
        The values in their order.
    fanout
        How many neighbours make one label of the next level.

    Examples
    --------
    >>> for path in build_ordered(["none", "school", "college", "degree", "doctor"]).paths():
    ...     print(path)
    ['none', 'none to school', 'none to degree', '*']
    ['school', 'none to school', 'none to degree', '*']
    ['college', 'college to degree', 'none to degree', '*']
    ['degree', 'college to degree', 'none to degree', '*']
    ['doctor', 'doctor', 'doctor', '*']
    """
    return _merged(values, fanout, lambda group: f"{group[0]} to {group[-1]}")


def build_by_frequency(counts: Mapping[Any, float], fanout: int = 2) -> Hierarchy:
    """Merge values that are about equally common, ``fanout`` at a time, level by level.

    Parameters
    ----------
    counts
        How common each value is in public, e.g. in a census; not in the table itself.
    fanout
        How many values make one label of the next level.

    Examples
    --------
    >>> for path in build_by_frequency({"rare": 1, "common": 90, "usual": 70, "odd": 2}).paths():
    ...     print(path)
    ['common', 'common and 1 more', '*']
    ['usual', 'common and 1 more', '*']
    ['odd', 'odd and 1 more', '*']
    ['rare', 'odd and 1 more', '*']
    """
    falling = sorted(counts, key=lambda value: -counts[value])
    return _merged(falling, fanout, lambda group: f"{group[0]} and {len(group) - 1} more")


def _merged(values: Sequence[Any], fanout: int, label: Any) -> Hierarchy:
    texts = [normalise_text(value_to_text(value)) for value in values]
    paths, width = [[text] for text in texts], fanout
    while width < len(texts):
        for at, path in enumerate(paths):
            group = texts[at // width * width :][:width]
            path.append(label(group) if len(group) > 1 else group[0])
        width *= fanout
    return hierarchy_from_paths([[*path, "*"] for path in paths], "Its list", opaque=True)
