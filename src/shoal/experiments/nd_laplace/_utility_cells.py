"""What cells about utility do: noise, settings of clusterers, agreement of their labels."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN, OPTICS, AffinityPropagation, KMeans
from sklearn.preprocessing import StandardScaler

from shoal import evaluate
from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster import choose
from shoal.domain import Box
from shoal.experiments._cells import Row
from shoal.experiments.nd_laplace._data import Data, data_named
from shoal.experiments.nd_laplace._mechanisms import AS_WRITTEN, reports_of
from shoal.mechanisms import NDLaplace, snap
from shoal.randomness import Randomness

RADIUS, MIN_POINTS = 0.9, 4  # DBSCAN as an earlier draft sets it
AMONG = range(2, 9)  # numbers of clusters to choose among


def noise(d: int, epsilon: float, draws: int) -> list[Row]:
    """Draw noise around one point: how long it is, and how wide along one axis."""
    values = NDLaplace(epsilon).release(np.zeros((draws, d)), Randomness(d).noise).values
    lengths = np.linalg.norm(values, axis=1)
    blocks = np.array_split(lengths, 20)
    return [
        {"draw": i, "length": float(block.mean()), "axis_sd": float(values[:, 0].std())}
        for i, block in enumerate(blocks)
    ]


def settings(data: str) -> list[Row]:
    """Choose the settings of each clusterer by its rule, on plain rows."""
    table = data_named(data)
    X = standardised(table.rows)
    elbow = choose.k(X, by="elbow", among=range(2, 11))
    silhouette = choose.k(X, by="silhouette", among=range(2, 11))
    radius, preference = choose.radius(X), choose.preference(X)
    d = X.shape[1]
    begin = time.process_time()
    exemplars = _affinity_propagation(X)
    seconds = time.process_time() - begin
    return [
        {
            "elbow_k": elbow.value,
            "silhouette_k": silhouette.value,
            "radius": radius.value,
            "min_points": 2 * d,
            "preference": preference.value,
            "damping": preference.settings["damping"],
            "elbow_curve": [[float(a), float(b)] for a, b in elbow.curve.items()],
            "radius_curve": [[float(a), float(b)] for a, b in radius.curve.items()],
            "radius_at": float(radius.at),
            "raw_radius": choose.radius(table.rows).value,
            "optics_clusters": _count(OPTICS(min_samples=2 * d).fit_predict(X)),
            "dbscan_clusters": _count(DBSCAN(eps=RADIUS, min_samples=MIN_POINTS).fit_predict(X)),
            "dbscan_chosen_clusters": _count(
                DBSCAN(eps=radius.value, min_samples=2 * d).fit_predict(X)
            ),
            "ap_clusters": _count(exemplars),
            "ap_seconds": seconds,
        }
    ]


def utility(data: str, mechanism: str, epsilon: float, draws: int) -> list[Row]:
    """Cluster what a mechanism sends with k-means, and compare with the clusters of the rows."""
    table = data_named(data)
    truth = kmeans_labels(standardised(table.rows), table.k, 0)
    rows = []
    for draw in range(draws):
        reports = reports_of(mechanism, table, epsilon, seed=draw)
        if reports is None:
            return [{"draw": 0, "refused": 1}]
        labels = kmeans_labels(standardised(reports), table.k, draw)
        scores = _scores(table, truth, reports, labels)
        rows.append({"draw": draw, **scores, **_controls(table, truth, mechanism, epsilon, draw)})
    return rows


def _controls(table: Data, truth: Integers, mechanism: str, epsilon: float, draw: int) -> Row:
    """Return the label scores if everyone reports the middle of the box; forms that read rows
    have no such control.
    """
    if mechanism in AS_WRITTEN and mechanism != "laplace":
        return {}
    middle = np.tile((table.box.low + table.box.high) / 2, (len(table.rows), 1))
    reports = reports_of(mechanism, replace(table, rows=middle, bounds=table.box), epsilon, draw)
    if reports is None or not np.ptp(reports, axis=0).all():
        return {}
    labels = kmeans_labels(standardised(reports), table.k, draw)
    scores = {f"control_{name}": score for name, score in _label_scores(truth, labels).items()}
    clients = _nearest(table, _means(reports, labels))
    return {**scores, "control_client_ami": evaluate.ami(truth, clients)}


def _label_scores(truth: Integers, labels: Integers) -> Row:
    return {
        "ami": evaluate.ami(truth, labels),
        "ari": evaluate.ari(truth, labels),
        "nmi": evaluate.nmi(truth, labels),
        "mi": evaluate.mi(truth, labels),
        "mirkin": evaluate.mirkin(truth, labels) / len(truth) ** 2,
        "rand": evaluate.rand_index(truth, labels),
        "fm": evaluate.fowlkes_mallows(truth, labels),
    }


def _scores(table: Data, truth: Integers, reports: Floats, labels: Integers) -> Row:
    """Compare labels of reports, and the centres that they give, with those of the rows."""
    X = standardised(reports)
    true_centers, centers = _means(table.rows, truth), _means(reports, labels)
    off = evaluate.center_errors(true_centers, centers)
    return {
        **_label_scores(truth, labels),
        "silhouette": evaluate.silhouette(X, labels),
        "chi": evaluate.calinski_harabasz(X, labels),
        "davies_bouldin": evaluate.davies_bouldin(X, labels),
        "displacement": evaluate.mean_displacement(table.rows, reports),
        "aee": off.aee,
        "re": off.relative_aee,
        "client_ami": evaluate.ami(truth, _nearest(table, centers)),
    }


def clusterers(data: str, mechanism: str, epsilon: float, draws: int, ap: bool) -> list[Row]:
    """Cluster what a mechanism sends with each clusterer, by the thesis' settings and by ours."""
    table = data_named(data)
    d = table.rows.shape[1]
    fits: dict[str, Callable[[Floats], Integers]] = {
        "KMeans": lambda X: kmeans_labels(X, table.k, 0),
        "KMeans, k = 4": lambda X: kmeans_labels(X, 4, 0),
        "OPTICS": lambda X: OPTICS(min_samples=2 * d).fit_predict(X),
        "DBSCAN": lambda X: DBSCAN(eps=RADIUS, min_samples=MIN_POINTS).fit_predict(X),
        "KMeans, k chosen": _kmeans_of_chosen_k,
        "DBSCAN, chosen": _chosen_dbscan,
    }
    if ap:
        fits["AP"] = _affinity_propagation
    truths = {name: fit(standardised(table.rows)) for name, fit in fits.items()}
    rows = []
    for draw in range(draws):
        X = standardised(reports_of(mechanism, table, epsilon, seed=draw))
        for name, fit in fits.items():
            labels = fit(X)
            row: Row = {"draw": draw, "clusterer": name, "clusters": _count(labels)}
            row |= {"ami": evaluate.ami(truths[name], labels)}
            row |= {"ari": evaluate.ari(truths[name], labels)}
            rows.append(row | _separation(X, labels))
    return rows


def _separation(X: Floats, labels: Integers) -> Row:
    """Return how far apart the clusters of reports lie; nothing if there are not several."""
    if not 2 <= len(set(labels.tolist())) < len(labels):
        return {}
    return {
        "silhouette": evaluate.silhouette(X, labels),
        "chi": evaluate.calinski_harabasz(X, labels),
    }


def _affinity_propagation(X: Floats) -> Integers:
    labels: Integers = AffinityPropagation(random_state=0).fit_predict(X)
    return labels


def _kmeans_of_chosen_k(X: Floats) -> Integers:
    """Cluster into as many groups as the reports themselves suggest, at no cost."""
    return kmeans_labels(X, choose.k(X, by="silhouette", among=AMONG).value, 0)


def _chosen_dbscan(X: Floats) -> Integers:
    """Cluster with the radius and the least points that reports themselves suggest, at no cost."""
    labels: Integers = DBSCAN(eps=choose.radius(X).value, min_samples=2 * X.shape[1]).fit_predict(X)
    return labels


def equal(data: str, mechanism: str, epsilon: float, draws: int) -> list[Row]:
    """Compare mechanisms at one promise: epsilon for the whole record, in a public box.

    Parameters
    ----------
    mechanism
        What sends it; Laplace noise at ``epsilon`` over the box's diameter.
    """
    table = data_named(data)
    d = len(table.columns)
    cube = Box.of(list(table.columns), np.full(d, -1.0), np.full(d, 1.0))
    unit = replace(table, rows=table.box.scale(table.rows, -1, 1), bounds=cube)
    rate = epsilon / (2 * np.sqrt(unit.rows.shape[1])) if mechanism == "laplace" else epsilon
    truth = kmeans_labels(standardised(unit.rows), unit.k, 0)
    rows = []
    for draw in range(draws):
        reports = reports_of(mechanism, unit, rate, seed=draw)
        assert reports is not None
        labels = kmeans_labels(standardised(reports), unit.k, draw)
        scores = _scores(unit, truth, reports, labels)
        rows.append({"draw": draw, **scores, **_controls(unit, truth, mechanism, rate, draw)})
    return rows


def nodes(data: str, epsilon: float, nodes: int, draws: int) -> list[Row]:
    """Cluster reports that were moved to a public grid, by the number of its nodes."""
    table = data_named(data)
    truth = kmeans_labels(standardised(table.rows), table.k, 0)
    rows = []
    for draw in range(draws):
        reports = NDLaplace(epsilon, domain=table.box).release(table.rows, Randomness(draw).noise)
        moved = np.asarray(snap(table.box, nodes)(reports).values)
        labels = kmeans_labels(standardised(moved), table.k, draw)
        rows.append({"draw": draw, "ami": evaluate.ami(truth, labels)})
    return rows


def stages(data: str, epsilon: float) -> list[Row]:
    """Return a table at the four stages of the thesis' mechanism."""
    table = data_named(data)
    names = {
        "data": None,
        "noise": "laplace",
        "grid remap": "laplace-truncated",
        "optimal remap": "laplace-optimal-truncated",
    }
    return [
        {"stage": stage, "points": np.round(_stage(table, name, epsilon), 2).tolist()}
        for stage, name in names.items()
    ]


def _stage(table: Data, mechanism: str | None, epsilon: float) -> Floats:
    reports = None if mechanism is None else reports_of(mechanism, table, epsilon, seed=0)
    return table.rows if reports is None else reports


def standardised(rows: Floats | None) -> Floats:
    """Return columns with mean 0 and deviation 1."""
    scaled: Floats = StandardScaler().fit_transform(rows)
    return scaled


def kmeans_labels(X: Floats, k: int, seed: int) -> Integers:
    """Return the labels of k-means, the best of ten starts."""
    labels: Integers = KMeans(k, n_init=10, random_state=seed).fit_predict(X)
    return labels


def _means(rows: Floats, labels: Integers) -> Floats:
    return np.array([rows[labels == label].mean(axis=0) for label in np.unique(labels)])


def _nearest(table: Data, centers: Floats) -> Integers:
    """Return the labels that clients give themselves: the nearest centre, in shares of the box."""
    return nearest_centers(table.box.scale(table.rows), table.box.scale(centers))


def _count(labels: Any) -> int:
    return len(set(np.asarray(labels).tolist()) - {-1})


PARTS: dict[str, Callable[..., list[Row]]] = {
    "noise": noise,
    "settings": settings,
    "utility": utility,
    "clusterers": clusterers,
    "shapes": utility,
    "equal": equal,
    "nodes": nodes,
    "stages": stages,
}
