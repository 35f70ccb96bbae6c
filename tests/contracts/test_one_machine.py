"""Whoever has no Spark frame never loads what is written for one."""

import subprocess
import sys

import pytest

START = """
import sys
import numpy as np
import shoal
box, rows = shoal.Box.unit(2), np.random.default_rng(0).random((500, 2))
"""
END = """
print(sorted(m for m in sys.modules if m.startswith("shoal.") and "spark" in m))
"""
WORKS = {
    "kmeans": "shoal.PrivateKMeans(2, epsilon=1, domain=box).fit(rows).predict(rows)",
    "wave": "shoal.WaveCluster(epsilon=1, domain=box).fit(rows).predict(rows)",
    "perturb": "shoal.Perturb(shoal.NDLaplace(1.0, domain=box)).fit_transform(rows)",
    "local": """
noise = shoal.NDLaplace(4.0, domain=box)
model = shoal.LocalClusterer(2, mechanism=noise, method="plain")
model.fit(noise.release(rows, shoal.Randomness(1).noise)).predict(rows)
""",
    "anonymize": """
tree = {"tree": {"*": ["a", "b"]}}
people = {"letter": ["a", "b"] * 50}
shoal.TopDownSpecialization(k=2, hierarchies={"letter": tree}).fit_transform(people)
""",
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_work_on_one_machine_loads_no_module_of_the_spark_engine(work):
    code = START + work + END
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
