"""What a reader of a folder finds out: all of it holds, and every change is caught."""

import json
import re

import pytest

import shoal
from shoal.bounds_check import CHECK_ENTRY, SIDE_ENTRY
from shoal.documents import with_digest
from shoal.errors import UnreadableModel
from shoal.pages import render
from shoal.pages.verification import FAILED, UNSEEN, page
from shoal.verify import verify_folder
from shoal.verify._ledger import _entries_of

KINDS = ("kmeans", "wave", "seeded", "synopsis", "mixed", "prototypes", "reports", "table")
PAGES = {"kmeans": "report", "wave": "report-simulation", "table": "released.report"}


def failures(folder, **given):
    return [f"{each.subject}: {each.text}" for each in verify_folder(folder, **given).failed]


def edit(path, old, new, times=1):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, times))


def rewritten(path, **changes):
    """Change a document, and give it the digest that a careful hand would write."""
    content = json.loads(path.read_text())
    content.pop("digest", None)
    path.write_text(json.dumps(with_digest({**content, **changes}), indent=1) + "\n")


@pytest.mark.parametrize("name", KINDS)
def test_a_release_as_it_was_written_holds(releases, name):
    verification = verify_folder(releases / name)
    assert verification.failed == []
    (release,) = verification.releases
    assert len([each for each in release.findings if each.outcome == "checked"]) >= 2
    assert any("rows were what they are said" in each.text for each in release.having(UNSEEN))
    assert release.promise


def test_a_document_run_again_holds_and_every_change_is_caught(copy_of):
    folder = copy_of("reproduction")
    assert failures(folder) == []
    for path in sorted(folder.rglob("*.*")):
        if path.name != "cells.jsonl":
            content = path.read_bytes()
            at = content.rfind(b"s")
            path.write_bytes(content[:at] + b"t" + content[at + 1 :])
            assert failures(folder), path.name
            path.write_bytes(content)


@pytest.mark.parametrize("name", KINDS)
def test_one_byte_changed_in_any_file_is_caught(copy_of, name):
    folder = copy_of(name)
    for path in sorted(folder.iterdir()):
        if "curator" in path.name:
            continue
        content = path.read_bytes()
        # A digit near the end: one that a document, a table or a page holds somewhere.
        at = [m.start() for m in re.finditer(rb"[0-9]", content)][-1]
        swapped = b"1" if content[at : at + 1] != b"1" else b"2"
        path.write_bytes(content[:at] + swapped + content[at + 1 :])
        assert failures(folder), path.name
        path.write_bytes(content)
    assert not failures(folder)


def test_a_file_of_another_release_is_caught(copy_of):
    ours, other = copy_of("kmeans"), copy_of("seeded")
    (ours / "centers.csv").write_bytes((other / "centers.csv").read_bytes())
    assert any("centers.csv is not the file that was written" in each for each in failures(ours))


def test_a_file_with_a_listing_of_its_own_is_caught_by_the_page(copy_of):
    ours, other = copy_of("kmeans"), copy_of("seeded")
    for name in ("centers.csv", "cells.parquet", "synopsis.json", "description.json"):
        (ours / name).write_bytes((other / name).read_bytes())
    (ours / "model.json").write_bytes((other / "model.json").read_bytes())
    text = " ".join(failures(ours))
    assert "model.json is not the file that was written" in text
    assert "do not follow from the released files" in text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_edited_by_hand_is_caught(copy_of, name):
    folder = copy_of(name)
    edit(folder / f"{PAGES[name]}.html", "</h1>", " and more</h1>")
    assert any("does not show what" in each for each in failures(folder))


def test_a_page_and_its_numbers_edited_alike_are_caught_by_the_files(copy_of):
    folder = copy_of("kmeans")
    path = folder / "report.json"
    content = json.loads(path.read_text())
    content["result"]["facts"][0]["value"] = "9,999"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    (folder / "report.html").write_text(render(content))
    assert failures(folder) == [
        "Page: Its numbers do not follow from the released files (result.facts)."
    ]


def test_a_mark_removed_from_one_file_is_caught_by_the_others(copy_of):
    folder = copy_of("seeded")
    content = json.loads((folder / "model.json").read_text())
    promise = content["guarantee"] | {"simulation": False}
    rewritten(folder / "model.json", simulation=False, guarantee=promise)
    assert any(each.startswith("Simulation: ") for each in failures(folder))


def test_a_mark_removed_from_every_file_is_caught_by_the_ledger(copy_of, releases):
    folder = copy_of("seeded")
    for path in folder.glob("report-simulation.*"):
        path.unlink()
    for name in ("synopsis.json", "model.json"):
        edit(folder / name, '"simulation": true', '"simulation": false', -1)
    content = json.loads((folder / "model.json").read_text())
    from shoal.synopsis.folder import digest_of

    for file in content["files"]:
        file["sha256"] = digest_of(folder / file["name"])
    rewritten(folder / "model.json", files=content["files"])
    assert failures(folder) == []
    found = failures(folder, ledger=releases / "seeded.ledger")
    assert any("is of a simulation, and this says a real release" in each for each in found)


@pytest.mark.parametrize("name", ["kmeans", "synopsis", "reports"])
def test_a_budget_mistyped_is_caught(copy_of, name):
    folder = copy_of(name)
    path = folder / {"kmeans": "model.json", "synopsis": "synopsis.json"}.get(
        name, "reports.parquet.json"
    )
    content = json.loads(path.read_text())
    rewritten(path, guarantee=content["guarantee"] | {"epsilon": "0.5"})
    assert any(each.startswith("Promise: It states") for each in failures(folder))


def test_a_ledger_without_the_release_is_caught(releases):
    found = failures(releases / "wave", ledger=releases / "rows.ledger")
    assert any("is of a real release, and this says a simulation" in each for each in found)
    assert failures(releases / "kmeans", ledger=releases / "rows.ledger") == []


def test_the_entries_of_a_fit_that_was_stopped_and_then_accepted_are_found(releases):
    (release,) = verify_folder(releases / "accepted", ledger=releases / "narrow.ledger").releases
    said = [each.text for each in release.findings if each.subject == "Ledger"]
    assert release.having(FAILED) == []
    assert "check of bounds, which bound rows lie beyond and 3 groups" in said[0]
    assert "together promise ε = 1, pure differential privacy, as stated." in said[0]


@pytest.mark.parametrize(
    ("shares", "holds"),
    [((0.03, 0.97), True), ((0.01, 0.03, 0.96), True), ((0.03, 0.9), False), ((0.97, 0.03), True)],
)
@pytest.mark.parametrize("delta", [0, "0.000001"])
def test_entries_are_those_of_a_release_if_they_add_up(shares, holds, delta):
    def promised(epsilon, own_delta):
        return shoal.ApproxDP(epsilon, own_delta) if delta else shoal.PureDP(epsilon)

    def entry(epsilon, own_delta, what):
        text = str(promised(epsilon, own_delta))
        return {"by": "A", "what": what, "epsilon": str(epsilon), "guarantee": text}

    *before, rest = shares
    names = [CHECK_ENTRY, *[SIDE_ENTRY] * (len(before) - 1)]
    entries = [entry(part, 0, name) for part, name in zip(before, names, strict=True)]
    entries.append(entry(rest, delta, "3 groups"))
    paid = promised(1, delta)
    assert bool(_entries_of(entries, paid)) == holds
    assert not _entries_of([each | {"what": "2 groups"} for each in entries], paid)


def test_rows_that_were_moved_are_said_and_a_fit_that_did_not_accept_it_is_caught(copy_of):
    folder = copy_of("accepted")
    (release,) = verify_folder(folder).releases
    (said,) = [each.text for each in release.findings if each.subject == "Bounds"]
    assert "were moved to the edge. x: about " in said
    settings = json.loads((folder / "model.json").read_text())["settings"]
    rewritten(folder / "model.json", settings=settings | {"clipping": "stop"})
    assert any(each.startswith("Bounds: Many rows were moved") for each in failures(folder))


def test_intervals_that_do_not_follow_are_caught(copy_of):
    folder = copy_of("kmeans")
    path = folder / "description.json"
    content = json.loads(path.read_text())
    content["intervals"]["total_high"] += 100
    path.write_text(json.dumps(content))
    from shoal.synopsis.folder import digest_of

    model = json.loads((folder / "model.json").read_text())
    for file in model["files"]:
        file["sha256"] = digest_of(folder / file["name"])
    rewritten(folder / "model.json", files=model["files"])
    assert any(each.startswith("Intervals: ") for each in failures(folder))


def test_a_table_that_breaks_its_promise_is_caught_by_counting(copy_of):
    import hashlib

    folder = copy_of("table")
    table, manifest = folder / "released.csv", folder / "released.manifest.json"
    lines = table.read_text().splitlines(keepends=True)
    first = lines[1].split(",")[:2]
    kept = [line for line in lines[1:] if line.split(",")[:2] != first]
    table.write_text("".join([lines[0], lines[1], *kept]))
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    rewritten(manifest, table_sha256=digest, rows=len(kept) + 1)
    assert any("the promise is broken" in each for each in failures(folder))


def test_a_folder_without_a_release_is_refused(tmp_path):
    with pytest.raises(UnreadableModel, match="holds no release"):
        verify_folder(tmp_path)


def test_documents_that_are_none_of_ours_raise_nothing(copy_of):
    folder = copy_of("kmeans")
    for text in ('{"schema": "shoal.model/1"}', '{"schema": "shoal.model/1", "files": 3}'):
        (folder / "model.json").write_text(text)
        assert failures(folder)


def test_the_page_says_what_was_promised_by_whom_and_what_was_checked(releases):
    from shoal.pages import verdict_page

    shown = page(verify_folder(releases / "kmeans"))
    html = verdict_page(shown.verdicts)
    for text in (
        "The town",
        "at most 24 in 100",
        "Everything that can be checked",
        "nobody signed",
        "ε = 1, pure differential privacy",
        "for one row",
    ):
        assert text in html
    assert "<script" not in html
    assert shown.values["releases"][0]["publisher"] == "The town"
    assert {each["outcome"] for each in shown.values["releases"][0]["findings"]} <= {
        "checked", FAILED, UNSEEN,
    }  # fmt: skip
