"""What cells about privacy do: the membership game of the thesis."""

from sklearn.ensemble import RandomForestClassifier

from shoal.audit import membership_inference
from shoal.experiments._cells import Row
from shoal.experiments.nd_laplace._data import data_named
from shoal.experiments.nd_laplace._mechanisms import mechanism_of
from shoal.experiments.nd_laplace._utility_cells import kmeans_labels, standardised


def privacy(
    data: str, mechanism: str, epsilon: float, query: str, games: int, shadows: int
) -> list[Row]:
    """Play the membership game of the thesis: shadow models, random forests, labels by k-means.

    Parameters
    ----------
    mechanism
        What members pass; "none" for the baseline.
    query
        "true" or "perturbed": by which record the adversary asks.
    """
    table = data_named(data)
    made = None
    if mechanism != "none":
        made = mechanism_of(mechanism, epsilon, table.rows.shape[1])
    attack = membership_inference(
        RandomForestClassifier(60),
        table.rows,
        labels=kmeans_labels(standardised(table.rows), table.k, 1),
        mechanism=made,
        query=query,  # type: ignore[arg-type]
        shadow="plain",
        shadows=shadows,
        repeats=games,
        random_state=1,
    )
    values = {
        "tpr": attack.tpr,
        "fpr": attack.fpr,
        "advantage": attack.advantage,
        "auc": attack.auc,
    }
    row: Row = {"games": games}
    for name, estimate in values.items():
        row |= {name: estimate.mean, f"{name}_error": estimate.standard_error}
    curve = [[float(x), float(y)] for x, y in zip(attack.roc.fpr, attack.roc.tpr, strict=True)]
    return [{**row, "roc": [[0.0, 0.0], *curve[:: max(len(curve) // 50, 1)], [1.0, 1.0]]}]
