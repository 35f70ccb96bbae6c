"""Run with another checkout of shoal on the path: its private k-means on tables, as asked.

Lines in and out are those of ``diffprivlib_fit.py``.
"""

import json
import sys
import time
import warnings

import numpy as np

from shoal.cluster import PrivateKMeans
from shoal.domain import Box


def main() -> None:
    warnings.simplefilter("ignore")  # of groups that noise alone would look like
    for line in sys.stdin:
        asked = json.loads(line)
        rows = np.load(asked["rows"])
        d = rows.shape[1]
        box = Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)
        model = PrivateKMeans(
            asked["k"], epsilon=asked["epsilon"], domain=box, random_state=asked["seed"]
        )
        start = time.process_time()
        model.fit(rows)
        centers = box.scale(model.cluster_centers_, -1, 1)
        said = {"centers": centers.tolist(), "seconds": time.process_time() - start}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
