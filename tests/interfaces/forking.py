"""
Commands in forked processes with the package already imported, because imports dominate the time of short commands.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

SECONDS = 600
APART = ("weft.server", "weft.mcp", "weft.integrations", "weft.__main__")
"""What most commands never import."""


class Forks:
    """Starts `weft ARGUMENTS` as a fork of a process that has imported everything and done nothing yet."""

    def __init__(self):
        self._process = None
        self._lock = threading.Lock()

    def run(self, arguments, *, stdin, cwd, env):
        """Return exit code, output and errors of a command, which sees nothing but what it is given."""
        with self._lock, tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_text(stdin, "utf-8")
            job = {"arguments": arguments, "cwd": str(cwd), "env": env, "files": list(map(str, files))}
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return code, *(path.read_text("utf-8") for path in files[1:])

    def close(self):
        """End the process that commands are forked from."""
        if self._process is not None:
            self._process.communicate(timeout=60)


def wait_for_jobs():
    """Fork for each job and tell its exit code."""
    import_package()
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            run_command()
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def run_command():
    """Run the command line and end this process. Libraries that lost their threads in the fork would never let go."""
    from weft.cli.main import main

    code = 1
    try:
        main()
    except SystemExit as error:
        code = error.code or 0
    except BaseException:  # noqa: BLE001 (as the interpreter would)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def import_package():
    """Import all modules that most commands need."""
    import weft

    for module in walk_packages(weft.__path__, "weft."):
        if not module.name.startswith(APART):
            import_optional(module.name)


def import_optional(name):
    """Import a module unless its extra is missing."""
    try:
        import_module(name)
    except ImportError:
        return


def become(job):
    """Make this process the one that was asked for."""
    signal.alarm(SECONDS)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    for number, path in enumerate(job["files"]):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        for number, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace"))
    )
    sys.argv = ["weft", *job["arguments"]]


if __name__ == "__main__":
    wait_for_jobs()
