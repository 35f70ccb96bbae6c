"""Headers that drip are cut off; requests that come in time are not."""

import socket
import time

import pytest

from .conftest import MISSING, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")
pytest.importorskip("uvicorn", reason=f"uvicorn is {MISSING}")

from fastapi import FastAPI

from shoal.collector import _header_deadline as header_deadline

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def app_of():
    app = FastAPI()

    @app.get("/")
    async def root():
        return "here"

    return app


def is_cut_off(connection, seconds=5):
    """Whether the other side ends the connection, while a byte is sent now and then."""
    end = time.monotonic() + seconds
    connection.settimeout(0.1)
    while time.monotonic() < end:
        try:
            connection.sendall(b"x")
            if connection.recv(100) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def answer_of(connection):
    content = b""
    while not content.endswith(b'"here"'):
        content += connection.recv(1_000)
    return content


@pytest.mark.heavy
def test_headers_that_never_end_are_cut_off_and_others_are_answered(monkeypatch, capfd):
    monkeypatch.setattr(header_deadline, "HEADER_SECONDS", 0.5)
    with serving(app_of()) as address:
        port = int(address.rsplit(":", 1)[1])
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as slow,
            socket.create_connection(("127.0.0.1", port), timeout=10) as silent,
            socket.create_connection(("127.0.0.1", port), timeout=10) as good,
        ):
            slow.sendall(ASK[:20])
            good.sendall(ASK)
            assert answer_of(good).startswith(b"HTTP/1.1 200")
            assert is_cut_off(slow)
            assert silent.recv(10) == b""  # said nothing at all
            good.sendall(ASK)  # kept open meanwhile, and answered again
            assert answer_of(good).startswith(b"HTTP/1.1 200")
            good.sendall(ASK[:5])  # a later request may not drip either
            assert is_cut_off(good)
    assert "Traceback" not in capfd.readouterr().err
