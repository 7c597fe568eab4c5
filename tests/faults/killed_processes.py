"""Servers and workers that are killed and started again until a deadline."""

import os
import re
import subprocess
import sys
import threading
import time

ENVIRONMENT = {"WEFT_EMBEDDER": "hash", "WEFT_MEMORY_FROM_FILES": "false", "OPENBLAS_NUM_THREADS": "1"}
LEASE_SECONDS = 3
"""Lease of the jobs of a worker, so that the jobs of a killed one are soon taken over."""
MAX_UPTIME = 5
"""A process is killed after at most so many times the seconds that it took to start, so that it has done something."""
MAX_START_SECONDS, POLL_SECONDS = 120, 0.05
READY = "ready for the jobs"
"""Message of `weft worker -v` once it has opened the store. A new connection would not show behind a pooler."""


class KilledProcess:
    """`weft serve` or `weft worker`, killed and started again any number of times."""

    def __init__(self, role, *, db, folder, name):
        self.role, self.address, self.kills, self.start_seconds = role, "", 0, 0.0
        self._db, self._folder, self._name = db, folder, name
        self._log = folder / f"{name}.log"
        self._process = None

    def start(self):
        """Start the process; return when a server listens, and a worker says that it is ready for jobs."""
        begin = time.time()
        arguments = {"serve": ["--port", "0"], "worker": ["--lease", str(LEASE_SECONDS), "-v"]}[self.role]
        with self._log.open("a") as log:
            known = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "weft", self.role, "--db", self._db, *arguments],
                cwd=self._folder,
                env={**os.environ, **ENVIRONMENT},
                stdout=log,
                stderr=subprocess.PIPE if self.role == "serve" else log,
                text=True,
            )
        if self.role == "serve":
            said = self._process.stderr.readline()
            found = re.search(r"listening at (http://\S+)", said)
            assert found, said + self._process.stderr.read()
            self.address = found[1]
        else:
            self._wait_until_ready(known)
        self.start_seconds = time.time() - begin

    def _wait_until_ready(self, known):
        """Wait for the message of a worker after this offset of the log; the process before it has written the rest."""
        for _ in range(round(MAX_START_SECONDS / POLL_SECONDS)):
            with self._log.open() as log:
                log.seek(known)
                if READY in log.read():
                    return
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"{self._name} did not start:\n{self._log.read_text()}")

    def kill(self):
        """End the process without giving it a chance to react."""
        assert self._process.poll() is None, f"{self.role} ended by itself:\n{self._log.read_text()}"
        self.address = ""
        self._process.kill()
        self._process.communicate()
        self.kills += 1


def kill_until(deadline, process, chance, *, is_broken):
    """Kill a process at random moments and start it again until a deadline; it runs in the end."""
    while time.time() < deadline and not is_broken():
        time.sleep(chance.random() * MAX_UPTIME * process.start_seconds)
        process.kill()
        process.start()


class Threads:
    """Threads whose first failure is raised by `join`."""

    def __init__(self):
        self._threads, self._errors = [], []

    def start(self, function, *arguments, **options):
        """Call a function in a thread of its own."""

        def run():
            try:
                function(*arguments, **options)
            except BaseException as error:  # noqa: BLE001 (raised by `join`)
                self._errors.append(error)

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def have_failed(self):
        """Return True if a thread has failed."""
        return bool(self._errors)

    def join(self):
        """Wait for all threads; raise the first failure."""
        for thread in self._threads:
            thread.join()
        for error in self._errors:
            raise error
