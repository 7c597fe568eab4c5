"""Child processes import nothing from the current folder, and find the package in every kind of installation."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hostile_folder import HostileFolder

from weft.engine.parsing import parser_process
from weft.models.local.gpu import encoder_process
from weft.processes.child import PACKAGE_FOLDER, clean_environment, find_program, module_path, python_command
from weft.processes.child import start_process as start
from weft.processes.framing import encode
from weft.store.sqlite.index import builder_process

CHILDREN = {
    parser_process.MODULE: b"",
    encoder_process.MODULE: b"",
    builder_process.MODULE: encode({"versions": []}),
    "weft.engine.worker_process": encode({"name": "x", "settings": {"store.db": "/nowhere/x.db"}}),
    "pip": b"",
    "venv": b"",
    "weft": b"",
}
"""Modules that run as child processes, and an input after which they end."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A hostile folder that is the current folder, first on the module path, and named by variables of Python."""
    made = HostileFolder(tmp_path)
    monkeypatch.chdir(made.path)
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPLATLIBDIR"):
        monkeypatch.setenv(name, str(made.path))
    return made


def command(monkeypatch, folder, module, *arguments):
    """Return the command line of a process that was itself started by `python -m` in the folder."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "path", ["", str(folder), ".", *sys.path])
        return python_command(module, *arguments)


@pytest.mark.parametrize("module", CHILDREN)
def test_no_child_imports_from_the_current_folder(folder, monkeypatch, module):
    """Not in the folder of the interpreter, and not if it is started in the hostile folder itself."""
    for place in (None, folder.path):
        process = start(command(monkeypatch, folder.path, module), folder=place, stderr=subprocess.PIPE)
        _, errors = process.communicate(CHILDREN[module], timeout=120)
        assert b"No module named" not in errors
    assert folder.marks() == set()


def test_the_plant_works(folder, monkeypatch):
    """A process that is started in another way runs the files of the folder."""
    subprocess.run([sys.executable, "-m", "weft"], cwd=folder.path, env=clean_environment(), capture_output=True)

    assert folder.marks()


def test_a_child_sees_no_variable_of_python(folder, monkeypatch):
    """Other variables stay."""
    monkeypatch.setenv("HARBOUR", "crane")
    code = "import os; print(sorted(name for name in os.environ if name.startswith(('PYTHON', 'HARBOUR'))))"
    process = start([sys.executable, "-c", code])

    assert process.communicate(timeout=60)[0].split() == [b"['HARBOUR']"]


def test_the_module_path_is_that_of_this_process_without_the_current_folder(tmp_path, monkeypatch):
    """A link to the current folder is left out too; the folder of the package stays, wherever Weft is started."""
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    other = [str(tmp_path), str(PACKAGE_FOLDER)]
    monkeypatch.setattr(sys, "path", ["", ".", "lib", str(tmp_path / "here"), str(tmp_path / "link"), *other])
    assert module_path() == other

    monkeypatch.chdir(PACKAGE_FOLDER)
    assert str(PACKAGE_FOLDER) in module_path()


def test_a_child_has_the_module_path_and_the_flags_of_this_process(tmp_path, monkeypatch):
    """The order is the same, so that a package found here is found there."""
    (tmp_path / "given.py").write_text(
        "import json, sys\nprint(json.dumps([sys.path, sys.argv[1:], sys.flags.utf8_mode, sys.dont_write_bytecode]))\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    out, _ = start(python_command("given", "a", "-b"), stdin=subprocess.DEVNULL).communicate(timeout=60)

    assert json.loads(out) == [module_path(), ["a", "-b"], sys.flags.utf8_mode, True]


@pytest.mark.skipif(os.name == "nt", reason="user folders are elsewhere on Windows")
def test_packages_that_one_user_installed_are_found(tmp_path):
    """As after `pip install --user`: the base interpreter finds Weft only in the folder of the user."""
    scheme = sysconfig.get_path("purelib", "posix_user", {"userbase": str(tmp_path / ".local")})
    Path(scheme).mkdir(parents=True)
    here = [str(PACKAGE_FOLDER), *(path for path in sys.path if path.endswith("-packages"))]
    (Path(scheme) / "weft.pth").write_text("\n".join(here) + "\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Crane\n\nThe harbour crane lifts forty tonnes.\n")
    code = "from weft.cli.entry import main; main()"
    environment = {"HOME": str(tmp_path), "PATH": os.defpath, "WEFT_EMBEDDER": "hash"}

    def run(*arguments, expect=0):
        done = subprocess.run(
            [sys._base_executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == expect, done.stderr
        return done.stdout

    run("-I", "-c", code, expect=1)  # the base interpreter itself has no Weft
    assert json.loads(run("-c", code, "index", "notes", "--workers", "2", "--json"))["added"] == 1
    assert "forty tonnes" in run("-c", code, "query", "how many tonnes lifts the crane?")


def test_programs_are_not_taken_from_the_current_folder(folder, monkeypatch):
    """Relative entries of `PATH` are skipped."""
    monkeypatch.chdir(folder.path / "bin")
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "../bin"]))
    assert find_program("weft") is None

    monkeypatch.setenv("PATH", os.pathsep.join([".", str(folder.path / "bin")]))
    assert find_program("weft") == str(folder.path / "bin" / "weft")
