"""`weft index --watch` indexes created, changed, renamed and deleted files."""

import os
import signal
import subprocess
import sys
import time

import pytest

from weft.engine.opening.open_engine import open_engine

pytest.importorskip("watchfiles")


def wait_until(condition, *, seconds=120):
    """Poll until the condition holds; fail after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_new_changed_and_deleted_files_are_followed(tmp_path, notes):
    """Each shows up in the store without another command; ignored files do not."""
    (notes / ".gitignore").write_text("*.tmp\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "index", "notes", "--watch"],
        cwd=tmp_path,
        env={**os.environ, "WEFT_EMBEDDER": "hash"},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )
    try:
        for line in process.stderr:
            if "watching" in line:
                break
        with open_engine(tmp_path / "weft.db", embedder="hash") as engine:

            def sources():
                return {document.source for document in engine.documents()}

            # the watcher may need a moment after it says so; touching again is what an editor does too
            def appears():
                (notes / "new.md").write_text(f"# New\n\nA zebra crossing. {time.monotonic()}\n")
                (notes / "new.tmp").write_text("ignored")
                return wait_until(lambda: "notes/new.md" in sources(), seconds=3)

            assert wait_until(appears)
            (notes / "new.md").write_text("# New\n\nNow about giraffes.\n")
            assert wait_until(lambda: bool(engine.query("giraffes", method="keyword").evidence))
            (notes / "new.md").unlink()
            assert wait_until(lambda: "notes/new.md" not in sources())
            assert not any(source.endswith(".tmp") for source in sources())
            assert engine.database.check() == []
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert process.returncode == 130
