"""Accuracy of campaigns of places: noise by distance on devices, beside a grid and plain k-means.

    python bench/places.py

Writes bench/results/places.csv and docs/snippets/places.md. People are one check-in each of the
users of the Gowalla set (the first in the file), and the records LB and Min of cardiotocography.
Reports are drawn by the device's client. Draws and seeds were fixed before it was run.
"""

import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from shoal.cluster import LocalClusterer
from shoal.collector import client
from shoal.collector._campaign import lattice_mechanism
from shoal.domain import Box
from shoal.evaluate import normalised_inertia
from shoal.mechanisms import LocalGrid, NDLaplace, Reports
from shoal.randomness import Randomness

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ["SHOAL_DATA"])
DRAWS = 4
SETS = {
    "Gowalla": (5, ("0.2", "0.5", "1", "2"), ("1", "2", "4")),
    "heart-2D": (2, ("0.111111111111", "1", "2"), ("1", "2", "4")),
}


def people_of(name):
    """The records and the public box of a set."""
    if name == "Gowalla":
        table = pd.read_csv(DATA / "geo" / "gowalla_nyc.csv.gz")
        user = next(column for column in table.columns if "user" in column.lower())
        table = table.drop_duplicates(user)
        box = Box.geo(latitude=(40.4774, 40.9176), longitude=(-74.2589, -73.7004))
        named = {c.lower(): c for c in table.columns}
        return table[[named["latitude"], named["longitude"]]].to_numpy(float), box
    table = pd.read_csv(DATA / "uci" / "cardiotocography.csv")
    return table[["LB", "Min"]].dropna().to_numpy(float), Box(LB=(100, 180), Min=(40, 170))


def question_of(box, radius):
    """What a campaign of level 1 within a radius asks."""
    mechanism = NDLaplace(1 / float(radius), domain=box)
    return {
        "mechanism": "nd_laplace",
        "epsilon": "1",
        "columns": [
            [repr(float(a)), repr(float(b))] for a, b in zip(box.low, box.high, strict=True)
        ],
        "radius": radius,
        "unit": box.distance_unit if box.distance_unit == "km" else "",
        "units": [repr(float(unit)) for unit in mechanism.space.units(2)],
        "step_bits": -round(np.log2(mechanism.step)),
    }


def drawn(question, names, people):
    """Everybody's report, drawn as a device does."""
    mechanism = lattice_mechanism(question, names)
    words = client.WordStream()
    places = np.array([client.draw(question, one, words) for one in people.tolist()])
    cells = mechanism.space.units(2) * mechanism.step
    return Reports(places * cells + mechanism.space.origin(2), mechanism)


def scores(people, box, centers, plain):
    """Inertia over plain k-means, and agreement of the labels that devices give themselves."""
    units = (box.high - box.low) / box.sides
    near, best = (
        ((people[:, None] / units - c / units) ** 2).sum(axis=2).argmin(axis=1)
        for c in (centers, plain)
    )
    ratio = normalised_inertia(people / units, centers / units, plain / units)
    return float(ratio), float(adjusted_mutual_info_score(near, best))


def lines():
    """Yield every draw of every setting."""
    for name, (k, radii, epsilons) in SETS.items():
        people, box = people_of(name)
        people, names = box.clip(people), list(box.names)
        units = (box.high - box.low) / box.sides
        plain = KMeans(k, n_init=10, random_state=0).fit(people / units).cluster_centers_ * units
        for radius in radii:
            question = question_of(box, radius)
            for draw in range(DRAWS):
                reports = drawn(question, names, people)
                model = LocalClusterer(k, mechanism=reports.mechanism, random_state=draw).fit(
                    reports
                )
                thesis = KMeans(k, n_init=10, random_state=draw).fit(reports.values / units)
                control = model.control(len(people), random_state=draw)
                for method, centers in (
                    ("learnt", model.cluster_centers_),
                    ("plain on reports", thesis.cluster_centers_ * units),
                    ("no data", control.cluster_centers_),
                ):
                    found = scores(people, box, centers, plain)
                    yield name, len(people), f"1 within {float(radius):.2g}", method, draw, *found
        for epsilon in epsilons:
            grid = LocalGrid(box, epsilon=float(epsilon), n_expected=len(people), n_clusters=k)
            for draw in range(DRAWS):
                reports = grid.release(people, Randomness(100 + draw).noise)
                model = LocalClusterer(k, mechanism=grid, random_state=draw).fit(reports)
                found = scores(people, box, model.cluster_centers_, plain)
                yield name, len(people), f"LocalDP {epsilon}", "grid", draw, *found


def main():
    """Write the draws, and the table of their means."""
    head = ("set", "people", "promise", "method", "draw", "ratio", "ami")
    path = ROOT / "bench" / "results" / "places.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for line in lines():
            writer.writerow(line)
            file.flush()
    table = (
        pd.read_csv(path).groupby(list(head[:4]), sort=False)[["ratio", "ami"]].agg(["mean", "max"])
    )
    text = ["| set | people | promise | learnt by | inertia over plain (worst) | AMI of labels |",
            "|---|---|---|---|---|---|"]  # fmt: skip
    for at, row in table.iterrows():
        cells = f"{row['ratio', 'mean']:.2f} ({row['ratio', 'max']:.2f}) | {row['ami', 'mean']:.2f}"
        text.append(f"| {at[0]} | {at[1]:,} | {at[2]} | {at[3]} | {cells} |")
    (ROOT / "docs" / "snippets" / "places.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
