"""Run by the interpreter of diffprivlib's own environment: k-means on one table, seed by seed.

Reads the folder named on the command line (``rows.npy`` on [-1, 1]^d, ``asked.json``) and prints
one JSON line a fit: the seed, the centres, and the CPU seconds it took.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import KMeans


def main() -> None:
    folder = Path(sys.argv[1])
    asked = json.loads((folder / "asked.json").read_text())
    rows = np.load(folder / "rows.npy")
    warnings.simplefilter("ignore")  # it warns of leaks we measure elsewhere
    for seed in asked["seeds"]:
        start = time.process_time()
        model = KMeans(asked["k"], epsilon=asked["epsilon"], bounds=(-1, 1), random_state=seed).fit(
            rows
        )
        seconds = time.process_time() - start
        said = {"seed": seed, "centers": model.cluster_centers_.tolist(), "seconds": seconds}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
