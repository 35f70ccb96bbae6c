"""The JavaScript twin reproduces the vectors, in Node and in a browser."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from shoal.collector import client

from .campaigns import PUBLIC_KEY, campaign_document, envelope_of
from .test_client import CHANGES

HERE = Path(__file__).parent
SOURCE = Path(client.__file__)
FILES = [SOURCE.with_name("vectors.json"), HERE / "independent_vectors.json"]

RUN = """
import { readFileSync } from "node:fs";
import { failures } from "./vectors.mjs";
const results = [];
for (const path of process.argv.slice(2)) {
  results.push(await failures(JSON.parse(readFileSync(path))));
}
console.log(JSON.stringify(results));
"""


@pytest.fixture
def folder(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: apt-get install nodejs")
    return tmp_path


def run_vectors(folder, twin):
    (folder / "client.mjs").write_text(twin)
    vectors = (HERE / "vectors.mjs").read_text().replace("TWIN", "./client.mjs")
    (folder / "vectors.mjs").write_text(vectors)
    (folder / "run.mjs").write_text(RUN)
    command = ["node", folder / "run.mjs", *FILES]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


@pytest.mark.heavy
def test_the_twin_passes_every_vector_in_node(folder):
    shipped, independent = run_vectors(folder, SOURCE.with_name("client.js").read_text())
    assert shipped["bad"] == []
    assert independent["bad"] == []
    assert shipped["count"] > 650
    assert independent["count"] > 390


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("words.word() < keepThreshold", "words.word() <= keepThreshold"),
        ("if (word < limit)", "if (word <= limit)"),
        ("return floor % 2 ? floor + 1 : floor;", "return floor + 1;"),
        ("other >= code ? 1 : 0", "other > code ? 1 : 0"),
        ("if (size) return -size;", "return -size;"),
        ("(j * (bits + 1n) + edge)", "(j * bits + edge)"),
        ("more * unit * fine", "unit * fine"),
    ],
)
def test_a_slip_in_the_twin_fails_a_vector(folder, right, wrong):
    twin = SOURCE.with_name("client.js").read_text()
    assert twin.count(right) == 1
    results = run_vectors(folder, twin.replace(right, wrong))
    assert results is None or results[0]["bad"] or results[1]["bad"]


REFUSE = """
import { readFileSync } from "node:fs";
import * as twin from "./client.mjs";
const { documents, envelopes, key, setting, nearby } = JSON.parse(readFileSync(process.argv[2]));
const limits = { epsilon: "2", ceiling: "8", setting: setting ?? "local", nearby };
const results = {};
const note = async (name, work) => {
  try { await work(); results[name] = "taken"; } catch (error) {
    results[name] = error instanceof twin.Refused ? "refused" : String(error);
  }
};
for (const [name, document] of Object.entries(documents)) {
  await note(name, () => twin.checkCampaign(document, limits, "2026-01-01T00:00:00Z"));
}
for (const [name, envelope] of Object.entries(envelopes)) {
  await note(name, () => twin.openEnvelope(envelope, "campaign", twin.fromHex(key)));
}
console.log(JSON.stringify(results));
"""


def refusals(folder, content):
    """What the twin says of documents and envelopes."""
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "refuse.mjs").write_text(REFUSE)
    (folder / "content.json").write_text(json.dumps(content))
    command = ["node", folder / "refuse.mjs", folder / "content.json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(run.stdout)


@pytest.mark.heavy
def test_the_twin_refuses_what_the_client_refuses(folder):
    good = campaign_document()
    documents = {name: {**good, **change} for name, change in CHANGES.items()}
    del documents["unknown version"]  # refused with the envelope
    bad = {
        "kind": envelope_of("round", good),
        "spaces": envelope_of("campaign", payload=json.dumps(good, sort_keys=True).encode()),
        "twice": envelope_of("campaign", payload=b'{"a":1,"a":1}'),
        "float": envelope_of("campaign", payload=b'{"a":1.5}'),
        "version": envelope_of("campaign", {**good, "format": 2}),
        "name": envelope_of("campaign", {**good, "Name": 2}),
        "field": {**envelope_of("campaign", good), "more": ""},
        "text": "x",
    }
    content = {
        "documents": {"good document": good, **documents},
        "envelopes": {"good envelope": envelope_of("campaign", good), **bad},
        "key": PUBLIC_KEY.hex(),
    }
    results = refusals(folder, content)
    assert results.pop("good document") == results.pop("good envelope") == "taken"
    assert set(results.values()) == {"refused"}, results


VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    2**24,
    2**32,
    2**53,
    1.5,
    "",
    "1",
    "2",
    "01",
    "1e5",
    "-1",
    "0.5",
    "1e999",
    "nan",
    "later",
    "local_hash",
    "shuffled",
    "category",
    "randomized_response",
    [],
    [1],
    ["0", "1"],
    [["0", "1"]],
    {},
    {"epsilon": "1"},
    "2000-01-01T00:00:00Z",
    "0.000001",
    "x" * 201,
]


def mutated(value, draw):
    """A copy of a document with one place changed, removed or added."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        if draw.random() < 0.15:
            return {key: part for key, part in value.items() if key != name}
        if draw.random() < 0.1:
            added = draw.choice(["more", "delta", "n_least", "labels", "aggregators"])
            return {**value, added: draw.choice(VALUES)}
        return {**value, name: mutated(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        return [*value[:at], mutated(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)


def verdict(document):
    """What the client says of a document; anything but a refusal is its fault."""
    limits = client.Limits(setting="two_aggregators")
    try:
        client.check_campaign(document, limits, "2026-01-01T00:00:00Z")
    except client.Refused:
        return "refused"
    return "taken"


@pytest.mark.heavy
def test_client_and_twin_agree_on_mangled_campaigns(folder):
    draw, good = random.Random(5), campaign_document()
    sides = json.loads(FILES[0].read_text())["vectors"][-1]["question"]
    later = [{"share": 2**31, "question": good["rounds"][0]["question"]},
             {"share": 2**31, "question": {**sides, "epsilon": "2"}}]  # fmt: skip
    cells = {"mechanism": "cell_shares", "epsilon": "2", "columns": [["0", "1"]], "cells": [16]}
    both = [{"address": f"https://{name}.org", "key": name[0] * 64} for name in ("a", "b")]
    shared = {**good, "setting": "two_aggregators", "n_least": 9, "aggregators": both,
              "rounds": [{"share": 2**32, "question": cells}]}  # fmt: skip
    assert verdict(shared) == "taken"
    one = [{**both[0]}, {**both[1], "address": "https://A.org:443/x/"}]
    assert verdict({**shared, "aggregators": one}) == "refused"
    documents = {"one host": {**shared, "aggregators": one}}
    for i in range(1_500):
        document = mutated(draw.choice([good, {**good, "rounds": later}, shared]), draw)
        if isinstance(document, dict):
            documents[str(i)] = document
    expected = {name: verdict(document) for name, document in documents.items()}
    assert {*expected.values()} == {"taken", "refused"}
    content = {"documents": documents, "envelopes": {}, "key": PUBLIC_KEY.hex()}
    content["setting"] = "two_aggregators"
    assert refusals(folder, content) == expected


SPLIT = """
import { readFileSync } from "node:fs";
import * as twin from "./client.mjs";
const { envelope, key, record } = JSON.parse(readFileSync(process.argv[2]));
const pages = { version: 2, token: "ab".repeat(32), entries: {} }, posted = [];
const answer = (value) => ({ status: 200, json: async () => value,
  text: async () => JSON.stringify(value) });
const send = async (url, options) => {
  if (url.endsWith("/.well-known/shoal")) return answer({ versions: [1] });
  if (url.endsWith("/v1/campaign")) return answer(envelope);
  posted.push([url, options.headers["Content-Type"], twin.toHex(options.body)]);
  return answer({});
};
const client = new twin.Client("https://a.org", twin.fromHex(key), { send,
  notebook: { change: async (work) => work(pages) }, limits: { setting: "two_aggregators" } });
const results = [await client.takePart(record), await client.takePart(record)];
console.log(JSON.stringify({ results, posted }));
"""


@pytest.mark.heavy
def test_the_twin_splits_a_record_into_two_shares_that_add_up_to_its_cell(folder):
    cells = {"mechanism": "cell_shares", "epsilon": "2", "columns": [["0", "1"]], "cells": [16]}
    both = [{"address": f"https://{name}.org/", "key": name * 64} for name in ("a", "b")]
    document = campaign_document(setting="two_aggregators", n_least=9, aggregators=both,
                                 rounds=[{"share": 2**32, "question": cells}])  # fmt: skip
    content = {"envelope": envelope_of("campaign", document), "key": PUBLIC_KEY.hex()}
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "split.mjs").write_text(SPLIT)
    (folder / "content.json").write_text(json.dumps({**content, "record": [0.8]}))
    command = ["node", folder / "split.mjs", folder / "content.json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    result = json.loads(run.stdout)
    assert result["results"] == ["sent", "sent"]
    (first, kind, seed), (second, _, share) = result[
        "posted"
    ]  # once each: the second call sent none
    assert (first, second) == ("https://a.org/v1/shares", "https://b.org/v1/shares")
    assert kind == "application/vnd.shoal.shares"
    campaign = client.identity("campaign", client.canonical(document))
    key = client.key_of(bytes.fromhex("ab" * 32), campaign)
    seed = bytes.fromhex(seed)[-32:]
    expected = client.tag_of(seed) + client.share_of(12, 16, seed)
    assert bytes.fromhex(share) == client.share_batch_of(campaign, 1, [(key, expected)])


NODE = """
import { readFileSync } from "node:fs";
import * as twin from "./client.mjs";
const { document, key, path } = JSON.parse(readFileSync(process.argv[2]));
const results = {}, pauses = [], posted = [];
const campaign = (twice) => twice
  ? document.replace('{"payload"', '{"payload":"","payload"') : document;
const client = (options = {}, address = "https://a.org") => new twin.Client(address,
  twin.fromHex(key), { notebook: new twin.FileNotebook(path),
    pause: async (seconds) => { pauses.push(seconds); }, ...options,
    send: async (url, request) => {
      const [json, text] = [async () => ({ versions: [1] }), async () => campaign(options.twice)];
      if (url.endsWith("/.well-known/shoal")) return { status: 200, json };
      if (url.endsWith("/v1/campaign")) return { status: 200, text };
      posted.push(twin.toHex(request.body));
      const after = options.afters?.shift();
      return after ? { status: 408, headers: { get: () => after } } : { status: 200 };
    } });
const note = async (name, work) => {
  try { results[name] = await work(); } catch (error) { results[name] = error.message; }
};
await note("plain", async () => client({}, "http://a.org"));
await note("twice", () => client({ twice: true }).takePart([0.5, 0.5]));
const date = new Date(Date.now() + 100000).toUTCString();
await note("sent", () => client({ afters: ["7", date, "9".repeat(400)] }).takePart([0.5, 0.5]));
await Promise.all([1, 2, 3].map((i) => note(`again ${i}`, () => client().takePart([0.9, 0.1]))));
console.log(JSON.stringify({ results, pauses, posted }));
"""


@pytest.mark.heavy
def test_the_twin_takes_part_in_node_with_a_notebook_that_the_client_reads(folder):
    document = campaign_document()
    path = folder / "notebook.json"
    content = {"document": json.dumps(envelope_of("campaign", document)), "path": str(path)}
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "node.mjs").write_text(NODE)
    (folder / "content.json").write_text(json.dumps({**content, "key": PUBLIC_KEY.hex()}))
    command = ["node", folder / "node.mjs", folder / "content.json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    result = json.loads(run.stdout)
    words = {"plain": "TLS", "twice": "twice", "sent": "sent", "again 1": "sent"}
    assert all(text in result["results"][name] for name, text in words.items()), result
    assert len(set(result["posted"])) == 1
    assert len(result["posted"]) == 4  # three were to be sent again; nothing was afterwards
    for seconds, (least, most) in zip(
        result["pauses"], [(7, 10.5), (90, 150), (300, 450)], strict=True
    ):
        assert least <= seconds <= most
    assert path.stat().st_mode & 0o777 == 0o600
    with client.Notebook(path).pages() as pages:
        (entry,) = pages["entries"].values()
    assert entry["sent"]


INVITATIONS = """
import { readFileSync } from "node:fs";
import * as twin from "./client.mjs";
const { document, key, path, answers } = JSON.parse(readFileSync(process.argv[2]));
const results = [];
let posted = 0;
for (const [i, [status, content]] of answers.entries()) {
  const send = async (url) => {
    const json = async () => ({ versions: [1] });
    if (url.endsWith("/.well-known/shoal")) return { status: 200, json };
    if (url.endsWith("/v1/campaign")) return { status: 200, text: async () => document };
    if (url.endsWith("/v1/invitations")) {
      if (status === 0) throw new TypeError("nobody answers");
      return { status, json: async () => JSON.parse(content) };
    }
    posted += 1;
    return { status: 200 };
  };
  const notebook = new twin.FileNotebook(path), token = new Uint8Array(32).fill(i);
  const person = new twin.Client("https://a.org", twin.fromHex(key), { notebook, token, send });
  results.push(await person.takePart([0.5, 0.5]).catch((error) => error.message));
}
const { entries } = JSON.parse(readFileSync(path));
console.log(JSON.stringify({ results, posted, drawn: Object.keys(entries).length }));
"""


def test_the_twin_draws_only_once_the_server_says_that_an_invitation_is_good(folder):
    envelope = json.dumps(envelope_of("campaign", campaign_document(enrolment="token")))
    answers = {
        (0, ""): "unreachable",
        (404, ""): "unreachable",
        (503, ""): "unreachable",
        (200, "<html>"): "unreachable",
        (200, "null"): "unreachable",
        (200, "{}"): "unreachable",
        (410, ""): "closed",
        (401, ""): "does not know",
        (200, '{"used": true}'): "used before",
        (200, '{"used": false}'): "sent",
    }
    content = {"document": envelope, "key": PUBLIC_KEY.hex(), "answers": [*answers]}
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "invitations.mjs").write_text(INVITATIONS)
    (folder / "content.json").write_text(
        json.dumps({**content, "path": str(folder / "notebook.json")})
    )
    command = ["node", folder / "invitations.mjs", folder / "content.json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    result = json.loads(run.stdout)
    for seen, expected in zip(result["results"], answers.values(), strict=True):
        assert expected in seen
    assert (result["posted"], result["drawn"]) == (1, 1)


REFUSALS = """
import { readFileSync } from "node:fs";
import * as twin from "./client.mjs";
const { document, key, path } = JSON.parse(readFileSync(process.argv[2]));
const results = [];
for (const [i, status] of [[0, 401], [1, 200], [0, 200], [1, 200]]) {
  const send = async (url) => {
    if (url.endsWith("/v1/campaign")) return { status: 200, text: async () => document };
    if (url.endsWith("/v1/reports")) return { status };
    return { status: 200, json: async () => ({ versions: [1], used: false }) };
  };
  const notebook = new twin.FileNotebook(path), token = new Uint8Array(32).fill(i);
  const person = new twin.Client("https://a.org", twin.fromHex(key), { notebook, token, send });
  results.push(await person.takePart([0.5, 0.5]).catch((error) => error.message));
}
console.log(JSON.stringify(results));
"""


def test_the_twin_charges_refused_reports_to_the_campaign_until_they_are_taken(folder):
    envelope = json.dumps(envelope_of("campaign", campaign_document(enrolment="token")))
    content = {"document": envelope, "key": PUBLIC_KEY.hex(), "path": str(folder / "notebook.json")}
    (folder / "client.mjs").write_text(SOURCE.with_name("client.js").read_text())
    (folder / "refusals.mjs").write_text(REFUSALS)
    (folder / "content.json").write_text(json.dumps(content))
    command = ["node", folder / "refusals.mjs", folder / "content.json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    results = json.loads(run.stdout)
    for seen, expected in zip(
        results, ("does not know", "one campaign", "sent", "sent"), strict=True
    ):
        assert expected in seen


def test_the_twin_has_no_other_source_of_randomness():
    twin = SOURCE.with_name("client.js").read_text()
    assert "Math.random" not in twin
    assert "getRandomValues" in twin


LATTICE = {
    "mechanism": "nd_laplace",
    "epsilon": "2",
    "columns": [["0", "20"], ["0", "12"]],
    "radius": "0.5",
    "unit": "km",
    "units": ["1", "1"],
    "step_bits": 22,
}
LATTICE_CHANGES = {
    "as it is": {},
    "no radius": {"radius": "0"},
    "radius with exponent": {"radius": "1e3"},
    "radius as number": {"radius": 1},
    "long unit": {"unit": "k" * 21},
    "negative unit": {"units": ["1", "-1"]},
    "units too few": {"units": ["1"]},
    "bits as text": {"step_bits": "22"},
    "bits of truth": {"step_bits": True},
    "too fine": {"step_bits": 40},
    "coarser than the box": {"step_bits": -20},  # of no use, and within the promise
    "too wide": {"columns": [["0", "1e9"], ["0", "12"]]},
    "coarse and fitting": {"step_bits": 2, "radius": "2"},
    "nine columns": {"columns": [["0", "1"]] * 9, "units": ["1"] * 9},
    "eight columns": {"columns": [["0", "1"]] * 8, "units": ["1"] * 8},
    "an oracle": {"oracle": {"name": "randomized_response", "size": 2}},
}


@pytest.mark.heavy
@pytest.mark.parametrize("nearby", [True, False])
def test_client_and_twin_agree_on_mangled_lattices(folder, nearby):
    documents = {}
    for name, change in LATTICE_CHANGES.items():
        rounds = [{"share": 2**32, "question": {**LATTICE, **change}}]
        documents[name] = campaign_document(rounds=rounds)
    documents["shuffled"] = {
        **campaign_document(rounds=[{"share": 2**32, "question": LATTICE}]),
        **{"setting": "shuffled", "delta": "0.000001", "n_least": 10},
    }
    expected = {}
    for name, document in documents.items():
        try:
            limits = client.Limits(nearby=nearby)
            client.check_campaign(document, limits, "2026-01-01T00:00:00Z")
            expected[name] = "taken"
        except client.Refused:
            expected[name] = "refused"
    content = {"documents": documents, "envelopes": {}, "key": "", "nearby": nearby}
    assert refusals(folder, content) == expected
    taken = {name for name, result in expected.items() if result == "taken"}
    good = {"as it is", "coarse and fitting", "coarser than the box", "eight columns"}
    assert taken == (good if nearby else set())
