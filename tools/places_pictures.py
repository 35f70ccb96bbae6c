"""Draw the pictures of campaigns of places: reports of made-up walkers, and what is learnt.

Drawn by the client that devices run, so that every run looks a little different.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import shoal
from shoal.collector import client
from shoal.collector._campaign import lattice_mechanism
from shoal.figures import cell_map
from shoal.pages.groups import LocalGroups

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
MIDDLES = np.array([[52.44, 13.29], [52.55, 13.42], [52.47, 13.52]])
PEOPLE = 6_000
QUESTION = {
    "mechanism": "nd_laplace",
    "epsilon": "1",
    "columns": [["52.4", "52.6"], ["13.2", "13.6"]],
    "radius": "0.5",
    "unit": "km",
    "units": ["0.00899320363724538", "0.014772952438674542"],
    "step_bits": 21,
}


def main() -> None:
    """Reports, and the groups learnt from them, north up."""
    rng = np.random.default_rng(1)
    people = rng.normal(MIDDLES[np.arange(PEOPLE) % 3], [0.008, 0.013])
    mechanism = lattice_mechanism(QUESTION, ["latitude", "longitude"])
    words = client.WordStream()
    places = np.array([client.draw(QUESTION, one, words) for one in people.tolist()])
    cells = mechanism.space.units(2) * mechanism.step
    reports = shoal.Reports(places * cells + mechanism.space.origin(2), mechanism)
    box = mechanism.domain
    sides = [(box.low[i], box.high[i]) for i in (1, 0)]
    counts, _, _ = np.histogram2d(reports.values[:, 1], reports.values[:, 0], 48, range=sides)
    picture = cell_map(
        counts,
        names=["longitude", "latitude"],
        low=box.low[::-1],
        high=box.high[::-1],
        title="Reports of 6,000 made-up walkers: places within 500 m look alike",
    )
    (PICTURES / "places-reports.svg").write_text(picture.svg())
    model = shoal.LocalClusterer(3, mechanism=mechanism, random_state=1).fit(reports)
    groups = LocalGroups(model, model.control(random_state=1), PEOPLE, protects="a person")
    found = replace(groups.maps()[0], title="What is learnt from these reports")
    (PICTURES / "places-learnt.svg").write_text(found.svg())


if __name__ == "__main__":
    main()
