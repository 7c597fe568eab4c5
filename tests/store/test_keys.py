"""API keys in all stores, and the keyring."""

from datetime import datetime, timedelta, timezone

import apsw
import pytest
from opening import EACH, open_empty

from weft.engine.api_keys import Keyring
from weft.errors import ConfigError, InputError, NotFound
from weft.store.sqlite.database import SqliteDatabase

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


@pytest.fixture(params=EACH)
def database(request):
    made = open_empty(request.param, request)
    yield made
    made.close()


@pytest.fixture
def ring(database):
    times = iter(NOON + timedelta(hours=hour) for hour in range(100))
    return Keyring(database, clock=lambda: next(times))


def test_a_key_is_found_by_its_text_alone(ring):
    """The record has sorted namespaces and the access."""
    key, text = ring.create("laptop", namespaces=["notes", "café", "notes"], access="write")

    assert ring.find(text) == key
    assert (key.namespaces, key.access, key.created, key.revoked) == (("café", "notes"), "write", NOON, None)
    wrong = text[:-1] + ("a" if text[-1] != "a" else "b")
    for other in (
        wrong,
        text[5:],
        text.upper(),
        "",
        "weft__",
        key.id,
        key.digest,
        f"weft_{'0' * 12}_{'a' * 43}",
        "\ud800",
    ):
        assert ring.find(other) is None


def test_a_revoked_key_opens_nothing_and_stays_listed(ring):
    """Revoking twice keeps the first time; only forgetting removes it."""
    first, text = ring.create("a", namespaces=["x"])
    second, _ = ring.create("b", namespaces=["x"])
    revoked = ring.revoke(first.id)

    assert revoked.revoked == NOON + timedelta(hours=2)
    assert ring.revoke(first.id) == revoked
    assert ring.find(text) is None
    assert ring.all() == [revoked, second]
    assert ring.opens()
    ring.revoke(second.id)
    assert not ring.opens()
    assert not ring.is_empty()
    ring.forget(first.id)
    ring.forget(second.id)
    assert ring.is_empty()
    with pytest.raises(NotFound):
        ring.revoke(first.id)


def test_two_keys_have_nothing_in_common(ring):
    """Ids and secrets are unique."""
    texts = [ring.create(namespaces=["x"])[1] for _ in range(20)]

    assert len({text.split("_", 2)[1] for text in texts}) == len({text.split("_", 2)[2] for text in texts}) == 20


def test_a_key_without_a_proper_namespace_is_refused(ring):
    """Nothing is stored."""
    with pytest.raises(InputError):
        ring.create(namespaces=[])
    with pytest.raises(ConfigError):
        ring.create(namespaces=["  "])
    with pytest.raises(InputError):
        ring.create("a\x00b", namespaces=["x"])

    assert ring.all() == []


def test_the_file_does_not_hold_the_key(tmp_path):
    """Whoever reads the file learns hashes."""
    database = SqliteDatabase(str(tmp_path / "keys.db"))
    key, text = Keyring(database).create("laptop", namespaces=["x"])
    database.close()
    (row,) = apsw.Connection(str(tmp_path / "keys.db")).execute("SELECT * FROM api_key").fetchall()
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert key.digest in row
    assert text.encode() not in raw
    assert text.split("_", 2)[2].encode() not in raw
