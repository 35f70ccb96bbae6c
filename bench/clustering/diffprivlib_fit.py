"""Run by the interpreter of diffprivlib's own environment: k-means on tables, as asked.

Reads one JSON line a fit from standard input (the path of rows on [-1, 1]^d as ``.npy``, k,
epsilon, a seed) and answers each with one: the centres, and the CPU seconds it took.
"""

import json
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans


def main() -> None:
    warnings.simplefilter("ignore")  # it warns of leaks we measure elsewhere
    for line in sys.stdin:
        asked = json.loads(line)
        rows = np.load(asked["rows"])
        model = KMeans(
            asked["k"], epsilon=asked["epsilon"], bounds=(-1, 1), random_state=asked["seed"]
        )
        start = time.process_time()
        model.fit(rows)
        said = {"centers": model.cluster_centers_.tolist(), "seconds": time.process_time() - start}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
