"""Databases and servers for the collector's tests, on this machine alone."""

import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = "not installed; pip install 'shoal[collector]'"


def postgres_folder():
    """Where Debian keeps PostgreSQL's programs, or None."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    program = shutil.which("initdb")
    return Path(program).parent if program else None


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A PostgreSQL server of this run's own, without a network; gives a new database each time."""
    pytest.importorskip("psycopg", reason=f"psycopg is {MISSING}")
    programs = postgres_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    user = {"user": "postgres"} if os.getuid() == 0 else {}
    folder = Path("/tmp") / f"shoal-postgres-{os.getpid()}"  # a socket's path must be short
    folder.mkdir(mode=0o700)
    if user:
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"

    def run(*command):
        subprocess.run(command, check=True, capture_output=True, cwd="/", **user)

    start = ["-D", data, "-w", "-l", folder / "log", "-o", f"-c listen_addresses='' -k {folder}"]
    try:
        initdb = ["-D", data, "-A", "trust", "-U", "shoal", "-E", "UTF8", "--locale=C"]
        run(programs / "initdb", *initdb)
        run(programs / "pg_ctl", *start, "start")
        yield _databases(folder)
        run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _databases(folder):
    import psycopg

    number = iter(range(1_000_000))

    def new():
        name = f"campaign_{next(number)}"
        with psycopg.connect(f"host={folder} user=shoal dbname=postgres", autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}")
        return f"postgresql:///{name}?host={folder}&user=shoal"

    return new


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The URL of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'campaign.sqlite'}"
    return request.getfixturevalue("postgres")()


def free_port():
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(app, port=None, **settings):
    """Serve an application from a thread, as it is served to people; yields its address."""
    import uvicorn

    from shoal.collector._server import configure

    port = port or free_port()
    server = uvicorn.Server(configure(app, "127.0.0.1", port, **settings))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
