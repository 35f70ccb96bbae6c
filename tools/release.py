"""Build the wheel twice, compare the two byte by byte, and write its bill of materials.

    python tools/release.py dist

The bill (CycloneDX 1.5, JSON) lists the wheel with its digest and every package that it needs at
run time, with the versions of ``constraints.txt``: names and versions, no address.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def build(folder: Path) -> Path:
    """Build the wheel into a folder, with the moment of the last commit in place of the clock."""
    moment = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "-w",
            str(folder),
            str(ROOT),
        ],
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": moment},
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def bill_of_materials(wheel: Path) -> dict[str, Any]:
    """The wheel and what it needs, as CycloneDX has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = _pins()
    names = [re.split(r"[\[<>=!~; ]", each)[0] for each in project["dependencies"]]
    parts = [_component(name, pins[_normal(name)]) for name in names]
    own = _component(project["name"], project["version"]) | {
        "type": "library",
        "licenses": [{"license": {"id": project["license"]}}],
        "hashes": [{"alg": "SHA-256", "content": digest_of(wheel)}],
    }
    needs = [part["bom-ref"] for part in parts]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": needs},
            *({"ref": each, "dependsOn": []} for each in needs),
        ],
    }


def digest_of(path: Path) -> str:
    """The SHA-256 checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {_normal(name): version.split(";")[0].strip() for name, version in pairs}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _component(name: str, version: str) -> dict[str, Any]:
    place = f"pkg:pypi/{_normal(name)}@{version}"
    return {"type": "library", "bom-ref": place, "name": name, "version": version, "purl": place}


def main(folder: Path) -> None:
    """Write the wheel and its bill into a folder, if two builds agree."""
    with tempfile.TemporaryDirectory() as place:
        wheels = [build(Path(tempfile.mkdtemp(dir=place))) for _ in range(2)]
        first, second = (digest_of(wheel) for wheel in wheels)
        if first != second:
            sys.exit(f"Two builds differ: {first} and {second}.")
        folder.mkdir(exist_ok=True)
        shutil.copy(wheels[0], folder)
        bill = json.dumps(bill_of_materials(wheels[0]), indent=1) + "\n"
        (folder / f"{wheels[0].stem}.cdx.json").write_text(bill, encoding="utf-8")
    print(f"{folder / wheels[0].name}: {first}, twice the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
