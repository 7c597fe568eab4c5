"""Temporary files of killed processes are deleted by the next run, those of living ones are not."""

import subprocess
import sys
import tempfile
from contextlib import contextmanager

import pytest

from weft.cli.output import write_whole
from weft.config.trust import trust
from weft.engine.uploads import Sandbox
from weft.models.local.model_folder import WORK_PREFIX, work_folder
from weft.store.sqlite.database import SqliteDatabase
from weft.system.temporary_files import temporary_file, temporary_folder

SCRIPT = """
import sys
from pathlib import Path
from weft.system.temporary_files import temporary_file, temporary_folder
kind, place, name = sys.argv[1:]
made = temporary_file(Path(place) / name) if kind == "file" else temporary_folder(Path(place), prefix=name)
with made as path:
    (path if kind == "file" else path / "data").write_text("half of it")
    print(path, flush=True)
    sys.stdin.read()
"""


@contextmanager
def writing_process(kind, place, name):
    """Start a process that writes a temporary file or folder, give its path, and kill it at the end."""
    command = [sys.executable, "-c", SCRIPT, kind, str(place), name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield place / process.stdout.readline().strip()
        process.kill()


def write_file(folder):
    with temporary_file(folder / "data.json") as path:
        path.write_text("all of it")
        path.replace(folder / "data.json")


def write_folder(folder):
    with temporary_folder(folder, prefix=".work-") as path:
        (path / "data").write_text("all of it")


@pytest.mark.parametrize(
    ("kind", "name", "write"), [("file", "data.json", write_file), ("folder", ".work-", write_folder)]
)
def test_only_leftovers_of_ended_processes_are_deleted(tmp_path, kind, name, write):
    """A lock, not the age, shows that a process is alive."""
    with writing_process(kind, tmp_path, name) as path:
        write(tmp_path)
        assert path.exists(), "its process lives"
    assert path.exists(), "a killed process deletes nothing"
    write(tmp_path)

    assert not path.exists()
    assert [left.name for left in tmp_path.iterdir()] == (["data.json"] if kind == "file" else [])


def test_a_file_that_was_not_renamed_is_deleted(tmp_path):
    """After an error, the old content is kept."""
    write_file(tmp_path)
    with pytest.raises(OSError, match="full"), temporary_file(tmp_path / "data.json") as path:
        path.write_text("half of it")
        raise OSError("the disk is full")

    assert [(left.name, left.read_text()) for left in tmp_path.iterdir()] == [("data.json", "all of it")]


def back_up(folder):
    database = SqliteDatabase(":memory:")
    database.backup(folder / "copy.db")
    database.close()


def record_trust(folder):
    from platformdirs import user_config_path

    (folder / "weft.toml").write_text("")
    trust(folder / "weft.toml")
    return user_config_path("weft")


def fetch_model(folder):
    with work_folder(folder):
        return None


@pytest.mark.parametrize(
    ("kind", "place", "name", "run"),
    [
        ("file", "here", "copy.db", back_up),
        ("file", "here", "graph.json", lambda folder: write_whole(folder / "graph.json", b"{}")),
        ("file", "config", "trusted.json", record_trust),
        ("folder", "models", WORK_PREFIX, fetch_model),
        ("folder", "temporary", "weft-upload-", lambda folder: Sandbox().close()),
    ],
)
def test_each_writer_deletes_its_leftovers(tmp_path, clean_home, monkeypatch, kind, place, name, run):
    """Backups, exports, the record of trust, fetched models and uploads."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    folder = {"here": tmp_path, "config": clean_home / "config" / "weft"}.get(place, tmp_path / place)
    folder.mkdir(parents=True, exist_ok=True)
    with writing_process(kind, folder, name) as path:
        pass
    assert path.exists()
    run(tmp_path)

    assert not path.exists()
