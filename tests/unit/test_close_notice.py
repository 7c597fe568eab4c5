"""Notice if closing a store takes long."""

import threading

import pytest

from weft.cli import options
from weft.engine.engine import Engine


@pytest.mark.parametrize("patience, printed", [(60.0, ""), (0.0, options.CLOSE_NOTICE + "\n")], ids=["fast", "slow"])
def test_only_a_slow_close_is_explained(monkeypatch, capsys, patience, printed):
    """The engine is closed in both cases; the slow one takes until the notice is there."""
    closed, noticed, say = [], threading.Event(), options.say
    monkeypatch.setattr(options, "CLOSE_NOTICE_S", patience)
    monkeypatch.setattr(options, "say", lambda *words, **where: (say(*words, **where), noticed.set()))
    monkeypatch.setattr(Engine, "close", lambda engine: closed.append(noticed.wait(60) if printed else None))
    with options.Session(overrides={"store.db": ":memory:", "models.embedder": "hash"}).open():
        assert not closed

    assert closed
    assert capsys.readouterr().err == printed


def test_quiet_explains_nothing(monkeypatch, capsys):
    """A slow close is not reported either: no timer runs while it lasts."""
    timers = []
    monkeypatch.setattr(Engine, "close", lambda engine: timers.extend(threading.enumerate()))
    with options.Session(overrides={"store.db": ":memory:", "models.embedder": "hash"}, verbosity=-1).open():
        pass

    assert timers and not any(isinstance(thread, threading.Timer) for thread in timers)
    assert capsys.readouterr().err == ""
