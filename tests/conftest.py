"""Fixtures for all tests: draws that depend on no other test; a Spark cluster for each process."""

import hashlib
import importlib.util
import os
import random
import re
import subprocess
import sys
import unittest
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples on every machine, however slow; --hypothesis-profile=wander looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("wander", derandomize=False, deadline=None, max_examples=1_000)
settings.load_profile("same")

# Tests say themselves what is set (but for where data lies), what a terminal is like, and who may
# read files.
os.umask(0o022)
for _name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "COLUMNS"):
    os.environ.pop(_name, None)
for _name in [name for name in os.environ if name.startswith("SHOAL_") and name != "SHOAL_DATA"]:
    del os.environ[_name]

DATA = Path(os.environ.get("SHOAL_DATA") or "../shared/data").resolve()  # real data sets, if any

BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java machines that do not live to be warm

_started: dict[str, object] = {}


# What attacks, simulates, or learns from reports: tests and examples.
LONG_SUBJECTS = ("audit", "cluster.local", "planning")
LONG_FOLDERS = (
    *(f"tests.{name}" for name in ("adversarial", "contracts", "papers", "statistical")),
    *(f"{place}.{name}" for place in ("tests", "src.shoal") for name in LONG_SUBJECTS),
)
# Engines, and what takes seconds to set up.
LONG_FIXTURES = {"browser", "cluster_url", "learnt", "spark", "standalone", "through_connect"}


# Optional parts, by a package of each, and the errors that say that one is missing.
OPTIONAL = {"pyspark": "spark", "plotly": "plotly", "fastapi": "collector"}
MISSING = ("MissingPart", "NotInstalled")


class _Entropy:
    """Bytes that follow from a name, in place of the operating system's.

    Noise, keys and names of runs are drawn from `os.urandom`, which `secrets` reads through
    `random`: with both replaced, a test draws the same on every run, and still never draws the
    same bytes twice. A forked process goes on with bytes of its own; one that is started afresh
    has the operating system's.
    """

    def __init__(self, salt):
        self._salt = salt
        self._name, self._blocks = None, count()
        # Bound now, since a test may replace it.
        self._from_os = os.urandom
        os.register_at_fork(before=self._number_fork, after_in_child=self._name_fork)

    def draw(self, size):
        if self._name is None:
            return self._from_os(size)
        text = f"{self._salt} {self._name} {next(self._blocks)}"
        return hashlib.shake_256(text.encode()).digest(size)

    @contextmanager
    def named(self, name):
        """Draw the bytes of this name."""
        before = self._name, self._blocks, os.urandom, random._urandom
        self._name, self._blocks = name, count()
        os.urandom = random._urandom = self.draw
        try:
            yield
        finally:
            self._name, self._blocks, os.urandom, random._urandom = before

    def _number_fork(self):
        self._fork = next(self._blocks)

    def _name_fork(self):
        if self._name is not None:
            self._name, self._blocks = f"{self._name} fork {self._fork}", count()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Name the bytes by the test."""
        path, _, test = item.location
        with self.named(f"{path} {test}"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """Name those of a fixture that tests share by itself, whichever test comes first."""
        if request.scope == "function":
            return (yield)
        with self.named(f"{request.node.nodeid} {fixturedef.argname} {request.param_index}"):
            return (yield)


def pytest_configure(config):
    """Have tests and the examples of docstrings draw the same noise on every run."""
    config.pluginmanager.register(_Entropy(config.getoption("--noise")))
    config.pluginmanager.register(_Optional())
    if config.getoption("--quick"):
        config.pluginmanager.register(_Quick())
        # Optional parts may be missing there, and with them what their modules import.
        config.option.doctest_ignore_import_errors = True
    # Of several processes that run tests, only the one that hands them out hears of all.
    if config.getoption("--passed") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Passed(config.getoption("--passed")))


class _Quick:
    """Does not even import what --quick leaves out whole, tests and examples alike."""

    def pytest_ignore_collect(self, collection_path, config):
        module = _module(collection_path.relative_to(config.rootpath))
        return True if _is_long_module(module) else None


class _Optional:
    """Skips what turns out to need an optional part of shoal that is not installed."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self):
        try:
            return (yield)
        except Exception as error:
            # A part's own import, or the error that says which part is missing.
            missing = [name for name in OPTIONAL if name in str(error).split("\n")[0]]
            is_missing = isinstance(error, ImportError) or type(error).__name__ in MISSING
            if is_missing and missing and importlib.util.find_spec(missing[0]) is None:
                pytest.skip(
                    f"{missing[0]} is not installed; pip install 'shoal[{OPTIONAL[missing[0]]}]'"
                )
            raise


class _Passed:
    """Adds every test that passes to a file, as soon as it does."""

    def __init__(self, path):
        self._path = Path(path)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


def pytest_addoption(parser):
    """Add options of the Makefile, of tools/heavy_tests.py, and --noise."""
    parser.addoption("--part", metavar="I/N", help="the I-th of N parts of the tests, e.g. 1/4")
    parser.addoption(
        "--passed", metavar="FILE", help="leave out the tests that FILE lists, and add what passes"
    )
    parser.addoption(
        "--noise",
        default="",
        metavar="NAME",
        help="other noise than usual, the same for the same name: shows what holds by chance",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="a minute of tests: no Spark, no browser, no statistics, none that is marked heavy",
    )
    parser.addoption(
        "--heavy", action="store_true", help="with --quick: those that are marked heavy, too"
    )


# Last, so that marks were looked at before tests are dealt out into parts.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what --quick has no time for, other parts, and what passed before."""
    kept = list(items)
    if config.getoption("--quick"):
        marks = {"slow"} if config.getoption("--heavy") else {"slow", "heavy"}
        kept = [item for item in kept if not _is_long(item, marks)]
    if part := config.getoption("--part"):
        number, of = _part(part)
        kept = kept[number - 1 :: of]
    if (passed := config.getoption("--passed")) and Path(passed).exists():
        before = {*Path(passed).read_text(encoding="utf-8").splitlines()}
        kept = [item for item in kept if item.nodeid not in before]
    stay = {*kept}
    left_out = [item for item in items if item not in stay]
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def _part(text):
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise pytest.UsageError(f"--part is {text!r}; it must be one of several, e.g. 1/4.")
    return int(match[1]), int(match[2])


def _module(path):
    return ".".join(path.with_suffix("").parts)


def _is_long_module(module):
    return "spark" in module or module.startswith(LONG_FOLDERS)


def _is_long(item, marks):
    module = _module(Path(item.nodeid.partition("::")[0]))
    return (
        _is_long_module(module)
        or bool(LONG_FIXTURES & {*getattr(item, "fixturenames", ())})
        or any(item.get_closest_marker(mark) is not None for mark in marks)
    )


@pytest.fixture(autouse=True)
def _same_draws_whatever_ran_before(request):
    """Have a module's generator begin every test where the import left it."""
    module = getattr(request, "module", None)
    rng = getattr(module, "rng", getattr(module, "RNG", None))
    if isinstance(rng, np.random.Generator):
        state = _started.setdefault(module.__name__, rng.bit_generator.state)
        rng.bit_generator.state = state


@pytest.fixture(autouse=True)
def _no_releases_before():
    """Have the process's sum of releases without a ledger begin anew in every test."""
    module = sys.modules.get("shoal.privacy.default_ledger")
    if module is not None:
        module._process = module._ProcessSum()


@pytest.fixture(scope="session")
def real_file():
    """Find a file of real data by its path below the data folder; skip the test without it."""

    def find(path):
        if not (DATA / path).is_file():
            pytest.skip(f"needs real data: {path}, below the folder that SHOAL_DATA names")
        return DATA / path

    return find


@pytest.fixture
def load_real(real_file, monkeypatch):
    """Load a real data set by its name; skip the test without it."""
    from shoal.data import load
    from shoal.data.known_files import FILES

    def find(name):
        real_file(FILES[name].path)
        monkeypatch.setenv("SHOAL_DATA", str(DATA))
        return load(name)

    return find


@pytest.fixture
def run_check():
    """Run a check of scikit-learn's; those that call themselves off are listed with a reason.

    One that is listed is expected to fail, one that is not listed fails, and so does one that runs
    although it is listed: nothing is skipped unseen, and the list stays true.
    """

    def run(check, estimator, not_applicable):
        name = check.func.__name__
        try:
            check(estimator)
        except unittest.SkipTest as called_off:
            if name not in not_applicable:
                pytest.fail(f"{name} called itself off and is not listed: {called_off}")
            pytest.xfail(not_applicable[name])
        assert name not in not_applicable, f"{name} runs: take it off the list"

    return run


@pytest.fixture
def through_connect():
    """Run a script in a process of its own, which Spark Connect needs; what it printed."""

    def run(script, *words):
        places = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        places["JAVA_TOOL_OPTIONS"] = f"{BRIEF} -Xmx700m"
        places["SPARK_TESTING"] = "1"  # else its port is a fixed one
        command = [sys.executable, "-c", script, *map(str, words)]
        env = {**os.environ, **places}
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=env, timeout=900
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def spark():
    """A session on two executors, each a process of its own, as on a real cluster."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.driver.extraJavaOptions": BRIEF,
        "spark.executor.extraJavaOptions": BRIEF,
        "spark.driver.memory": "700m",
        "spark.executor.memory": "700m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",  # it plans every small job twice
        "spark.task.maxFailures": "2",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("shoal tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
