"""Small Git repositories, made by the installed Git."""

import os
import re
import subprocess

NAMES = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Release Team"), ("EMAIL", "release@example.org"))
}


def git_version():
    """Return the version of the installed Git: (2, 39)."""
    out = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", out).groups()))


class GitRepository:
    """Repository in a new folder; a call runs Git there and returns its output."""

    def __init__(self, folder, *options, init=True):
        self.folder = folder
        if init:
            folder.mkdir(parents=True)
            self("init", "--quiet", "--initial-branch=main", *options)

    def __call__(self, *arguments, check=True, variables=None, **options):
        """Run Git as a user would, with the configuration of the repository and further variables."""
        command = ["git", "-C", str(self.folder), *map(str, arguments)]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**inherited, **NAMES, "TERM": "xterm", **(variables or {})}
        options = {"stdout": subprocess.PIPE, "input": b"", **options}
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False, **options)
        assert not check or done.returncode == 0, done.stderr
        return (done.stdout or b"").decode("utf-8", "replace").strip()

    def commit(self, message, files):
        """Write files, commit everything, and return the id."""
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "--message", message)
        return self("rev-parse", "HEAD")

    def configure(self, **settings):
        """Add settings to the configuration of the repository: `configure(**{"core.pager": "less"})`."""
        for name, value in settings.items():
            self("config", "--add", name, value)
