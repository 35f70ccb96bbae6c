"""Fetching over a real connection to a server on this machine, and without any network."""

import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shoal.data import fetch, load
from shoal.data.known_files import FILES, DataFile
from shoal.errors import AlreadyExists, CannotWrite, DatasetUnavailable, InvalidSetting

BODY = b"1,2\n3,4"  # without a final line end, as published files may be
CONTENT = b"x,y\n1,2\n3,4\n"


class Answers(BaseHTTPRequestHandler):
    """Sends what the server holds, or breaks off."""

    def do_GET(self):
        body = self.server.pages.get(self.path)
        self.send_response(404 if body is None else 200)
        cut = self.path.startswith("/cut")
        self.send_header("Content-Length", str(len(body or b"") + 100 * cut))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        """Keep standard error clean."""


@pytest.fixture
def server():
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    serving.pages = {"/points.csv": BODY, "/plain.csv": CONTENT, "/cut.csv": CONTENT[:5]}
    serving.address = f"http://127.0.0.1:{serving.server_port}"
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving
    serving.shutdown()
    thread.join()
    serving.server_close()


@pytest.fixture
def known(server, monkeypatch):
    """A catalogue of files on the server."""

    def add(name, page, **parts):
        digest = hashlib.sha256(CONTENT).hexdigest()
        file = DataFile(f"made/{name}.csv", digest, "https://home", url=server.address + page)
        monkeypatch.setitem(FILES, name, file._replace(**parts))

    monkeypatch.delenv("SHOAL_DATA", raising=False)
    add("points", "/points.csv", header="x,y")
    add("plain", "/plain.csv")
    add("cut", "/cut.csv")
    add("gone", "/gone.csv")
    add("other", "/points.csv")
    return add


def refusal(name, reason, to, **asked):
    with pytest.raises(DatasetUnavailable, check=lambda error: error.reason == reason) as caught:
        fetch(name, to, **asked)
    assert caught.value.hint
    return f"{caught.value} {caught.value.hint}"


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["plain", "points"])
def test_a_fetched_file_is_the_one_that_loads(known, tmp_path, monkeypatch, name):
    path = fetch(name, tmp_path / "new" / "folder")
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == [f"{name}.csv"]
    monkeypatch.setenv("SHOAL_DATA", str(path.parent))
    assert load(name).to_pydict() == {"x": [1, 3], "y": [2, 4]}


@pytest.mark.heavy
def test_the_data_folder_is_where_it_goes_by_itself(known, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    assert fetch("plain") == tmp_path / "plain.csv"


@pytest.mark.heavy
def test_without_a_folder_nothing_is_fetched(known):
    with pytest.raises(InvalidSetting, match="No folder"):
        fetch("plain")


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["other", "cut"])
def test_other_bytes_or_half_of_them_leave_nothing(known, tmp_path, name):
    refusal(name, "changed", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_a_page_that_is_gone_is_named(known, tmp_path):
    said = refusal("gone", "refused", tmp_path)
    assert "404" in said
    assert "/gone.csv on another machine" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_a_file_that_is_right_is_not_fetched_again(known, tmp_path, server):
    path = fetch("plain", tmp_path)
    server.pages.clear()
    assert fetch("plain", tmp_path) == path


@pytest.mark.heavy
def test_a_file_of_other_content_is_replaced_only_when_told(known, tmp_path):
    (tmp_path / "plain.csv").write_text("mine")
    with pytest.raises(AlreadyExists):
        fetch("plain", tmp_path)
    refusal_of_other = refusal("gone", "refused", tmp_path)
    assert refusal_of_other
    assert (tmp_path / "plain.csv").read_text() == "mine"
    assert fetch("plain", tmp_path, overwrite=True).read_bytes() == CONTENT


@pytest.mark.heavy
def test_what_fails_half_way_leaves_the_file_that_was_there(known, tmp_path):
    (tmp_path / "cut.csv").write_text("mine")
    refusal("cut", "changed", tmp_path, overwrite=True)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.heavy
def test_nobody_listening_is_called_offline_with_a_next_step(known, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        known("points", "", url=f"http://127.0.0.1:{free.getsockname()[1]}/points.csv", header="x")
        said = refusal("points", "offline", tmp_path)
    assert "Connection refused" in said
    assert "header" in said
    assert "save it as points.csv" in said


def test_without_any_network_the_error_says_so(tmp_path, monkeypatch):
    def no_network(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    said = refusal("adult_hierarchy_sex", "offline", tmp_path)
    assert "github.com: Name or service not known" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_a_folder_that_cannot_be_made_is_named(known, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="file"):
        fetch("plain", tmp_path / "file")


def test_sets_that_are_not_as_published_say_what_was_changed(tmp_path):
    said = refusal("road3d_excerpt", "not offered", tmp_path)
    assert "an excerpt: 5,000 of 434,874 points" in said
    assert "archive.ics.uci.edu" in said


def test_sets_of_scikit_learn_need_no_fetching(tmp_path):
    assert "load('iris')" in refusal("iris", "bundled", tmp_path)


def test_a_typo_gets_the_nearest_name(tmp_path):
    assert "'seeds'" in refusal("sedes", "unknown", tmp_path)
