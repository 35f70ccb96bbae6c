"""Whatever file comes where, no verb prints what people's rows hold, and none ends as a bug.

Secrets are planted in rows, and the rows handed to every verb in every wrong way: without a header
line, torn, in another format, in place of the domain, the policy, the model or the ledger. The
documents beside rows are changed one value at a time. Of each run we look at all it printed.
"""

import copy
import gzip
import json
import math
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
import yaml
from typer.testing import CliRunner

from shoal.cli._main import app

ENDINGS = {0, 1, 2, 3, 4}  # as documented; 70 is a bug
NAMES = ("name", "age", "visits", "place", "illness")
SECRET = "Zyqvorna"
PERSON = (f"{SECRET} Wexthorpe", "8675309142", "3141827.25", "Plimquay", "Quexilitis vornata")
SECRETS = ("zyqvorna", "wexthorpe", "8675309142", "3141827", "plimquay", "quexilitis", "vornata")
PLACES = ("north", "south", "east", "west")
DOMAIN = {
    "version": 1,
    "columns": {
        "age": {"low": 0, "high": 99},
        "visits": {"low": 0, "high": 20, "weight": 1.0},
        "illness": {"values": ["flu", "cold"], "other": "bucket"},
    },
    "person": "name",
    "max_rows_per_person": 2,
}
POLICY = {
    "version": 1,
    "input": {"path": "rows.csv", "null_values": ["", "NA"]},
    "attributes": {
        "name": {"role": "identifier"},
        "age": {
            "role": "quasi",
            "type": "int",
            "domain": [0, 99],
            "hierarchy": {"kind": "interval", "width": 10},
            "weight": 1.0,
        },
        "visits": {"role": "other"},
        "place": {"role": "quasi", "hierarchy": {"file": "place.csv"}},
        "illness": {"role": "sensitive", "l": {"kind": "distinct", "value": 2}},
    },
    "privacy": {"k": 3, "suppression": 0.05},
    "search": {"restarts": 1},
    "output": {"path": "out.csv", "overwrite": True},
}


def line_of(i):
    return (
        f"person {i}",
        str(20 + i % 50),
        str(i % 15),
        PLACES[i % 4],
        ("flu", "cold")[i % 3 == 0],
    )


def lines(*rows, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


ROWS = [line_of(i) for i in range(240)]
HEADER = lines(NAMES)
BODY = lines(PERSON, *ROWS)
WHOLE = HEADER + lines(*ROWS)


# Tables with a person in them, each wrong in its own way; by the name of a file.


def _parquet(columns):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def _typed():
    """Columns of the right names and kinds that nobody counts on."""
    n = 30
    listed, made = [[PERSON[0], "x"]] * n, [{PERSON[0]: 1.0}] * n
    plain = {name: [row[i] for row in ROWS[:n]] for i, name in enumerate(NAMES)}
    decimal = pa.array([None] * n, pa.decimal128(38, 2))
    days = pa.array([19_000] * n, pa.int32()).cast(pa.date32())
    binary = pa.array([PERSON[0].encode() + b"\xff"] * n, pa.binary())
    kinds = {
        "lists": pa.array(listed),
        "structs": pa.array(made),
        "nulls": pa.nulls(n),
        "decimals": decimal,
        "dates": days,
        "bytes": binary,
        "truths": pa.array([True, False] * (n // 2)),
        "labels": pa.array([PERSON[0]] * n).dictionary_encode(),
        "maps": pa.array([[(PERSON[0], 1)]] * n, pa.map_(pa.string(), pa.int64())),
        "floats": pa.array([math.nan, math.inf, 3141827.25] * (n // 3)),
    }
    for kind, column in kinds.items():
        for name in ("age", "place", "name", "illness"):
            yield f"{kind}-in-{name}.parquet", _parquet(plain | {name: column})


@cache
def faulty_tables():
    rows = lines(*ROWS)
    parquet = _parquet({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})
    quoted = ",".join(PERSON[:2]) + f',"{PERSON[2]},' + ",".join(PERSON[3:]) + "\n"
    swap = {name: [row[i] for row in (PERSON, *ROWS)] for i, name in enumerate(PERSON)}
    return {
        "headless.csv": BODY,
        "headless-semicolons.csv": lines(PERSON, *ROWS, delimiter=";"),
        "headless.tsv": lines(PERSON, *ROWS, delimiter="\t"),
        "headless.csv.gz": gzip.compress(BODY),
        "headless.parquet": _parquet(swap),
        "headless-words.csv": lines(*((p[0], p[3], p[4]) for p in (PERSON, PERSON, *ROWS))),
        "headless-alone.csv": lines(PERSON),
        "half-a-header.csv": lines(("name", "age", *PERSON[2:])) + rows,
        "one-name.csv": lines(("age", *PERSON[1:])) + rows,
        "quote-in-the-header.csv": b'name,"age,visits,place,illness\n' + BODY,
        "quote-closed-late.csv": b'name,"age,visits,place,illness\n' + BODY + b'",2,3\n',
        "quote-in-no-header.csv": quoted.encode() + rows,
        "quote-in-a-row.csv": HEADER + quoted.encode() + rows,
        "quote-at-the-end.csv": WHOLE + quoted.encode(),
        "short-line.csv": WHOLE + f"{PERSON[0]},3\n".encode(),
        "long-line.csv": WHOLE + lines((*PERSON, *PERSON)),
        "blank-lines.csv": b"\n\n" + BODY,
        "latin-header.csv": f"nämé,{SECRET}é\n".encode("latin-1") + BODY,
        "latin-cell.csv": WHOLE + lines(PERSON)[:-1] + b"\xe9\xff\n",
        "byte-order-mark.csv": b"\xef\xbb\xbf" + BODY,
        "utf-16.csv": BODY.decode().encode("utf-16"),
        "utf-32.csv": (HEADER + BODY).decode().encode("utf-32"),
        "nul-in-a-cell.csv": WHOLE + b"\0".join(part.encode() for part in PERSON) + b",1,2,3,4\n",
        "nul-in-the-header.csv": b"na\0me,age\0,visits,place,illness\n" + BODY,
        "escapes-in-the-header.csv": f"\x1b[2J{SECRET},\x07age,\u202evisits\n".encode() + BODY,
        "huge-cell.csv": WHOLE + lines((SECRET * 300_000, "3", "4", "north", "flu")),
        "huge-header.csv": lines((SECRET * 20_000, *NAMES[1:])) + rows,
        "wide.csv": lines([f"{SECRET}{i}" for i in range(3_000)]) * 3,
        "twice-the-same.csv": lines((PERSON[0], PERSON[0], *PERSON[2:])) + rows,
        "twice-asked-for.csv": lines(("name", "age", "age", "place", "illness")) + BODY,
        "empty.csv": b"",
        "newline.csv": b"\n",
        "only-a-header.csv": HEADER,
        "one-row.csv": HEADER + lines(PERSON),
        "words-for-numbers.csv": WHOLE + lines((PERSON[0], SECRET, SECRET, *PERSON[3:])),
        "person-among-others.csv": HEADER + BODY,
        "huge-numbers.csv": WHOLE + lines((PERSON[0], "9" * 5_000, "1e999", *PERSON[3:])),
        "no-numbers.csv": WHOLE + lines((PERSON[0], "nan", "-inf", *PERSON[3:])),
        "nothing.csv": WHOLE + lines((PERSON[0], "", "NA", "", "")),
        "dates.csv": WHOLE + lines((PERSON[0], "1984-02-30", "31.12.1999", *PERSON[3:])),
        "decimal-commas.csv": lines(
            NAMES, (PERSON[0], "3,5", "1.000,5", *PERSON[3:]), delimiter=";"
        ),
        "other-names.csv": lines(("Name", "AGE", "visitz", "town", "illness")) + BODY,
        "more-columns.csv": lines((*NAMES, PERSON[0])) + lines(*((*row, "1") for row in ROWS)),
        "no-gzip.csv.gz": BODY,
        "torn-gzip.csv.gz": gzip.compress(BODY)[:-20],
        "garbage.csv": random.Random(5).randbytes(5_000) + SECRET.encode(),
        "page.csv": f"<html><td>{PERSON[0]}</td>\n".encode() * 20,
        "records.csv": json.dumps([dict(zip(NAMES, PERSON, strict=True))] * 9, indent=1).encode(),
        "torn.parquet": parquet[: len(parquet) // 2],
        "no-parquet.parquet": BODY,
        "bad-pages.parquet": parquet[:200] + b"\xff" * 400 + parquet[600:],
        "empty.parquet": b"",
        "no-columns.parquet": _parquet({}),
        "no-rows.parquet": _parquet({name: pa.array([], pa.string()) for name in NAMES}),
        "no-table.xlsx": BODY,
        **dict(_typed()),
    }


PLACES_THAT_ARE_NO_FILES = ("folder.csv", "parts.parquet", "pipe.csv", "absent.csv", "loop.csv")


def table_at(folder, name):
    """A faulty table of that name, in a folder."""
    path = folder / name
    if name == "folder.csv":
        path.mkdir()
        (path / f"{SECRET}.csv").write_bytes(BODY)
    elif name == "parts.parquet":
        path.mkdir()
        pq.write_table(pa.table({name: ["1"] for name in NAMES}), path / "a.parquet")
        pq.write_table(pa.table({name: ["1"] for name in PERSON}), path / "b.parquet")
    elif name == "pipe.csv":
        os.mkfifo(path)
    elif name == "loop.csv":
        path.symlink_to(path)
    elif name != "absent.csv":
        path.write_bytes(faulty_tables()[name])
    return path


# What goes with a table: good files, made once, and documents with something wrong in them.


def shoal(*words):
    """A run as the command line makes it; all that it printed."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def made(*words):
    code, printed = shoal(*words)
    assert code == 0, printed


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    (folder / "rows.csv").write_bytes(WHOLE)
    (folder / "place.csv").write_text("".join(f"{p};{p[0]}*;*\n" for p in sorted(PLACES)))
    write_document(folder / "domain.yaml", DOMAIN)
    write_document(folder / "policy.yaml", POLICY)
    rows, domain = folder / "rows.csv", folder / "domain.yaml"
    private = ("--epsilon", 1, "--domain", domain, "--seed", 1, "--columns", "age,visits")
    made("cluster", rows, "-k", 2, *private, "-o", folder / "model")
    made("cluster", rows, "--method", "wave", *private, "-o", folder / "waves")
    made("perturb", rows, "--mechanism", "local-grid", *private,
         "-o", folder / "reports.csv")  # fmt: skip
    ledger = folder / "rows.ledger"
    made("cluster", rows, "-k", 2, *private, "-o", folder / "other", "--ledger", ledger)
    made("ledger", "limit", ledger, "--epsilon", 5)
    made("anonymize", "--policy", folder / "policy.yaml")
    return folder


def write_document(path, content):
    text = yaml.safe_dump(content) if path.suffix == ".yaml" else json.dumps(content)
    path.write_text(text, encoding="utf-8")


class Place:
    """The good files, but for those a case replaces."""

    def __init__(self, good, folder):
        self.good, self.folder, self._replaced = good, folder, {}

    def replace(self, role, path):
        self._replaced[role] = path

    def __getattr__(self, role):
        if role in self._replaced:
            return self._replaced[role]
        return self.good / ROLES[role]

    @property
    def out(self):
        return self.folder / "out"

    @property
    def page(self):
        return self.folder / "page.html"

    @property
    def policy_here(self):
        """The policy, with this case's table, hierarchy and output."""
        path = self.folder / "policy-here.yaml"
        if "policy" in self._replaced:
            return self.policy
        content = copy.deepcopy(POLICY)
        content["input"]["path"] = str(self.table)
        content["attributes"]["place"]["hierarchy"] = dict(self.hierarchy)
        content["output"]["path"] = str(self.folder / "released.csv")
        write_document(path, content)
        return path

    @property
    def hierarchy(self):
        path = Path(self._replaced.get("place", self.good / "place.csv"))
        nested = path.suffix in (".yaml", ".json")
        return {"file": str(path), "format": "nested"} if nested else {"file": str(path)}


ROLES = {
    "table": "rows.csv",
    "domain": "domain.yaml",
    "policy": "policy.yaml",
    "place": "place.csv",
    "model": "model",
    "waves": "waves",
    "reports": "reports.csv",
    "ledger": "rows.ledger",
    "released": "out.csv",
    "manifest": "out.manifest.json",
    "raw": "rows.csv",
    "second": "rows.csv",
    "population": "rows.csv",
}
CENTRAL = ("--trust", "central")
TO_PLAN = (*CENTRAL, "--shape", "clear", "--columns", "age", "--domain")
PRIVATE = ("--epsilon", "1", "--seed", "1")
NUMBERS = ("--columns", "age,visits", "--domain")
SMALL = ("--sample-rows", "160", "--shadows", "1", "--repeats", "1")
# Each verb, in several ways: its name, the files it reads, its words.
VERBS = {
    ("learn",): [
        (
            "learn",
            ("reports",),
            lambda at: ["learn", at.reports, "-k", 2, "-o", at.out],
        ),
    ],
    ("report",): [
        (
            "report",
            ("model", "ledger"),
            lambda at: [
                *("report", at.model, "-o", at.folder / "page.html"),
                *("--ledger", at.ledger),
            ],
        ),
    ],
    ("demo",): [("demo", (), lambda at: ["demo", "--epsilon", "0"])],
    ("version",): [("version", (), lambda at: ["version"])],
    ("verify",): [("verify", ("model",), lambda at: ["verify", at.model])],
    ("document",): [("document", ("model",), lambda at: ["document", at.model])],
    ("keys", "new"): [("keys new", (), lambda at: ["keys", "new", at.folder / "nothing" / "key"])],
    ("keys", "show"): [("keys show", ("raw",), lambda at: ["keys", "show", at.raw])],
    ("keys", "sign"): [
        ("keys sign", ("model", "raw"), lambda at: ["keys", "sign", at.model, at.raw])
    ],
    ("features",): [
        ("features", ("raw",), lambda at: ["features", at.raw, "-o", at.folder / "people.parquet"])
    ],
    ("data", "list"): [("data list", (), lambda at: ["data", "list"])],
    ("data", "make"): [("data make", (), lambda at: ["data", "make", "nothing"])],
    ("init",): [
        (
            "init",
            ("table", "ledger"),
            lambda at: [
                *("init", at.table, "-o", at.folder / "draft.yaml"),
                *("--estimate-bounds", "--epsilon", 1, "--ledger", at.ledger),
            ],
        ),
        (
            "init from a codebook",
            ("raw",),
            lambda at: ["init", at.table, "--from", at.raw, "-o", at.folder / "draft.yaml"],
        ),
        (
            "init, decimal commas",
            ("second",),
            lambda at: [
                *("init", at.second, "-o", at.folder / "draft.yaml"),
                *("--numbers", "1.234,5"),
            ],
        ),
    ],
    ("data", "for-spreadsheets"): [
        (
            "data for-spreadsheets",
            ("table",),
            lambda at: ["data", "for-spreadsheets", at.table, "-o", at.out],
        )
    ],
    ("data", "fetch"): [  # a set that no address has: nothing is asked of the network
        ("data fetch", (), lambda at: ["data", "fetch", "adult", "--to", at.out])
    ],
    ("cluster",): [
        (
            "cluster",
            ("table", "domain", "ledger"),
            lambda at: (
                [
                    "cluster",
                    at.table,
                    "-k",
                    2,
                    *PRIVATE,
                    *NUMBERS,
                    at.domain,
                    "--ledger",
                    at.ledger,
                    "-o",
                    at.out,
                ]
            ),
        ),
        (
            "cluster --drop",
            ("table",),
            lambda at: (
                [
                    "cluster",
                    at.table,
                    "-k",
                    2,
                    *PRIVATE,
                    "--domain",
                    at.domain,
                    "--drop",
                    "--columns",
                    "age",
                    "-o",
                    at.out,
                ]
            ),
        ),
        (
            "cluster --method wave",
            ("table", "domain"),
            lambda at: (
                [
                    "cluster",
                    at.table,
                    "--method",
                    "wave",
                    *PRIVATE,
                    *NUMBERS,
                    at.domain,
                    "-o",
                    at.out,
                ]
            ),
        ),
        (
            "cluster over a model",
            ("model",),
            lambda at: (
                [
                    "cluster",
                    at.table,
                    "-k",
                    2,
                    *PRIVATE,
                    *NUMBERS,
                    at.domain,
                    "-o",
                    at.model,
                    "--overwrite",
                ]
            ),
        ),
    ],
    ("evaluate",): [
        (
            "evaluate",
            ("table", "model"),
            lambda at: ["evaluate", at.model, "--against", at.table, "--controls", 0],
        ),
        (
            "evaluate --labels",
            ("table",),
            lambda at: (
                ["evaluate", at.model, "--against", at.table, "--labels", "place", "--controls", 0]
            ),
        ),
        (
            "evaluate waves",
            ("waves",),
            lambda at: ["evaluate", at.waves, "--against", at.table, "--controls", 0],
        ),
    ],
    ("perturb",): [
        (
            "perturb",
            ("table", "domain", "ledger"),
            lambda at: (
                [
                    "perturb",
                    at.table,
                    *PRIVATE,
                    "--domain",
                    at.domain,
                    "--columns",
                    "age,visits",
                    "--ledger",
                    at.ledger,
                    "-o",
                    at.folder / "noisy.csv",
                ]
            ),
        ),
        (
            "perturb --mechanism mixed",
            ("table", "domain"),
            lambda at: (
                [
                    "perturb",
                    at.table,
                    "--mechanism",
                    "mixed",
                    *PRIVATE,
                    "--clip",
                    "--domain",
                    at.domain,
                    "-o",
                    at.folder / "noisy.parquet",
                ]
            ),
        ),
        (
            "perturb --mechanism rounds",
            ("table", "domain"),
            lambda at: (
                [
                    "perturb",
                    at.table,
                    "--mechanism",
                    "rounds",
                    "-k",
                    2,
                    *PRIVATE,
                    "--clip",
                    "--domain",
                    at.domain,
                    "-o",
                    at.folder / "rounds.parquet",
                ]
            ),
        ),
    ],
    ("anonymize",): [
        (
            "anonymize",
            ("table", "policy", "place", "population"),
            lambda at: ["anonymize", "--policy", at.policy_here, "--population", at.population],
        ),
        (
            "anonymize --dry-run",
            ("table", "policy", "place"),
            lambda at: ["anonymize", "--policy", at.policy_here, "--dry-run", "--explain"],
        ),
    ],
    ("anonymize", "apply"): [
        (
            "anonymize apply",
            ("table", "policy", "place", "manifest"),
            lambda at: ["anonymize", "apply", "--policy", at.policy_here, "--cut", at.manifest],
        )
    ],
    ("anonymize", "check"): [
        (
            "anonymize check",
            ("table", "policy"),
            lambda at: ["anonymize", "check", at.table, "--policy", at.policy_here],
        )
    ],
    ("anonymize", "init"): [
        (
            "anonymize init",
            ("table",),
            lambda at: ["anonymize", "init", at.table, "-o", at.folder / "draft.yaml"],
        )
    ],
    ("anonymize", "explore"): [
        (
            "anonymize explore",
            ("table", "policy", "place"),
            lambda at: (
                ["anonymize", "explore", "--policy", at.policy_here, "-k", 2, "-o", at.page]
            ),
        )
    ],
    ("anonymize", "utility"): [
        (
            "anonymize utility",
            ("table", "policy", "place"),
            lambda at: (["anonymize", "utility", "--policy", at.policy_here, "--target", "place"]),
        )
    ],
    ("reproduce",): [("reproduce", (), lambda at: ["reproduce", "nothing", "-o", at.out])],
    ("collect", "key"): [
        ("collect key", (), lambda at: ["collect", "key", at.folder / "operator.key"])
    ],
    ("collect", "sign"): [
        ("collect sign", ("domain",), lambda at: ["collect", "sign", at.domain, "-o", at.out])
    ],
    **{
        ("collect", verb): [
            (
                f"collect {verb}",
                ("domain",),
                lambda at, verb=verb, more=more: ["collect", verb, at.domain, *more],
            )
        ]
        for verb, more in {
            "serve": (),
            "cluster": (),
            "status": (),
            "close": (),
            "advance": (0,),
            "revoke": ("00",),
            "tokens": (3,),
            "enrol": ("hashes.txt",),
            "people": (),
            "open": ("people.json",),
            "combine": (),
            "backup": (),
            "restore": ("campaign.backup",),
        }.items()
    },
    ("plan",): [
        (
            "plan",
            ("domain",),
            lambda at: ["plan", "-k", 2, "--n-expected", 60, "--epsilon", 1, *TO_PLAN, at.domain],
        ),
        ("plan a model", ("model",), lambda at: ["plan", at.model, "--epsilon", 1, *CENTRAL]),
    ],
    ("attack", "membership"): [
        (
            "attack membership",
            ("table", "domain"),
            lambda at: (
                [
                    "attack",
                    "membership",
                    at.table,
                    "-k",
                    2,
                    "--epsilon",
                    1,
                    *SMALL,
                    *NUMBERS,
                    at.domain,
                ]
            ),
        )
    ],
    ("attack", "linkage"): [
        (
            "attack linkage",
            ("released", "raw", "second", "policy"),
            lambda at: (
                [
                    "attack",
                    "linkage",
                    at.released,
                    "--raw",
                    at.raw,
                    "--second",
                    at.second,
                    "--policy",
                    at.policy_here,
                    "--column",
                    "illness",
                ]
            ),
        )
    ],
    ("audit",): [
        (
            "audit",
            ("table",),
            lambda at: ["audit", "--python", "math:sqrt", "--pair", f"[{PAIR}]"],
        )
    ],
    ("ledger", "show"): [
        ("ledger show", ("ledger",), lambda at: ["ledger", "show", at.ledger]),
    ],
    ("ledger", "limit"): [
        ("ledger limit", ("ledger",), lambda at: ["ledger", "limit", at.ledger, "--epsilon", 9]),
    ],
}
PAIR = "[" * 2_000 + "]" * 2_000
TABLES = ("table", "reports", "released", "raw", "second", "population")
WAYS = {name: (reads, words) for ways in VERBS.values() for name, reads, words in ways}


def leaves_of(group, above=()):
    """Every command of the line that does something."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves_of(command, (*above, name))
            if command.invoke_without_command:
                yield (*above, name)
        else:
            yield (*above, name)


def looked_at(words):
    """Run, with and without --json; what is wrong with what was printed, if anything."""
    code, printed = shoal(*words)
    small = printed.lower()
    leaked = [secret for secret in SECRETS if secret in small]
    wrong = [f"prints {leaked}"] if leaked else []
    if "traceback" in small:
        wrong.append("prints a traceback")
    if code not in ENDINGS:
        wrong.append(f"ends with {code}")
    return [f"{' '.join(map(str, words))}: {each}\n{printed[-900:]}" for each in wrong]


def run(good, folder, way, role, path, as_json):
    place = Place(good, folder)
    place.replace(role, path)
    words = [*WAYS[way][1](place), *(["--json"] if as_json else [])]
    return looked_at(words)


def test_every_verb_is_looked_at():
    assert {*leaves_of(typer.main.get_command(app))} == {*VERBS}


def with_what_made_them(good, reports):
    """The file beside reports that vouches for a table, whatever that holds."""
    import hashlib

    about = json.loads((good / "reports.csv.json").read_text())
    if reports.is_file():
        about["file"]["sha256"] = hashlib.sha256(reports.read_bytes()).hexdigest()
    Path(f"{reports}.json").write_text(json.dumps(about))


# A name that is words cannot be told from a header's; to list it is this verb's task.
LISTING = ("anonymize init", "init", "init, decimal commas")
MERE_WORDS = {(way, "more-columns.csv") for way in LISTING}


def table_cases():
    """Each faulty table, with each verb and place that reads one."""
    names = (*faulty_tables(), *PLACES_THAT_ARE_NO_FILES)
    return [
        (way, role, name)
        for name in names
        for way, (reads, _) in WAYS.items()
        for role in reads
        if role in TABLES and (way, name) not in MERE_WORDS
    ]


# Documents: the domain, the policy, a hierarchy, a model, what made reports, a manifest.


def deep(n):
    return "[" * n + "]" * n


NO_DOCUMENTS = {
    "rows": BODY,
    "rows-semicolons": lines(PERSON, *ROWS, delimiter=";"),
    "record": json.dumps(dict(zip(PERSON, PERSON, strict=True))).encode(),
    "records": json.dumps([dict(zip(NAMES, PERSON, strict=True))] * 3).encode(),
    "keyed": yaml.safe_dump({person: {SECRET: 1} for person in PERSON}).encode(),
    "keyed-twice": f"{SECRET}: 1\n{SECRET}: 2\n".encode(),
    "notes": f"name: {PERSON[0]}\nillness: {PERSON[4]}: severe\n".encode(),
    "undefined-alias": f"version: *{SECRET}\n".encode(),
    "duplicate-anchor": f"a: &{SECRET} 1\nb: &{SECRET} [*{SECRET}]\n".encode(),
    "tag": f"version: !{SECRET} 1\n".encode(),
    "tag-with-quotes": f"version: !x'{SECRET}'y 1\n".encode(),
    "python-tag": f"!!python/object/apply:os.system [echo {SECRET}]\n".encode(),
    "escape": f'version: "\\q{SECRET}"\n'.encode(),
    "directive": f"%{SECRET} 1\n---\nversion: 1\n".encode(),
    "two-documents": f"version: 1\n---\n{SECRET}: 1\n".encode(),
    "tabs": f"version:\n\t{SECRET}: 1\n".encode(),
    "bad-date": b"version: 2001-99-99\n",
    "bad-time": b"version: 2001-01-01T99:99:99Z\n",
    "tagged-int": f"version: !!int {SECRET}\n".encode(),
    "tagged-float": f"version: !!float {SECRET}\n".encode(),
    "tagged-bool": f"version: !!bool {SECRET}\n".encode(),
    "tagged-time": f"version: !!timestamp {SECRET}\n".encode(),
    "tagged-binary": f"version: !!binary {SECRET}!\n".encode(),
    "tagged-set": b"version: !!set {a, b}\n",
    "tagged-omap": b"version: !!omap [a, b]\n",
    "list-as-key": f"? [{SECRET}]\n: 1\n".encode(),
    "mapping-as-key": f"? {{{SECRET}: 1}}\n: 1\n".encode(),
    "itself": b"&a [*a]\n",
    "itself-in-a-mapping": b"version: 1\ncolumns: &a {age: *a}\nattributes: *a\n",
    "laughs": b"a0: &a0 [x]\n"
    + b"".join(
        b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 12)
    )
    + b"version: 1\ncolumns: *a11\nattributes: *a11\n",
    "merged-laughs": b"a0: &a0 {x: 1}\n"
    + b"".join(
        b"a%d: &a%d {<<: [%s]}\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 10))
        for i in range(1, 9)
    ),
    "deep": deep(100_000).encode(),
    "deep-enough": deep(900).encode(),
    "deep-blocks": b"- " * 3_000 + b"x\n",
    "deep-keys": b"".join(b" " * i + b"a:\n" for i in range(1_500)),
    "deep-mapping": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "deep-within": b'{"version": 1, "columns": ' + deep(5_000).encode() + b"}",
    "huge-int": b"version: " + b"9" * 6_000 + b"\n",
    "sexagesimal": b"version: 1" + b":59" * 900 + b"\n",
    "number": b"17\n",
    "null": b"null\n",
    "empty": b"",
    "nul": b"version: \0\n",
    "latin": f"version: {SECRET}é\n".encode("latin-1"),
    "utf-16": f"version: {SECRET}\n".encode("utf-16"),
    "surrogate": b'{"version": 1, "schema": "\\ud800", "columns": {"\\udc00": {"low": 0}}}',
    "garbage": random.Random(7).randbytes(4_000),
    "sqlite": b"SQLite format 3\0" + SECRET.encode() * 200,
    "long-line": b"version: " + SECRET.encode() * 100_000,
}
# Values a document may hold in place of any other. Names of columns and files are the writer's own
# words, and are said back: those places get no secret.
ODD = [
    None, True, False, -1, 0, 1, 2**64, 10**400, 1e308, 1e-320, math.nan, math.inf, -math.inf, "",
    SECRET, [SECRET], {SECRET: SECRET}, [], {}, [[]], [None], "1", "\x1b[2J", "x" * 100_000,
    ["a", "a"], [0, 1, 2], [1, 0], {"kind": SECRET}, {"class": SECRET}, "*", "2020-02-30",
    -0.5, [SECRET] * 3,
]  # fmt: skip
SAID_BACK = {"path", "file", "person", "target", "latitude", "longitude", "key_env", "key_file"}
SAID_BACK |= {"report", "manifest", "mapping", "name", "columns", "attributes", "tree", "cut"}


def places_in(content, above=()):
    """The way to every value of a document."""
    inside = content.items() if isinstance(content, Mapping) else ()
    inside = enumerate(content) if isinstance(content, list) else inside
    for step, value in inside:
        yield (*above, step)
        yield from places_in(value, (*above, step))


def changed(content, rng, role):
    """A document with one thing in it that is not as it was."""
    content = copy.deepcopy(content)
    *above, last = rng.choice(list(places_in(content)))
    holder = content
    for step in above:
        holder = holder[step]
    how = rng.randrange(8)
    if how == 0:
        del holder[last]
    elif how == 1 and isinstance(holder, dict) and not _is_said_back(role, above):
        holder[SECRET] = rng.choice(ODD)
    elif how == 2:
        other = content
        for step in rng.choice(list(places_in(content))):
            other = other[step]
        holder[last] = copy.deepcopy(other)
    else:
        plain = [value for value in ODD if SECRET not in str(value)]
        holder[last] = rng.choice(plain if _is_said_back(role, (*above, last)) else ODD)
    return content


def _is_said_back(role, steps):
    """Names of columns and files, and labels of a tree, are the writer's words."""
    return role == "place" or bool({*map(str, steps)} & SAID_BACK)


SIGNS = "{}[]:,\"'&*!|>%@\t\n\0-?#0eé"


def torn(text, rng):
    """The same text, cut off, or with a few characters changed."""
    if rng.random() < 0.4:
        return text[: rng.randrange(len(text))]
    letters = list(text)
    for _ in range(rng.randint(1, 4)):
        letters[rng.randrange(len(letters))] = rng.choice(SIGNS)
    return "".join(letters)


DOCUMENTS = {
    "domain": "domain.yaml",
    "policy": "policy.yaml",
    "place": "place.yaml",
    "model": "model.json",
    "waves": "model.json",
    "reports": "reports.csv.json",
    "manifest": "out.manifest.json",
}
NESTED = {"*": {"n": ["north"], "s": ["south"], "rest": ["east", "west"]}}


def good_document(good, role):
    if role == "place":
        return NESTED
    folder = good / role if role in ("model", "waves") else good
    return yaml.safe_load((folder / DOCUMENTS[role]).read_text())


def with_document(good, folder, role, content):
    """A place's file of that role, with this content in its document."""
    if role in ("model", "waves"):
        shutil.copytree(good / role, folder / role)
        path = folder / role
        (path / "model.json").write_bytes(content)
        return path
    if role == "reports":
        path = folder / "reports.csv"
        shutil.copy(good / "reports.csv", path)
        Path(f"{path}.json").write_bytes(content)
        return path
    if role == "policy":
        for name in ("rows.csv", "place.csv"):
            shutil.copy(good / name, folder / name)
    path = folder / DOCUMENTS[role]
    path.write_bytes(content)
    return path


def as_bytes(content, role):
    try:
        if DOCUMENTS[role].endswith(".yaml"):
            return yaml.safe_dump(content, allow_unicode=True).encode()
        return json.dumps(content).encode()
    except ValueError:  # digits beyond what Python writes
        return b"9" * 9_000


def document_cases(rng, changes):
    """Files that are no documents, and documents with a change, for each verb that reads one."""
    for way, (reads, _) in WAYS.items():
        for role in reads:
            if role not in DOCUMENTS:
                continue
            yield from ((way, role, name) for name in NO_DOCUMENTS)
            yield from ((way, role, rng.randrange(2**32)) for _ in range(changes))


def document_of(good, role, case):
    if isinstance(case, str):
        return NO_DOCUMENTS[case]
    rng, content = random.Random(case), good_document(good, role)
    if rng.random() < 0.3:
        return torn(as_bytes(content, role).decode(), rng).encode(errors="surrogateescape")
    return as_bytes(changed(content, rng, role), role)


# Ledgers.


def ledgers(good, folder, rng):
    """Files in place of a ledger, by name."""
    whole = (good / "rows.ledger").read_bytes()
    for name, content in NO_DOCUMENTS.items():
        (folder / name).write_bytes(content)
        yield folder / name
    (folder / "half").write_bytes(whole[: len(whole) // 2])
    yield folder / "half"
    for i in range(6):
        path = folder / f"overwritten-{i}"
        at = rng.randrange(100, len(whole))
        path.write_bytes(whole[:at] + rng.randbytes(300) + whole[at + 300 :])
        yield path
    other = sqlite3.connect(folder / "other")
    other.execute(f"CREATE TABLE {SECRET} (name TEXT)")
    other.execute(f"INSERT INTO {SECRET} VALUES ('{SECRET}')")
    other.commit()
    other.close()
    yield folder / "other"
    for name, odd in (("no-json", SECRET), ("list", f'["{SECRET}"]'), ("deep", deep(50_000)),
                      ("kind", json.dumps({"kind": SECRET})), ("null", "null"),
                      ("budget", json.dumps({"kind": "pure", "epsilon": SECRET}))):  # fmt: skip
        for table in ("limits", "entries"):
            yield _ledger_saying(whole, folder / f"{name}-{table}", table, odd)
    for name, change in (
        ("no-entries", "DROP TABLE entries"),
        ("no-limits", "DROP TABLE limits"),
        ("other-columns", f"ALTER TABLE entries RENAME COLUMN at TO {SECRET}"),
        ("other-version", "PRAGMA user_version = 99"),
    ):
        path = folder / name
        path.write_bytes(whole)
        with_sql(path, change)
        yield path
    (folder / "folder").mkdir()
    yield folder / "folder"
    yield folder / "absent" / "ledger"


def with_sql(path, *statements):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def _ledger_saying(whole, path, table, odd):
    path.write_bytes(whole)
    said = odd.replace("'", "''")
    drops = ("DROP TRIGGER entries_stay", "DROP TRIGGER entries_remain")
    columns = f"guarantee = '{said}'" + (f", total = '{said}'" if table == "entries" else "")
    with_sql(path, *drops, f"UPDATE {table} SET {columns}")
    return path


# The runs.


def all_tables(good, root, cases):
    wrong = []
    for number, (way, role, name) in enumerate(cases):
        folder = root / f"table-{number}"
        folder.mkdir()
        path = table_at(folder, name)
        if role == "reports":
            with_what_made_them(good, path)
        wrong += run(good, folder, way, role, path, as_json=number % 2 == 1)
        shutil.rmtree(folder)
    return wrong


def all_documents(good, root, cases):
    wrong = []
    for number, (way, role, case) in enumerate(cases):
        folder = root / f"document-{number}"
        folder.mkdir()
        path = with_document(good, folder, role, document_of(good, role, case))
        wrong += run(good, folder, way, role, path, as_json=number % 2 == 1)
        shutil.rmtree(folder)
    return wrong


def report(wrong):
    return f"{len(wrong)} runs:\n\n" + "\n\n".join(wrong[:40])


@pytest.fixture(autouse=True)
def _usual_depth():
    """A test runner's own frames leave less room than a command has: never more."""
    assert sys.getrecursionlimit() == 1_000


def test_no_faulty_table_shows_a_row_or_ends_as_a_bug(good, tmp_path):
    rng, by_name = random.Random(1), {}
    for case in table_cases():
        by_name.setdefault(case[-1], []).append(case)
    some = [case for cases in by_name.values() for case in rng.sample(cases, 1)]
    # No rows, and other columns, are mistakes of their own to each verb.
    some += by_name["only-a-header.csv"] + by_name["headless.parquet"]
    wrong = all_tables(good, tmp_path, some)
    assert not wrong, report(wrong)


def test_no_faulty_document_shows_a_row_or_ends_as_a_bug(good, tmp_path):
    rng, by_place = random.Random(2), {}
    for case in document_cases(rng, 40):
        by_place.setdefault(case[:2], []).append(case)
    some = [case for cases in by_place.values() for case in rng.sample(cases, 5)]
    wrong = all_documents(good, tmp_path, some)
    assert not wrong, report(wrong)


def test_no_faulty_ledger_shows_what_it_holds_or_ends_as_a_bug(good, tmp_path, monkeypatch):
    wrong = []
    rng = random.Random(3)
    (tmp_path / "ledgers").mkdir()
    for number, path in enumerate(ledgers(good, tmp_path / "ledgers", rng)):
        readers = [way for way, (reads, _) in WAYS.items() if "ledger" in reads]
        for way in dict.fromkeys(["ledger show", rng.choice(readers)]):
            folder = tmp_path / f"{number}-{way.replace(' ', '-')}"
            folder.mkdir()
            monkeypatch.chdir(folder)
            wrong += run(good, folder, way, "ledger", path, as_json=number % 2 == 1)
    assert not wrong, report(wrong)


@pytest.mark.slow
def test_no_faulty_file_at_all_shows_a_row_or_ends_as_a_bug(good, tmp_path):
    wrong = all_tables(good, tmp_path, table_cases())
    wrong += all_documents(good, tmp_path, document_cases(random.Random(4), 120))
    assert not wrong, report(wrong)
