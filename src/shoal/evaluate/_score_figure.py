"""Draw the scores of a clustering beside its control and its shuffled value."""

import pyarrow as pa

from shoal.errors import InvalidSetting
from shoal.figures import ScoreMarks, score_marks

_TITLES = {
    "ami": "AMI",
    "ari": "ARI",
    "nmi": "NMI",
    "rand_index": "Rand index",
    "fowlkes_mallows": "Fowlkes-Mallows",
    "silhouette": "Silhouette",
    "gower_silhouette": "Gower silhouette",
}


def score_picture(
    table: pa.Table, title: str = "Scores, and what is reached without data"
) -> ScoreMarks:
    """Draw the scores that end at 1, each with its control and its shuffled value.

    It is for the holder of the rows only, like the table.

    Parameters
    ----------
    table
        The table that ``score`` returned.
    title
        The title of the figure.

    Examples
    --------
    >>> from shoal.evaluate import score
    >>> score_picture(score([0, 0, 1, 1], against=[0, 0, 1, 1])).kind
    'score_marks'
    """
    known = {"score", "value", "plain", "control", "shuffled"} <= {*table.column_names}
    lines = table.to_pylist() if known else []
    drawn = {_TITLES[line["score"]]: line for line in lines if line["score"] in _TITLES}
    marks = {
        name: {mark: line[mark] for mark in ("value", "plain", "control", "shuffled")}
        for name, line in drawn.items()
        if line["value"] is not None
    }
    if not marks:
        raise InvalidSetting(
            "The table has no score to draw.", "Pass what shoal.evaluate.score returned."
        )
    return score_marks(marks, title=title)
