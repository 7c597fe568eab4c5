"""`weft index --git` runs no program of a repository; each way to run one is shown to work with Git itself."""

import os
import shutil
import subprocess

import pytest
from git_repositories import GitRepository, git_version
from hostile_repositories import COMMITS, WAYS, copy_template, fire, make_template, plant

pytestmark = pytest.mark.hostile


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The repository that all hostile ones are copies of."""
    return make_template(tmp_path_factory.mktemp("template") / "hostile")


@pytest.fixture
def repository(template, tmp_path):
    return copy_template(template, tmp_path / "hostile")


@pytest.fixture
def trap(tmp_path):
    """A program, `program`, and the file that it writes when it runs, `marker`."""
    return Trap(tmp_path)


class Trap:
    def __init__(self, folder):
        self.program, self.marker = folder / "run.sh", folder / "marker"
        self.program.write_text(f"#!/bin/sh\n: > {self.marker}\nexit 1\n")
        self.program.chmod(0o755)

    def sprung(self):
        """Return whether the program ran, and forget it."""
        ran = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        return ran


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_setting_of_the_repository_runs_nothing(way, repository, trap, weft):
    """Git itself runs the program, `weft index --git` does not."""
    if git_version() < way.since:
        pytest.skip(f"Git {way.since} is needed")
    plant(way, repository, trap.program)

    ran = weft("index", "--git", repository.folder, "--prune", "--json").json
    assert ran["added"] == COMMITS
    assert not trap.sprung()
    fire(way, repository)
    assert trap.sprung()


def test_all_settings_together_change_no_document(repository, template, trap, weft):
    """A repository with every setting, and some that change what Git prints, has the documents of a clean one."""
    repository("notes", "--ref=noise", "add", "--message=hidden note", "HEAD")
    repository("replace", "HEAD~1", "HEAD~3")
    (repository.folder / ".git" / "info" / "grafts").write_text(repository("rev-parse", "HEAD~2") + "\n")
    repository.configure(**NOISE)
    assert repository("log", "--patch") != template("log", "--patch")
    for way in WAYS.values():
        plant(way, repository, trap.program)

    def documents(folder, db):
        weft("index", "--git", folder, "--db", db)
        sources = [item["source"] for item in weft("list", "--json", "--db", db).json]
        return [weft("get", source, "--db", db).out for source in sources]

    assert documents(repository.folder, "hostile.db") == documents(template.folder, "clean.db")
    assert not trap.sprung()


NOISE = {
    "format.pretty": "oneline", "log.showRoot": "false", "log.date": "relative", "log.decorate": "full",
    "log.diffMerges": "separate", "log.follow": "true", "log.abbrevCommit": "true", "log.mailmap": "true",
    "notes.displayRef": "refs/notes/*", "diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.context": "9",
    "diff.algorithm": "histogram", "diff.renames": "false", "diff.wordRegex": ".", "diff.colorMoved": "plain",
    "color.ui": "always", "core.quotePath": "true", "i18n.logOutputEncoding": "UTF-16", "core.abbrev": "4",
}  # fmt: skip
"""Settings that change the output of `git log`."""


def test_a_submodule_runs_nothing(repository, trap, weft):
    """`diff.submodule` makes Git run another one inside the submodule, where no option of the first one holds."""
    inner = GitRepository(repository.folder / "inner")
    inner.commit("Add", {"a.txt": "one\n", ".gitattributes": "* diff=bad\n"})
    repository.commit("Add a submodule", {".gitmodules": '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n'})
    inner.commit("Change", {"a.txt": "two\n"})
    repository.commit("Change the submodule", {})
    inner.configure(**{"diff.bad.textconv": trap.program, "diff.external": trap.program})
    repository.configure(**{"diff.submodule": "diff", "submodule.recurse": "true"})
    repository.configure(**{"submodule.inner.update": f"!{trap.program}", "submodule.inner.url": inner.folder})

    assert weft("index", "--git", repository.folder, "--json").json["added"] == COMMITS + 2
    assert weft("index", "--git", inner.folder, "--json").json["added"] == 2
    assert not trap.sprung()
    repository("log", "--patch", "--no-ext-diff", "--no-textconv")
    assert trap.sprung()
    (inner.folder / ".git" / "HEAD").write_text(inner("rev-parse", "HEAD~1") + "\n")
    repository("submodule", "update", check=False)
    assert trap.sprung()


def test_missing_objects_are_not_fetched(repository, trap, weft):
    """A partial clone names a remote, and a program, for objects that it lacks."""
    blob = repository("rev-parse", "HEAD~5:a.txt")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    repository.configure(**{"core.repositoryFormatVersion": "1", "extensions.partialClone": "evil"})
    repository.configure(**{"remote.evil.url": repository.folder, "remote.evil.promisor": "true"})
    repository.configure(**{"remote.evil.uploadpack": trap.program})

    ran = weft("index", "--git", repository.folder, expect=1)
    assert f"unable to read {blob}" in ran.err
    assert not trap.sprung()
    repository("log", "--patch", check=False)
    assert trap.sprung()


VARIABLES = {
    "settings": {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "log.showSignature",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_KEY_1": "gpg.program",
        "GIT_CONFIG_VALUE_1": "{run}",
    },
    "parameters": {"GIT_CONFIG_PARAMETERS": "'log.showSignature=true' 'gpg.program={run}'"},
    "file of the user": {"GIT_CONFIG_GLOBAL": "{settings}"},
    "file of the system": {"GIT_CONFIG_SYSTEM": "{settings}"},
    "home folder": {"HOME": "{home}"},
    "folder of settings": {"XDG_CONFIG_HOME": "{home}"},
    "trace": {"GIT_TRACE": "{marker}"},
    "other repository": {"GIT_DIR": "{other}/.git"},
}
"""Variables of the caller by which Git runs a program or writes a file."""


@pytest.mark.parametrize("variables", VARIABLES.values(), ids=VARIABLES)
def test_variables_of_the_caller_do_not_reach_git(variables, repository, trap, weft, tmp_path):
    """Weft may be called by a hook of Git, or from a shell of somebody who works on another repository."""
    home = tmp_path / "home"
    (home / "git").mkdir(parents=True)
    settings = f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {trap.program}\n"
    for path in (home / ".gitconfig", home / "git" / "config"):
        path.write_text(settings)
    other = copy_template(repository, tmp_path / "other")
    other.configure(**{"log.showSignature": "true", "gpg.program": trap.program})
    words = {"run": trap.program, "marker": trap.marker, "settings": home / ".gitconfig", "home": home}
    given = {name: value.format(**words, other=other.folder) for name, value in variables.items()}

    assert weft("index", "--git", repository.folder, "--json", **given).json["added"] == COMMITS
    assert not trap.sprung()
    repository("log", check=False, variables=given)
    assert trap.sprung()


def test_settings_of_the_system_are_not_read(repository, trap, weft, tmp_path):
    """The Git of this test has its system-wide settings in another file than usual."""
    (tmp_path / "settings").write_text(f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {trap.program}\n")
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nGIT_CONFIG_SYSTEM={tmp_path}/settings exec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])

    assert weft("index", "--git", repository.folder, "--json", PATH=path).json["added"] == COMMITS
    assert not trap.sprung()
    repository("log", check=False, variables={"PATH": path})
    assert trap.sprung()


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_a_program_git_in_the_repository_is_not_run(entry, repository, trap, weft):
    """Relative entries of the search path are in the current folder, which may be a stranger's."""
    program = repository.folder / entry / "git"
    program.parent.mkdir(exist_ok=True)
    shutil.copy(trap.program, program)
    path = os.pathsep.join([entry, os.environ["PATH"]])
    added = weft("index", "--git", ".", "--db", "../a.db", "--json", cwd=repository.folder, PATH=path).json["added"]

    assert added == COMMITS
    assert not trap.sprung()
    subprocess.run(["git", "log"], cwd=repository.folder, env={**os.environ, "PATH": path}, check=False)
    assert trap.sprung()
