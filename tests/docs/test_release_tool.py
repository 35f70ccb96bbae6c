"""The bill of materials lists what the wheel needs, and nothing by an address."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


def test_the_bill_lists_the_wheel_and_everything_it_needs(tmp_path):
    wheel = tmp_path / "shoal-0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    bill = release.bill_of_materials(wheel)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    own = bill["metadata"]["component"]
    assert own["hashes"][0]["content"] == release.digest_of(wheel)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.match(r"[\w-]+", each)[0] for each in project["dependencies"]}
    assert {part["name"] for part in bill["components"]} == wanted
    references = {part["bom-ref"] for part in bill["components"]}
    assert set(bill["dependencies"][0]["dependsOn"]) == references
    assert "://" not in json.dumps(bill)
