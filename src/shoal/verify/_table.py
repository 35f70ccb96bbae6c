"""Check a released table: its files, and k, l, t and further models, counted again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.anonymize import Policy, guarantee_of, policy_of, recount
from shoal.anonymize.release import read_manifest
from shoal.documents import json_text, parse_json
from shoal.errors import ShoalError
from shoal.privacy import Guarantee, KAnonymity
from shoal.synopsis.folder import digest_of
from shoal.verify._page import check_page, page_marks
from shoal.verify._release import DAMAGED, Findings, Release, check_own_digest

ENDING = ".manifest.json"
_TABLES = (".csv", ".csv.gz", ".parquet")
_COUNTED = "Counts"
_CLOSE = 1e-9  # what rounding may do to a distance


def check_table(folder: Path, name: str, policy: Path | None, findings: Findings) -> Release:
    """Check a released table by its manifest.

    Parameters
    ----------
    name
        The name of the manifest.
    policy
        The policy it was released under, if the publisher hands it out; None takes what the
        manifest says of it.
    """
    stem = name.removesuffix(ENDING)
    manifest = _read(folder / name)
    check_own_digest(name, manifest, findings)
    table = _table_of(folder, stem)
    files = [name]
    if table is None:
        findings.fail("Files", f"The table of {name} is missing.")
    else:
        files.insert(0, table.name)
        _check_digest(table, manifest.get("table_sha256"), name, findings)
    mapping = folder / f"{stem}.mapping.csv"
    if manifest.get("mapping_sha256"):
        files.append(mapping.name)
        _check_digest(mapping, manifest["mapping_sha256"], name, findings)
    content = check_page(folder, f"{stem}.report", findings)
    marks: dict[str, bool] = {}
    if content is not None:
        files += [f"{stem}.report.html", f"{stem}.report.json"]
        marks = page_marks(folder, f"{stem}.report", content)
        _check_page_numbers(content, manifest, findings)
    guarantee = _count_again(table, manifest, policy, content, findings)
    settings = {} if content is None else content.get("settings", {})
    return Release(
        kind="table",
        name=f"Table in {table.name if table else stem}",
        files=tuple(files),
        signature=f"{stem}.signature.json",
        guarantee=guarantee,
        marks=marks,
        version=manifest.get("shoal"),
        title=settings.get("title"),
        publisher=settings.get("publisher"),
        report=content,
        document=manifest,
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_manifest(path)
    except ShoalError:
        return {}


def _table_of(folder: Path, stem: str) -> Path | None:
    places = [folder / f"{stem}{ending}" for ending in _TABLES]
    return next((place for place in places if place.exists()), None)


def _check_digest(path: Path, digest: Any, source: str, findings: Findings) -> None:
    if path.is_dir():
        findings.leave("Files", f"{path.name} is a folder that Spark wrote: hold it by its rows.")
        return
    findings.check(
        path.is_file() and digest_of(path) == digest,
        "Files",
        f"{path.name} is the file that {source} lists, byte for byte.",
        f"{path.name} is missing, or not the file that {source} lists.",
    )


def _count_again(
    table: Path | None,
    manifest: Mapping[str, Any],
    policy: Path | None,
    content: Mapping[str, Any] | None,
    findings: Findings,
) -> Guarantee | None:
    """Count k, l, t and the models in the table as it lies there, and return the promise."""
    rules = _rules(manifest, policy, findings)
    if rules is None or table is None:
        return None
    promised = guarantee_of(rules)
    if content is not None:
        same = content.get("guarantee") == parse_json(json_text(promised.to_dict()))
        findings.check(
            same,
            "Promise",
            f"Page and manifest state the same: {_said(promised)}.",
            "The page states another promise than the manifest.",
        )
    try:
        achieved = recount(str(table), rules)
    except (*DAMAGED, ShoalError):
        findings.fail(_COUNTED, f"{table.name} cannot be counted by the columns of its manifest.")
        return promised
    broken = achieved.broken(rules)
    unit = "people" if achieved.by_person else "rows"
    findings.check(
        not broken,
        _COUNTED,
        f"Counted again: the smallest of {achieved.classes:,} groups has {achieved.k:,} {unit}; "
        f"{_said(promised)} holds.",
        f"Counted again, the promise is broken: {'; '.join(broken)}.",
    )
    _check_reached(achieved, manifest, findings)
    if rules.privacy.person is not None and not achieved.by_person:
        findings.leave(
            _COUNTED,
            "People were counted by the publisher; the table does not say whose a row is, so rows "
            "were counted here.",
        )
    for name in set(manifest.get("models", {}).get("asked", {})) - set(achieved.models):
        findings.leave(_COUNTED, f"{name} needs the policy and the population: --policy FILE.")
    return promised


def _check_reached(achieved: Any, manifest: Mapping[str, Any], findings: Findings) -> None:
    """Hold what was counted against what the manifest says was reached."""
    by_row = manifest.get("person") is None
    pairs: list[tuple[str, float, Any]] = [
        ("rows", achieved.rows, manifest["rows"]),
        ("groups", achieved.classes, manifest["classes"]),
    ]
    if by_row:
        pairs.append(("k", achieved.k, manifest["k"]["reached"]))
        for letter, reached in (("l", achieved.l), ("t", achieved.t)):
            for name, value in reached.items():
                pairs.append((f"{letter} of {name}", value, manifest[letter][name]["reached"]))
    stated = manifest.get("models", {}).get("reached", {})
    pairs += [(name, value, stated.get(name)) for name, value in achieved.models.items()]
    wrong = [
        name
        for name, counted, said in pairs
        if not isinstance(said, int | float) or abs(counted - said) > _CLOSE * max(1, abs(counted))
    ]
    findings.check(
        not wrong,
        _COUNTED,
        f"{', '.join(name for name, _, _ in pairs)}: as the manifest says.",
        f"{', '.join(wrong)}: not what the manifest says.",
    )


def _rules(manifest: Mapping[str, Any], policy: Path | None, findings: Findings) -> Policy | None:
    """Return the policy to count by: the one that was given, or what the manifest says of it."""
    if policy is not None:
        return _given_policy(manifest, policy, findings)
    try:
        facts = manifest["recount"]
        leaf = {"role": "quasi", "hierarchy": {"tree": {"*": ["x"]}}}
        columns: dict[str, Any] = dict.fromkeys(facts["classes_by"], leaf)
        for name, about in facts["sensitive"].items():
            columns[name] = {"role": "sensitive", **about}
        privacy = {"k": manifest["k"]["asked"], "person": manifest["person"]}
        content = {
            "version": 1,
            "input": {"null_values": facts["null_values"]},
            "privacy": {name: value for name, value in privacy.items() if value is not None},
            "attributes": columns,
        }
        return Policy.of(content)
    except (*DAMAGED, ShoalError):
        findings.leave(
            _COUNTED, "The manifest does not say how to count: give the policy, --policy FILE."
        )
        return None


def _given_policy(manifest: Mapping[str, Any], policy: Path, findings: Findings) -> Policy | None:
    from shoal.anonymize.release import policy_hash

    rules = policy_of(policy)
    findings.check(
        policy_hash(rules) == manifest.get("policy_sha256"),
        "Policy",
        f"{policy.name} is the policy that the manifest names by its digest.",
        f"{policy.name} is not the policy that the manifest names by its digest.",
    )
    return rules


def _check_page_numbers(
    content: Mapping[str, Any], manifest: Mapping[str, Any], findings: Findings
) -> None:
    """Hold the numbers of the page against those of the manifest."""
    try:
        smallest = content["result"]["facts"][0]["value"]
        same = (
            content["result"]["values"]["metrics"] == manifest["metrics"]
            and smallest == f"{manifest['k']['reached']:,}"
            and content["settings"]["policy"] == manifest["policy_sha256"]
            and content["result"]["summary"].startswith(f"{manifest['rows']:,} row")
        )
    except DAMAGED:
        same = False
    findings.check(
        same,
        "Page",
        "Rows, smallest group, losses and policy on it are those of the manifest.",
        "Its numbers are not those of the manifest.",
    )
    findings.leave(
        "Losses",
        "How much detail was lost was counted over rows that were left out, too, which nobody "
        "outside has.",
    )


def _said(guarantee: Guarantee) -> str:
    if isinstance(guarantee, KAnonymity):
        parts = {"k": guarantee.k, "l": guarantee.l, "t": guarantee.t}
        return ", ".join(f"{name} = {value}" for name, value in parts.items() if value is not None)
    return str(guarantee)
