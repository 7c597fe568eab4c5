"""One web page is downloaded, from checked public addresses only, within limits of size and time."""

import gzip
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.web_page import Network, is_public, load_page

pytestmark = pytest.mark.hostile

PUBLIC = "93.184.215.14"
HTML = (
    "<html><head><title>Quay Guide</title></head>"
    "<body><h1>Quay</h1><p>Caf\u00e9 on the <a href='/x'>pier</a>.</p></body></html>"
)


class Handler(BaseHTTPRequestHandler):
    """Answers of a page, of redirects and of hostile servers."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.seen.append((self.headers["Host"], self.path))
        if path.startswith("/to/"):
            self.answer(302, headers={"Location": unquote(self.path).removeprefix("/to/")})
        elif path == "/loop":
            self.answer(302, headers={"Location": "/loop"})
        elif path == "/latin":
            self.answer(200, HTML.encode("latin-1"), {"Content-Type": "text/html; charset=ISO-8859-1"})
        elif path == "/large":
            self.answer(200, b"x" * 5000, {"Content-Type": "text/plain"})
        elif path == "/zip":
            self.answer(200, gzip.compress(b"x"), {"Content-Type": "text/html", "Content-Encoding": "gzip"})
        elif path == "/image":
            self.answer(200, b"GIF89a", {"Content-Type": "image/gif"})
        elif path == "/drip":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for n in range(1000):
                self.wfile.write(b"X-%d: y\r\n" % n)
                self.wfile.flush()
                time.sleep(0.02)
        elif path == "/cut":
            self.answer(200, b"half", {"Content-Type": "text/plain", "Content-Length": "400"})
        elif path == "/missing":
            self.answer(404, b"no")
        else:
            self.answer(200, HTML.encode(), {"Content-Type": "text/html; charset=utf-8"})

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""

    def handle(self):
        try:
            super().handle()
        except OSError:
            """The client gave up, as it should."""


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.seen = []
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def network(server):
    """A resolver of a small world, and connections to its public addresses, which lead to the server."""
    connected = []
    hosts = {
        "docs.test": [PUBLIC],
        "both.test": [PUBLIC, "10.0.0.1"],
        "inside.test": ["192.168.1.1"],
        "none.test": [],
    }

    def connect(address, port, seconds):
        connected.append((address, port))
        return socket.create_connection(server.server_address, timeout=seconds)

    made = Network(resolve=lambda host, port: hosts.get(host, [host]), connect=connect, seconds=3)
    server.connected = connected
    return made


def load(url, network, **options):
    return list(load_page(url, options=LoadOptions(**options), network=network))


def test_a_page_is_a_document_whose_source_is_the_address(server, network):
    """Text by the loader of HTML, without the fragment; the connection goes to the address that was checked."""
    [document] = load("http://docs.test/guide?a=b#top", network)

    assert (document.source, document.title) == ("http://docs.test/guide?a=b", "Quay Guide")
    assert "Café on the pier." in document.text
    assert server.connected == [(PUBLIC, 80)]
    assert server.seen[-1] == ("docs.test", "/guide?a=b")
    [latin] = load("http://docs.test/latin", network)
    assert latin.text == document.text


def test_redirects_are_followed_and_checked_again(server, network):
    """The source stays the address that was given; an endless chain ends."""
    [document] = load("http://docs.test/to/http://docs.test:8080/guide", network)
    assert document.source == "http://docs.test/to/http://docs.test:8080/guide"
    assert server.connected == [(PUBLIC, 80), (PUBLIC, 8080)]
    assert server.seen[-1] == ("docs.test:8080", "/guide")
    with pytest.raises(InputError, match="redirects"):
        load("http://docs.test/loop", network)


@pytest.mark.parametrize(
    "host",
    [
        "inside.test", "both.test", "none.test", "127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    ],
)  # fmt: skip
def test_hosts_that_are_not_public_are_refused_at_once_and_after_a_redirect(server, network, host):
    """No connection is made to them."""
    for url, made in ((f"http://{host}/", []), (f"http://docs.test/to/http://{host}/", [(PUBLIC, 80)])):
        server.connected.clear()
        with pytest.raises(InputError, match="not a public host"):
            load(url, network)
        assert server.connected == made


def test_public_addresses_pass():
    """The check refuses not everything, with IPv4 inside IPv6 either."""
    assert all(map(is_public, (PUBLIC, "2606:4700::1111", f"64:ff9b::{PUBLIC}", f"::ffff:{PUBLIC}")))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://docs.test/",
        "http:///x",
        "http://a b/",
        "http://u:p@docs.test/",
        "http://docs.test:99999/",
        "file:///etc/x",
    ],
)
def test_other_addresses_are_refused(network, url):
    """No login is sent or stored, and no other scheme is opened."""
    with pytest.raises(InputError, match="address") as refused:
        load(url, network)
    assert "p@" not in str(refused.value)


@pytest.mark.parametrize(
    "path, reason",
    [("large", "more than 1,000 bytes"), ("zip", "compressed"), ("image", "type 'image/gif'"),
     ("missing", "status 404"), ("cut", "incomplete|more expected"),
     ("to/ftp://docs.test/", "invalid address")],
)  # fmt: skip
def test_an_answer_that_is_no_page_is_refused(network, path, reason):
    """Too large, compressed, of another type, cut off, or no page at all."""
    with pytest.raises(InputError, match=reason):
        load(f"http://docs.test/{path}", network, max_file_bytes=1000)


def test_a_server_that_sends_slowly_is_given_up(network):
    """Each byte comes in time, the page does not."""
    quick = Network(resolve=network.resolve, connect=network.connect, seconds=0.5)
    begin = time.monotonic()
    with pytest.raises(InputError, match="timeout"):
        load("http://docs.test/drip", quick)
    assert time.monotonic() - begin < 10


def test_the_command_asks_for_consent_and_refuses_loopback(weft_index):
    """Without --fetch an address is no path; with it, this machine is no public host."""
    assert "pass --fetch to download a web page" in weft_index("http://127.0.0.1:9/x")
    assert "not a public host" in weft_index("--fetch", "http://127.0.0.1:9/x")
    assert "--fetch needs one address" in weft_index("--fetch", "http://127.0.0.1:9/x", "notes")


@pytest.fixture
def weft_index(tmp_path, monkeypatch, capsys):
    """Run `weft index` in this process, which fails; return its errors."""
    from weft.cli.errors import run_reporting
    from weft.cli.main import weft

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_EMBEDDER", "hash")

    def run(*arguments):
        assert run_reporting(weft, arguments=["index", *arguments]) in (1, 2)
        return capsys.readouterr().err

    return run
