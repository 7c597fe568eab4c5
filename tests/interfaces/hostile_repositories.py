"""
Repositories that make Git run a program, one for each way.

`{run}` is the path of a program that writes a marker file, `{top}` the folder of the repository.
"""

import os
import shutil
from dataclasses import dataclass, field

from git_repositories import GitRepository

SIGNATURES = {
    "openpgp": "-----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----",
    "x509": "-----BEGIN SIGNED MESSAGE-----\n AAAA\n -----END SIGNED MESSAGE-----",
    "ssh": "-----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----",
}
COMMITS = 3 + len(SIGNATURES)
"""Commits of every hostile repository."""

LOG = ("log", "--patch")
DIFF = ("diff", "HEAD~5", "HEAD~4")
MAIL = b"Subject: x\n\nx\n"
URL = b"protocol=https\nhost=example.org\n\n"
USES_BAD_DRIVER = "* diff=bad\n"


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to make Git run a program of the repository."""

    settings: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    """Files that are written below the repository, the Git directory included."""
    control: tuple = LOG
    """Arguments of Git that run the program."""
    stdin: bytes = b""
    terminal: bool = False
    """True if Git writes to a terminal; only then it starts a pager."""
    since: tuple = (2, 30)
    """First version of Git that has this way."""


CONVERT = '[diff "bad"]\n\ttextconv = {run}\n'
HOOK = "#!/bin/sh\n{run}\n"

WAYS = {
    # programs that diffs run
    "text conversion": Way(settings={"diff.bad.textconv": "{run}"}),
    "external diff": Way(settings={"diff.external": "{run}"}, control=DIFF),
    "external diff in the log": Way(settings={"diff.external": "{run}"}, control=(*LOG, "--ext-diff")),
    "diff driver": Way(settings={"diff.bad.command": "{run}"}, control=DIFF),
    "merge driver": Way(settings={"merge.bad.driver": "{run}"}, control=("revert", "--no-commit", "HEAD~4")),
    "diff tool": Way(
        settings={"diff.tool": "bad", "difftool.bad.cmd": "{run}"}, control=("difftool", "--no-prompt", *DIFF[1:])
    ),
    "filter of interactive diffs": Way(
        settings={"interactive.diffFilter": "{run}", "color.ui": "true"},
        files={"a.txt": "changed\n"},
        control=("add", "--patch"),
        stdin=b"q\n",
        terminal=True,
    ),
    "clean filter": Way(settings={"filter.bad.clean": "{run}"}, control=("add", "--renormalize", ".")),
    "smudge filter": Way(settings={"filter.bad.smudge": "{run}"}, control=("cat-file", "--filters", "HEAD:a.txt")),
    "process filter": Way(settings={"filter.bad.process": "{run}"}, control=("cat-file", "--filters", "HEAD:a.txt")),
    # where configuration and attributes come from
    "included file": Way(settings={"include.path": "extra"}, files={".git/extra": CONVERT}),
    "conditionally included file": Way(settings={"includeIf.gitdir:**.path": "{top}/extra"}, files={"extra": CONVERT}),
    "configuration of a worktree": Way(
        settings={"core.repositoryFormatVersion": "1", "extensions.worktreeConfig": "true"},
        files={".git/config.worktree": CONVERT},
    ),
    "attributes in .git/info": Way(
        settings={"diff.other.textconv": "{run}"}, files={".git/info/attributes": "* diff=other\n"}
    ),
    "attributes file": Way(
        settings={"diff.other.textconv": "{run}", "core.attributesFile": "{top}/extra"},
        files={"extra": "*.md diff=other\n"},
    ),
    "working tree elsewhere": Way(
        settings={"diff.other.textconv": "{run}", "core.worktree": "{top}/elsewhere"},
        files={"elsewhere/.gitattributes": "* diff=other\n"},
        control=("-C", "elsewhere", *LOG),
    ),
    # hooks and monitors
    "hook": Way(files={".git/hooks/pre-commit": HOOK}, control=("commit", "--allow-empty", "--message=x")),
    "folder of hooks": Way(
        settings={"core.hooksPath": "{top}/hooks"},
        files={"hooks/reference-transaction": HOOK},
        control=("update-ref", "refs/heads/other", "HEAD"),
    ),
    "hook in the configuration": Way(
        settings={"hook.bad.command": "{run}", "hook.bad.event": "pre-commit"},
        control=("commit", "--allow-empty", "--message=x"),
        since=(2, 54),
    ),
    "file system monitor": Way(settings={"core.fsmonitor": "{run}"}, control=("status",)),
    # signatures
    "check of OpenPGP signatures": Way(settings={"log.showSignature": "true", "gpg.program": "{run}"}),
    "check of X.509 signatures": Way(settings={"log.showSignature": "true", "gpg.x509.program": "{run}"}),
    "check of SSH signatures": Way(
        settings={
            "log.showSignature": "true",
            "gpg.ssh.program": "{run}",
            "gpg.ssh.allowedSignersFile": "{top}/a.txt",
        },
        since=(2, 34),
    ),
    "key for SSH signatures": Way(
        settings={"gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": "{run}"},
        control=("commit", "--allow-empty", "--gpg-sign", "--message=x"),
        since=(2, 34),
    ),
    # what a user sees and writes
    "pager": Way(settings={"core.pager": "{run}"}, terminal=True),
    "pager of the log": Way(settings={"pager.log": "{run}"}, terminal=True),
    "editor": Way(settings={"core.editor": "{run}"}, control=("commit", "--allow-empty")),
    "editor of a rebase": Way(settings={"sequence.editor": "{run}"}, control=("rebase", "-i", "HEAD~1")),
    "alias": Way(settings={"alias.trap": "!{run}", "alias.log": "!{run}"}, control=("trap",)),
    "trailer": Way(
        settings={"trailer.bad.key": "Bad", "trailer.bad.command": "{run}"},
        control=("interpret-trailers", "--trailer", "bad=x"),
        stdin=MAIL,
    ),
    "archive format": Way(settings={"tar.bad.command": "{run}"}, control=("archive", "--format=bad", "HEAD")),
    "browser": Way(
        settings={"web.browser": "bad", "browser.bad.cmd": "{run}"}, control=("web--browse", "http://localhost")
    ),
    "viewer of manual pages": Way(
        settings={"man.viewer": "bad", "man.bad.cmd": "{run}"}, control=("help", "--man", "log")
    ),
    # other repositories
    "credential helper": Way(settings={"credential.helper": "!{run}"}, control=("credential", "fill"), stdin=URL),
    "prompt for a password": Way(settings={"core.askPass": "{run}"}, control=("credential", "fill"), stdin=URL),
    "SSH": Way(
        settings={"core.sshCommand": "{run}", "remote.evil.url": "ssh://localhost/x"}, control=("fetch", "evil")
    ),
    "proxy": Way(
        settings={"core.gitProxy": "{run}", "remote.evil.url": "git://127.0.0.1/x"}, control=("fetch", "evil")
    ),
    "upload-pack": Way(
        settings={"remote.evil.url": "{top}", "remote.evil.uploadpack": "{run}"}, control=("fetch", "evil")
    ),
    "receive-pack": Way(
        settings={"remote.evil.url": "{top}", "remote.evil.receivepack": "{run}"}, control=("push", "evil", "HEAD")
    ),
    "protocol ext": Way(
        settings={"remote.evil.url": "ext::{run}", "protocol.ext.allow": "always"}, control=("fetch", "evil")
    ),
    "references of alternates": Way(
        settings={"core.alternateRefsCommand": "{run}"},
        files={
            ".git/objects/info/alternates": "{top}/inner.git/objects\n",
            "inner.git/objects/info/packs": "",
            "inner.git/HEAD": "ref: refs/heads/main\n",
            "inner.git/refs/x": "",
        },
        control=("log", "--alternate-refs"),
    ),
}


def make_template(folder):
    """Make the repository that all ways start from: three commits, then one for each kind of signature."""
    repository = GitRepository(folder)
    attributes = "*.txt diff=bad merge=bad filter=bad\n"
    repository.commit("Add a file", {"a.txt": "one\n", "b.md": "# Title\n", ".gitattributes": attributes})
    repository.commit("Change it", {"a.txt": "two\n"})
    repository.commit("Change it again", {"a.txt": "three\n"})
    for signature in SIGNATURES.values():
        sign(repository, signature)
    return repository


def sign(repository, signature):
    """Add a commit with a signature that nobody made."""
    head = repository("rev-parse", "HEAD")
    raw = repository("cat-file", "commit", "HEAD").partition("\n\n")[0]
    lines = [line for line in raw.split("\n") if line.startswith(("tree ", "author ", "committer "))]
    lines.insert(1, f"parent {head}")
    text = "\n".join([*lines, f"gpgsig {signature}", "", "Sign it", ""])
    made = repository("hash-object", "-t", "commit", "-w", "--stdin", input=text.encode())
    repository("update-ref", "HEAD", made)


def copy_template(template, folder):
    """Return a copy of a repository."""
    shutil.copytree(template.folder, folder, symlinks=True)
    return GitRepository(folder, init=False)


def plant(way, repository, program):
    """Make a repository run a program in one way."""
    words = {"run": program, "top": repository.folder}
    for path, text in way.files.items():
        target = repository.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.format(**words))
        target.chmod(0o755)
    with (repository.folder / ".git" / "config").open("a") as config:
        config.writelines(_section(name, value.format(**words)) for name, value in way.settings.items())


def fire(way, repository):
    """Run Git as a user would, so that the program runs."""
    if not way.terminal:
        repository(*way.control, check=False, input=way.stdin)
        return
    terminal, output = os.openpty()
    try:
        repository(*way.control, check=False, input=way.stdin, stdout=output)
    finally:
        os.close(terminal)
        os.close(output)


def _section(name, value):
    """Return a setting as lines of a configuration file."""
    section, _, key = name.rpartition(".")
    head, _, sub = section.partition(".")
    return f'[{head} "{sub}"]\n\t{key} = "{value}"\n' if sub else f'[{head}]\n\t{key} = "{value}"\n'
