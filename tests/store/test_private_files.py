"""Stores, indexes and caches are readable by their owner alone."""

import os
import stat

import pytest

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.system.private_files import make_private_file, make_private_folder
from weft.testing import FakeEmbedder


def mode(path):
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.fixture(autouse=True)
def open_umask():
    """The umask of most systems, which would let everybody read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_store_and_its_backup_belong_to_their_owner(tmp_path):
    """The write-ahead log too."""
    with Engine(read_settings({"store.db": str(tmp_path / "weft.db")}), embedder=FakeEmbedder()) as engine:
        engine.add_text("The Auth Service issues tokens.", source="a")
        engine.database.backup(tmp_path / "copy.db")
        modes = {path.name: mode(path) for path in tmp_path.iterdir()}

    assert {"weft.db", "weft.db-wal", "copy.db"} <= set(modes)
    assert set(modes.values()) == {"0o600"}


def test_an_existing_file_keeps_its_mode(tmp_path):
    """A store that its owner shared stays shared."""
    (tmp_path / "weft.db").touch(mode=0o644)
    make_private_file(tmp_path / "weft.db")

    assert mode(tmp_path / "weft.db") == "0o644"


def test_missing_parents_are_private_too(tmp_path):
    """Existing ones keep their mode, and a file in the way is an error."""
    make_private_folder(tmp_path / "cache" / "weft" / "models")

    assert mode(tmp_path / "cache") == mode(tmp_path / "cache" / "weft" / "models") == "0o700"
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_folder(tmp_path / "file")
