"""The spool keeps captured events until they are indexed: all of an event or nothing."""

import errno
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from platformdirs import user_data_path

from weft.daemon import spool as module
from weft.daemon.spool import Spool, SpoolFull, data_folder
from weft.daemon.state import State, read_status


@pytest.fixture
def spool(tmp_path):
    return Spool("x", base=tmp_path)


def test_the_folder_is_that_of_platformdirs():
    """It is computed without the package, which takes long to import."""
    assert Path(data_folder()) == user_data_path("weft")


def test_events_come_back_oldest_first_and_are_private(spool):
    """Only the user can read them, and the folder."""
    for number in range(3):
        spool.write({"event": "stop", "number": number})

    names = spool.names()
    assert [spool.read(name)["number"] for name in names] == [0, 1, 2]
    folder = Path(spool.folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    spool.remove(names)
    assert spool.names() == []


def test_hooks_of_two_hosts_write_at_once(spool):
    """No event replaces another."""
    threads = [threading.Thread(target=lambda n=n: [spool.write({"n": n}) for _ in range(20)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(spool.names()) == 80


def test_a_full_disk_takes_the_reserve(spool, monkeypatch):
    """Then nothing is left, and the error is reported."""
    spool.write({"n": 1})
    write, free = module._write, []

    def full(path, data, **options):
        if not free and path.endswith(module.PARTIAL):
            free.append(Path(spool.folder, module.RESERVE).stat().st_size == 0)
        if path.endswith(module.RESERVE) or Path(spool.folder, module.RESERVE).stat().st_size:
            raise OSError(errno.ENOSPC, "disk full")
        return write(path, data, **options)

    monkeypatch.setattr(module, "_write", full)
    spool.write({"n": 2})
    assert [spool.read(name)["n"] for name in spool.names()] == [1, 2]
    monkeypatch.setattr(
        module, "_write", lambda path, data, **options: (_ for _ in ()).throw(OSError(errno.ENOSPC, ""))
    )
    with pytest.raises(OSError):
        spool.write({"n": 3})
    assert len(list(Path(spool.folder).iterdir())) == 3, "no temporary file is left"


def test_the_spool_is_bounded(spool, monkeypatch):
    """By number and by size."""
    monkeypatch.setattr(module, "MAX_EVENTS", 2)
    spool.write({})
    spool.write({})
    with pytest.raises(SpoolFull):
        spool.write({})
    with pytest.raises(OSError, match="too large"):
        spool.write({"text": "x" * module.MAX_EVENT_BYTES})


def test_one_process_drains_at_a_time(spool):
    """The lock ends with its process, even if it is killed."""
    code = (
        "import sys, time; from weft.daemon.spool import Spool\n"
        f"with Spool('x', base={str(Path(spool.folder).parent)!r}).claim() as is_claimed:\n"
        "    print(is_claimed, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"True\n"
        with spool.claim() as is_claimed:
            assert not is_claimed
        other.kill()
        other.wait()
        with spool.claim() as is_claimed:
            assert is_claimed


def test_the_state_names_the_last_events_and_errors(spool):
    """Secrets are masked, errors are bounded, and damage is not an error."""
    state = State(spool)
    assert read_status(spool).capture == {} and read_status(spool).waiting == 0
    state.set("capture", "/a/s1.jsonl")
    for number in range(20):
        state.add_error(f"failed {number} with password=hunter2hunter2")
    spool.write({})

    status = read_status(spool)
    assert status.capture["what"] == "/a/s1.jsonl" and status.capture["time"]
    assert len(status.errors) == 10 and status.errors[0]["what"].startswith("failed 19")
    assert "hunter2" not in status.errors[0]["what"]
    assert status.waiting == 1 and status.oldest
    Path(spool.folder, "state").write_text("{broken")
    assert read_status(spool).capture == {}
