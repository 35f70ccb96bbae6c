"""The page on the architecture is what the code is: layers, signatures, walks."""

import importlib
import importlib.util
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import shoal
from shoal import errors

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "shoal"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"^(\d+)\. `([\w/]+\.py)` `([\w.<>]+)`:", re.MULTILINE)
WALKS = {  # by heading: the name in tools/walks.py, and the package whose files are all named
    "`PrivateKMeans.fit`": ("kmeans", "cluster/kmeans"),
    "`WaveCluster.fit`": ("wave", "cluster/wave"),
    "`TopDownSpecialization.fit_transform`": ("table", "anonymize"),
    "`shoal cluster`": ("command", "cli"),
}
every_walk = pytest.mark.parametrize("heading", WALKS)


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(heading, level=2):
    """What the page says under a heading, up to the next one of its level or above."""
    (_, rest) = PAGE.split(f"\n{'#' * level} {heading}\n")
    return re.split(rf"^#{{2,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def steps_of(heading):
    return [(file, function) for _, file, function in STEP.findall(section(heading, 3))]


def subsequence_end(steps, run):
    """The first of ``steps`` that does not follow in ``run``; None if they all do."""
    rest = iter(run)
    return next((step for step in steps if step not in rest), None)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    walks = tool("walks")
    works = walks.works(tmp_path_factory.mktemp("walks"))
    return cache(lambda name: [tuple(step) for step in walks.walk(works[name])])


@pytest.mark.heavy
@every_walk
def test_the_steps_of_a_walk_are_those_of_a_run_in_order(heading, walk):
    """If not: ``python tools/walks.py NAME`` prints the walk as it is now."""
    name, _ = WALKS[heading]
    steps = steps_of(heading)
    assert len(steps) >= 15
    assert subsequence_end(steps, walk(name)) is None


@pytest.mark.heavy
@every_walk
def test_no_file_of_the_package_that_a_run_enters_is_missing(heading, walk):
    name, package = WALKS[heading]
    entered = {file for file, _ in walk(name) if file.startswith(f"{package}/")}
    assert entered - {file for file, _ in steps_of(heading)} == set()


@every_walk
def test_the_files_that_a_run_does_not_enter_are_named_and_no_others(heading):
    _, package = WALKS[heading]
    steps, rest = section(heading, 3).split("\nNot on this walk: ")
    folder = SOURCE / package
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*.py")}
    files = {file for file in files if not file.endswith("__init__.py")}
    named = {file for file in files if f"`{file}`" in rest or f"`{package}/{file}`" in steps}
    short = {file for file in files - named if f"`{file.split('/')[-1]}`" in rest}
    assert files - named - short == set()
    known = {name for file in files for name in (file, file.split("/")[-1])}
    assert set(re.findall(r"`([\w/]+\.py)`", rest)) <= known


@every_walk
def test_steps_are_numbered_from_one_on(heading):
    numbers = [int(number) for number, *_ in STEP.findall(section(heading, 3))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == len(re.findall(r"^\d+\. ", section(heading, 3), re.MULTILINE))


def test_a_step_that_is_gone_or_out_of_order_is_seen():
    run = [("a.py", "f"), ("b.py", "g"), ("c.py", "h")]
    assert subsequence_end([("a.py", "f"), ("c.py", "h")], run) is None
    assert subsequence_end([("a.py", "f"), ("d.py", "f")], run) == ("d.py", "f")
    assert subsequence_end([("b.py", "g"), ("a.py", "f")], run) == ("a.py", "f")


def test_the_table_of_layers_is_the_contract():
    named = re.findall(r"^\| `(\w+)` \|", section("The layers"), re.MULTILINE)
    rows = tool("layers_picture").layers()
    places = {name: i for i, row in enumerate(rows) for name in row}
    assert sorted(named) == sorted(places)
    assert [places[name] for name in named] == sorted(places.values())


def test_every_contract_is_named():
    names = re.findall(r'^name = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = " ".join(section("The layers").split())
    contracts = [
        name
        for name in names
        if name not in ("shoal", "Imports point up the table of layers, never down")
    ]
    assert len(contracts) >= 6
    assert [name for name in contracts if f"*{name}*" not in text] == []


def test_the_picture_is_as_the_tool_draws_it():
    """If not: ``python tools/layers_picture.py``."""
    picture = tool("layers_picture")
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.picture()


def signatures():
    """Every signature of the section, with the module or package its table is about."""
    text = section("The shared signatures")
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        modules = re.findall(r"`(shoal\.\w+)`", part.splitlines()[0])
        home = modules[0] if len(modules) == 1 else "shoal"
        for row in re.findall(r"^\| (`.*) \|", part, re.MULTILINE):
            for written in re.findall(r"`([^`]+)`", row.split(" | ")[0]):
                yield home, written


SIGNATURES = list(signatures())


def resolved(home, dotted):
    """The object of a dotted name; a module on the way is imported."""
    thing = importlib.import_module(home)
    *owners, name = dotted.split(".")
    for owner in owners:
        if inspect.ismodule(thing) and not hasattr(thing, owner):
            thing = importlib.import_module(f"{thing.__name__}.{owner}")
        else:
            thing = getattr(thing, owner)
    return thing, name


def parameters(owner, name):
    """A signature as the page writes it: no types, and no self."""
    is_class = inspect.isclass(owner)
    function = inspect.getattr_static(owner, name) if is_class else getattr(owner, name)
    is_method = is_class and not isinstance(function, staticmethod)
    function = getattr(function, "__func__", function)
    signature = inspect.signature(function)
    kept = list(signature.parameters.values())[is_method:]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in kept]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return text.replace("'", '"')


def is_attribute(owner, name):
    return (
        hasattr(owner, name)
        or name in getattr(owner, "__annotations__", {})
        or f"self.{name}" in inspect.getsource(owner)
    )


def test_there_are_signatures():
    assert len(SIGNATURES) > 80


@pytest.mark.parametrize(("home", "written"), SIGNATURES, ids=[text for _, text in SIGNATURES])
def test_a_signature_is_the_one_of_the_code(home, written):
    dotted, bracket, rest = written.partition("(")
    owner, name = resolved(home, dotted)
    if not bracket:
        assert is_attribute(owner, name)
    elif rest.endswith(", ...)"):
        assert parameters(owner, name).startswith("(" + rest.removesuffix("...)"))
    else:
        assert parameters(owner, name) == "(" + rest


def test_every_class_that_is_named_exists():
    homes = {errors, *(importlib.import_module(f"shoal.{home}") for home in shoal._HOMES)}
    homes |= {
        importlib.import_module(f"shoal.{name}")
        for name in (
            "cluster.intervals",
            "engine.table",
            "figures",
            "estimator",
            "pages.groups",
            "pages.page",
        )
    }
    names = set(re.findall(r"`([A-Z]\w+[a-z]\w+)`", PAGE))
    assert len(names) > 10
    assert {name for name in names if not any(hasattr(home, name) for home in homes)} == set()


def test_every_place_in_where_do_i_put_exists():
    places = re.findall(r"`([\w/]+/|[\w/]+\.py)`", section("Where do I put ...?"))
    invented = {place for place in places if place.endswith("name.py")}
    assert len(places) - len(invented) > 10
    for place in invented:
        assert (SOURCE / place).parent.is_dir(), place
    homes = (SOURCE, SOURCE / "mechanisms" / "local")
    for place in set(places) - invented:
        assert any((home / place).exists() for home in homes), place
