"""Draw the pictures of "Ask as an adversary would": two queries, and two models under attack.

    SHOAL_DATA=../shared/data python tools/membership_pictures.py

The first is the setting of ``bench/membership.py`` at its most misleading; the second is made up.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import shoal
from shoal.audit import lira
from shoal.figures import roc_curve

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "bench"))

from membership import played  # noqa: E402

GAMES = 12


def queries() -> None:
    """The same models, asked for members by their records and by their reports."""
    told = {"true": "true records", "perturbed": "reports, which nobody outside holds"}
    found = {
        query: played("heart-2D", "Piecewise a column", 0.5, query, GAMES, seed=1) for query in told
    }
    figure = roc_curve(
        {words: found[query].roc.points() for query, words in told.items()},
        title="One attack, two questions",
        finding=f"Advantage {found['true'].advantage.mean:.3f} for true records, "
        f"{found['perturbed'].advantage.mean:.3f} for reports",
        band=f"{GAMES} games; bands hold with probability 0.99 at each rate.",
    )
    (PICTURES / "membership-queries.svg").write_text(figure.svg())


def centres() -> None:
    """A hundred plain centres of two hundred people, and private ones of as many."""
    rows = np.clip(np.random.default_rng(0).normal(0.5, 0.15, (400, 2)), 0, 1)
    plain = lira(KMeans(100, n_init=1), rows, random_state=1)
    model = shoal.PrivateKMeans(8, epsilon=1, domain=shoal.Box.unit(2))
    private = lira(model, rows, random_state=1)
    figure = roc_curve(
        {
            "100 plain centres": plain.roc.points(),
            "8 private centres, epsilon 1": private.roc.points(),
        },
        title="Likelihood ratios against centres of 200 people",
        finding=f"Advantage {plain.advantage.mean:.3f} against plain centres, "
        f"{private.advantage.mean:.3f} against private ones",
        band="10 models each; bands hold with probability 0.99 at each rate.",
        ceiling=private.ceiling.corners(),
        ceiling_name=f"{private.ceiling.name}, for the private ones",
    )
    (PICTURES / "membership-centres.svg").write_text(figure.svg())
    print(plain, private, sep="\n\n")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    centres()
    queries()
