"""Notice if closing a store takes long."""

import time

import pytest

from weft.cli import options
from weft.engine.engine import Engine


@pytest.mark.parametrize(
    "seconds, patience, printed",
    [(0.0, 30.0, ""), (0.5, 0.0, options.CLOSE_NOTICE + "\n")],
    ids=["fast", "slow"],
)
def test_only_a_slow_close_is_explained(monkeypatch, capsys, seconds, patience, printed):
    """The engine is closed in both cases."""
    closed = []
    monkeypatch.setattr(options, "CLOSE_NOTICE_S", patience)
    monkeypatch.setattr(Engine, "close", lambda engine: closed.append(time.sleep(seconds)))
    with options.Session(overrides={"store.db": ":memory:", "models.embedder": "hash"}).open():
        assert not closed

    assert closed
    assert capsys.readouterr().err == printed


def test_quiet_explains_nothing(monkeypatch, capsys):
    """A slow close is not reported either."""
    monkeypatch.setattr(options, "CLOSE_NOTICE_S", 0.0)
    monkeypatch.setattr(Engine, "close", lambda engine: time.sleep(0.2))
    with options.Session(overrides={"store.db": ":memory:", "models.embedder": "hash"}, verbosity=-1).open():
        pass

    assert capsys.readouterr().err == ""
