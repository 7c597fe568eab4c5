"""Facts stated during a recall or a prefetch are found by later recalls."""

import threading
from datetime import datetime, timedelta, timezone

import pytest

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.testing import FakeEmbedder


class Clock:
    """Ticks once a second; between a look at it and what is done next, another thread may do something."""

    def __init__(self):
        self.ticks = 0
        self.meanwhile = None

    def __call__(self):
        self.ticks += 1
        moment = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=self.ticks)
        action, self.meanwhile = self.meanwhile, None
        if action:
            other = threading.Thread(target=action)
            other.start()
            other.join()
        return moment


@pytest.fixture
def engine(tmp_path):
    settings = read_settings({"store.db": str(tmp_path / "weft.db")}, environment={})
    with Engine(settings, embedder=FakeEmbedder(), clock=Clock()) as engine:
        engine.memory.add("user", "likes", value="soup")
        yield engine


def drinks(engine):
    """State something new."""
    return lambda: engine.memory.add("user", "drinks", value="green tea")


def values(engine):
    return {piece.fact.value for piece in engine.memory.recall("what does the user drink?").facts}


def test_what_is_stated_while_warming_is_recalled(engine):
    """The facts read beforehand are those of the moment, or they are not used."""
    engine._clock.meanwhile = drinks(engine)
    engine.warm()

    assert "green tea" in values(engine)


def test_what_is_stated_while_recalling_is_recalled_next(engine):
    """An answer that was under way is not kept in the place of a newer one."""
    engine._clock.meanwhile = drinks(engine)
    values(engine)

    assert "green tea" in values(engine)
