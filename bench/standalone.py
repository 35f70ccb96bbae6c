"""A standalone Spark cluster for as long as a block: a master and workers of one core each."""

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def cluster(folder: Path, hosts: Sequence[str], memory: str) -> Iterator[str]:
    """The master's URL; a worker a host, which are addresses of this machine.

    Worker i works in ``folder/work-i``; its log and its process number lie beside it.
    """
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    port, kind = _free_port(), "org.apache.spark.deploy"
    url = f"spark://127.0.0.1:{port}"
    master = [f"{kind}.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", 0]
    started = [_started([program, *master], folder, "master")]
    try:
        _wait_for(port)
        for number, host in enumerate(hosts):
            own = ["--host", host, "--work-dir", folder / f"work-{number}"]
            size = ["--cores", 1, "--memory", memory, "--webui-port", 0]
            words = [program, f"{kind}.worker.Worker", *own, *size, url]
            started.append(_started(words, folder, f"worker-{number}"))
        yield url
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _started(words: list[Any], folder: Path, name: str) -> "subprocess.Popen[bytes]":
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log)
    (folder / f"{name}.pid").write_text(str(process.pid))
    return process


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master does not answer")
