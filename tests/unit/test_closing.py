"""The end of a command: who has to wait is told what for."""

import time

from weft.cli import closing
from weft.cli.closing import CommandEngine
from weft.config import read_settings
from weft.store.memory.store import MemoryDatabase


class Slow(MemoryDatabase):
    """A database whose end takes as long as it is told."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.closed = seconds, False

    def close(self):
        time.sleep(self.seconds)
        self.closed = True


def test_a_long_end_is_explained_and_a_short_one_is_not(monkeypatch, capsys):
    for seconds, patience, said in ((0.0, 30.0, ""), (0.5, 0.0, closing.WAITING + "\n")):
        monkeypatch.setattr(closing, "PATIENCE", patience)
        database = Slow(seconds)
        with CommandEngine(read_settings({}), database=database):
            pass
        assert database.closed
        assert capsys.readouterr().err == said
