"""What the command line says when it refuses names its own flags, never a parameter of Python.

Each verb is given wrong settings. Of what it says we look for ``name=value`` and for calls, and
every flag it names must be one that it has. That no layer edits another's sentences is read off
the source.
"""

import ast
import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app

VISITS = "version: 1\ncolumns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}\n"
DEGREES = "version: 1\ncolumns: {lat: {low: 40.4, high: 41.0}, lon: {low: -74.3, high: -73.6}}\n"
MIXED = "version: 1\ncolumns: {age: {low: 0, high: 110}, sex: {values: [F]}}\n"


def columns_named(n):
    return ", ".join(f"c{i}: {{low: 0, high: 1}}" for i in range(n))


WIDE = f"version: 1\ncolumns: {{{columns_named(3)}}}\n"
KNOWN = ("--epsilon", "1", "--domain", "visits.yaml")
CLUSTER = ("cluster", "visits.csv", *KNOWN)
KMEANS = (*CLUSTER, "-k", "2")
WAVE = (*CLUSTER, "--method", "wave")
PERTURB = ("perturb", "visits.csv", *KNOWN)
ATTACK = ("attack", "membership", "visits.csv", *KNOWN)
WRONG = [
    ("cluster", "visits.csv"),
    ("cluster", "visits.csv", "--epsilon", "1"),
    CLUSTER,
    (*CLUSTER, "-k", "few"),
    (*KMEANS, "--epsilon", "0"),
    (*KMEANS, "--epsilon", "1e9"),
    (*KMEANS, "--epsilon", "1e-30"),
    (*KMEANS, "--epsilon", "much"),
    (*KMEANS, "--delta", "2"),
    (*KMEANS, "--delta", "1e-99"),
    (*KMEANS, "--delta", "1e-9", "--method", "lloyd"),
    (*KMEANS, "-k", "2-4", "--method", "lloyd"),
    (*KMEANS, "--method", "kmean"),
    (*KMEANS, "--n-public", "0"),
    (*KMEANS, "--person", "name"),
    (*KMEANS, "--max-rows-per-person", "5"),
    (*KMEANS, "--max-rows-per-person", "0", "--person", "name"),
    (*KMEANS, "--columns", "pay"),
    (*KMEANS, "--domain", "mixed.yaml"),
    (*KMEANS, "--domain", "gaps.yaml", "--columns", "gaps"),
    ("cluster", "many.csv", "-k", "2", "--epsilon", "1", "--domain", "many.yaml"),
    (*KMEANS, "-o", "taken"),
    (*KMEANS, "--choose", "luck"),
    (*WAVE, "-k", "3"),
    (*WAVE, "--epsilon", "1e9"),
    (*WAVE, "--cells", "few"),
    (*WAVE, "--cells", "4", "--level", "5"),
    (*WAVE, "--level", "70"),
    (*WAVE, "--level", "40"),
    (*WAVE, "--wavelet", "wavy"),
    (*WAVE, "--variant", "best"),
    (*WAVE, "--selector", "best"),
    (*WAVE, "--variant", "privthr", "--selector", "mass"),
    (*WAVE, "--n-public", "0"),
    (*WAVE, "--domain", "gaps.yaml", "--columns", "gaps"),
    ("learn", "visits.csv", "-k", "2"),
    (*PERTURB, "--epsilon", "0"),
    (*PERTURB, "--epsilon", "1e200"),
    (*PERTURB, "--scale", "0,1"),
    (*PERTURB, "--scale", "1e-30,1e-30"),
    (*PERTURB, "--lattice", "9"),
    (*PERTURB, "--remap", "shake"),
    (*PERTURB, "--cells", "few", "--mechanism", "local-grid"),
    (*PERTURB, "--cells", "0", "--mechanism", "local-grid"),
    (*PERTURB, "--mechanism", "square-wave"),
    (*PERTURB, "--mechanism", "staircase"),
    (*PERTURB, "--mechanism", "piecewise", "--epsilon", "1e-30"),
    (*PERTURB, "--mechanism", "piecewise", "--epsilon", "1e30"),
    (*PERTURB, "--mechanism", "restricted-laplace", "--epsilon", "1e-4"),
    (*PERTURB, "--mechanism", "planar-laplace", "--domain", "wide.yaml"),
    (*PERTURB, "--domain", "degrees.yaml"),
    (*PERTURB, "--domain", "mixed.yaml", "--mechanism", "mixed"),
    (*PERTURB, "--domain", "narrow.yaml"),
    (*PERTURB, "--domain", "gaps.yaml"),
    (*PERTURB, "--person", "age"),
    (*PERTURB, "-o", "visits.csv"),
    (*PERTURB, "-o", "taken.csv"),
    (*ATTACK, "-k", "2", "--epsilon", "0"),
    (*ATTACK, "-k", "2", "--alpha", "2"),
    (*ATTACK, "-k", "2", "--shadows", "1"),
    (*ATTACK, "-k", "2", "--domain", "gaps.yaml"),
    (*ATTACK, "--method", "plain"),
    ("audit", "nd-laplace", "--alpha", "2"),
    ("audit", "nd-laplace", "--epsilon", "much"),
    ("audit", "nothing"),
    ("audit", "--python", "math:sqrt"),
    ("ledger", "limit", "new.ledger", "--epsilon", "0"),
    ("ledger", "limit", "new.ledger", "--epsilon", "1", "--delta", "2"),
    ("ledger", "limit", "new.ledger", "--epsilon", "1", "--max-rows-per-person", "0"),
    ("ledger", "show", "none.ledger"),
    ("demo", "--epsilon", "0"),
    ("demo", "--epsilon", "1e9"),
    ("evaluate", "none"),
    ("anonymize",),
    ("anonymize", "apply", "--policy", "none.yaml"),
    ("anonymize", "--policy", "policy.yaml"),
    ("anonymize", "--policy", "large.yaml"),
    ("anonymize", "apply", "--policy", "policy.yaml", "--cut", "visits.csv"),
    ("anonymize", "check", "visits.csv", "--policy", "none.yaml"),
]
PARAMETER = re.compile(r"(?<![\w/-])[a-z_]+\d*=(?!=)")
CALL = re.compile(r"\b(Unprotected|Grid|Box|Box\.geo|Categories|rows_of|clamp|snap|NDLaplace)\(")


def policy(k):
    """More than anyone can have: of the rows, or of those that share the labels allowed."""
    other = {"role": "other", "force": True}
    names = ["sex", "gaps", "lat", "lon", "c0", "c1", "c2"]
    halves = {"kind": "interval", "width": 5}
    age = {"role": "quasi", "type": "int", "domain": [0, 99], "hierarchy": halves, "max_level": 0}
    attributes = {"age": age, "visits": other, "name": {"role": "identifier"}}
    return {
        "version": 1,
        "input": {"path": "visits.csv"},
        "attributes": attributes | dict.fromkeys(names, other),
        "privacy": {"k": k},
        "output": {"path": "out.csv"},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    lines = [f"{20 + i % 60},{i % 20},F,p{i % 40},{'' if i % 9 else 1}" for i in range(400)]
    text = "age,visits,sex,name,gaps\n" + "\n".join(lines) + "\n"
    extra = ",".join(["lat", "lon", "c0", "c1", "c2"])
    rows = [f"{line},40.5,-74,0,0,1" for line in text.splitlines()[1:]]
    (place / "visits.csv").write_text(f"age,visits,sex,name,gaps,{extra}\n" + "\n".join(rows))
    for name, domain in {
        "visits": VISITS,
        "degrees": DEGREES,
        "mixed": MIXED.replace("[F]", "[M, X]"),
        "wide": WIDE,
        "many": f"version: 1\ncolumns: {{{columns_named(300)}}}\n",
        "narrow": VISITS.replace("110", "30"),
        "gaps": "version: 1\ncolumns: {gaps: {low: 0, high: 2}, age: {low: 0, high: 110}}\n",
    }.items():
        (place / f"{name}.yaml").write_text(domain)
    for name, k in {"policy": 300, "large": 500}.items():
        (place / f"{name}.yaml").write_text(json.dumps(policy(k)))
    names = [f"c{i}" for i in range(300)]
    (place / "many.csv").write_text(",".join(names) + "\n" + ",".join("0" * 300) + "\n")
    (place / "taken").mkdir()
    (place / "taken.csv").write_text("mine")
    return place


def command_of(words):
    """The verb that the words name, and its flags."""
    command, found = typer.main.get_command(app), list(words)
    while hasattr(command, "commands") and found and found[0] in command.commands:
        command = command.commands[found.pop(0)]
    return command


def flags_of(command):
    return {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_refusal_names_flags_of_the_verb_and_nothing_of_python(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    shown = CliRunner().invoke(app, [*words, "--json"])
    assert shown.exit_code in (2, 3, 4), shown.output[-600:]
    if not shown.stdout.strip():
        return  # the help was shown
    told = json.loads(shown.stdout)
    assert set(told) - {"setting", "reason"} == {"error", "message", "hint", "exit_code"}
    text = f"{told['message']} {told['hint']}"
    assert not PARAMETER.findall(text), text
    assert not CALL.findall(text), text
    flags = flags_of(command_of(words)) | {"--help"}
    hint = re.sub(r"`[^`]*`|shoal \w+.*", "", text)  # other verbs have flags of their own
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", hint)) <= flags, text
    assert told.get("setting", "--help") in flags, told


def test_a_budget_without_noise_is_answered_by_a_flag(folder, monkeypatch):
    monkeypatch.chdir(folder)
    shown = CliRunner().invoke(app, [*KMEANS, "--epsilon", "1e9", "--json"])
    told = json.loads(shown.stdout)
    assert (told["error"], told["setting"]) == ("InvalidBudget", "--epsilon")
    assert "--epsilon 1" in told["hint"]


EDITS = {"replace", "sub", "subn", "removeprefix", "removesuffix", "translate", "format"}
LAYERS = [
    file
    for layer in ("cli", "pages")
    for file in sorted((Path(shoal.__file__).parent / layer).rglob("*.py"))
]


def edits(tree):
    """Calls that edit text."""
    for call in ast.walk(tree):
        is_method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if is_method and call.func.attr in EDITS:
            yield call


def edits_of_errors(tree):
    """Lines that edit text where an error is handled, or any error's sentences elsewhere."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    handled = [call.lineno for handler in handlers for call in edits(handler)]
    sentences = {"message", "hint", "texts"}
    return handled + [
        call.lineno
        for call in edits(tree)
        if sentences & {part.attr for part in ast.walk(call) if isinstance(part, ast.Attribute)}
    ]


@pytest.mark.parametrize("file", LAYERS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_layer_edits_the_sentences_of_another(file):
    assert edits_of_errors(ast.parse(file.read_text())) == []


def test_an_edit_would_be_seen():
    edit = "try: f()\nexcept E as error:\n    raise E(error.message.replace('a', 'b'))"
    assert edits_of_errors(ast.parse(edit))
    assert edits_of_errors(ast.parse("said = re.sub('a', 'b', error.hint)"))
