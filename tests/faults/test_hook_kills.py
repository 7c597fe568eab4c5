"""Random kills of hooks, and of the daemon that answers them: the next hook is answered, and no transcript is lost."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from fault_settings import chance, count
from hostile_folder import console_script

KILLS, KILLS_PER_DAEMON = 200, 10
MAX_SECONDS = 0.4
"""A hook is killed at most so many seconds after its start, which is longer than it takes."""
QUESTION = "how many tonnes lifts the harbour crane?"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the runtime folder is set by a variable of Unix")


@pytest.fixture
def store(tmp_path):
    """A store with a fact about the user, and the environment of its hooks."""
    with tempfile.TemporaryDirectory(prefix="weft") as runtime:  # the path of a socket has to be short
        made = Store(tmp_path, {**os.environ, "WEFT_EMBEDDER": "hash", "XDG_RUNTIME_DIR": runtime})
        made.run("fact", "add", "user", "prefers", "green tea")
        yield made
        made.kill_daemon()


class Store:
    """Hooks of one store."""

    def __init__(self, folder, environment):
        self.folder, self.db, self.environment = folder, str(folder / "weft.db"), environment

    def start(self, event):
        """Start a hook, which waits for its input."""
        command = [console_script(), "hook", event, "--db", self.db, "--namespace", "default", "--deadline", "20000"]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder, env=self.environment
        )

    def run(self, *arguments):
        """Run another command on the store; return its output."""
        command = [console_script(), "--db", self.db, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kill_daemon(self):
        """Kill the daemon of this store; return True if there was one."""
        listed = subprocess.run(["pgrep", "-f", f"weft daemon --db {self.db}"], capture_output=True, text=True)
        for process in listed.stdout.split():
            os.kill(int(process), signal.SIGKILL)
        return bool(listed.stdout.split())

    def transcript(self, number):
        """Write a session log; return the input of the hook `stop`."""
        path = self.folder / f"s{number}.jsonl"
        message = {"role": "user", "content": f"Remember number {number}: crane {number} lifts forty tonnes."}
        row = {"type": "user", "sessionId": f"s{number}", "timestamp": "2026-03-02T10:15:00Z", "message": message}
        path.write_text(json.dumps(row) + "\n")
        return {"transcript_path": str(path), "session_id": f"s{number}"}

    def answer(self, event, given):
        """Return what a hook that is not killed prints."""
        process = self.start(event)
        out, _ = process.communicate(json.dumps(given).encode(), timeout=120)
        assert process.returncode == 0
        return out.decode()

    def sources(self):
        """Return the sources of the indexed transcripts."""
        return {document["source"] for document in json.loads(self.run("list", "--json"))}


def kill_once(store, random, number):
    """Start a hook, kill it at a random moment; some get half of their input."""
    event = random.choice(["session-start", "prompt", "stop"])
    given = store.transcript(f"k{number}") if event == "stop" else {"prompt": QUESTION, "session_id": "s"}
    text = json.dumps(given).encode()
    process = store.start(event)
    process.stdin.write(text if random.random() < 0.8 else text[: len(text) // 2])
    process.stdin.flush()
    time.sleep(random.random() * MAX_SECONDS)
    process.kill()
    process.communicate()


def test_killed_hooks_and_daemons_keep_no_other_hook_from_its_answer(store):
    """After every tenth kill the daemon is killed too; each time the next hook starts another one and is answered."""
    random, daemons, stopped = chance("hook kills"), 0, set()
    for number in range(count(KILLS)):
        kill_once(store, random, number)
        if number % KILLS_PER_DAEMON == 0:
            daemons += store.kill_daemon()
            assert "green tea" in store.answer("session-start", {"session_id": "s"})
            assert store.answer("stop", store.transcript(number)) == ""
            stopped.add(f"claude-code:s{number}")
            end = time.monotonic() + 60
            while not stopped <= store.sources() and time.monotonic() < end:
                time.sleep(0.1)
            assert stopped <= store.sources()
    store.kill_daemon()
    store.run("check", "--deep")
    print(f"\n{count(KILLS)} kills of hooks, {daemons} of daemons")
