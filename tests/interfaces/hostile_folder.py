"""Folder of a stranger: every name that Python could import from it is a file that writes a mark."""

import os
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

PROGRAMS = ("git", "pip", "pip3", "python", "python3", "uv", "weft")


class HostileFolder:
    """A folder with planted modules, programs and settings. `marks()` returns what ran."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cloned"
        self._mark = folder / "PWNED"
        self.path.mkdir()
        code = f"open({str(self._mark)!r}, 'a').write(__name__ + '\\n')\n"
        for name in planted_names():
            (self.path / f"{name}.py").write_text(code)
        for name in ("weft", "numpy", "encodings"):  # a package wins over a module of the same name
            (self.path / name).mkdir()
            (self.path / name / "__init__.py").write_text(code)
        for name in PROGRAMS:
            program = self.path / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\necho program {name} >> '{self._mark}'\n")
            program.chmod(0o755)
        (self.path / "evil.pth").write_text(f"import os; {code}")
        (self.path / "pyvenv.cfg").write_text(f"home = {self.path}\n")
        (self.path / "matplotlibrc").write_text("backend: module://evil_backend\n")
        (self.path / ".env").write_text("PYTHONPATH=.\nWEFT_DB=/nowhere/evil.db\n")
        notes = self.path / "notes"
        notes.mkdir()
        for number in range(6):
            (notes / f"n{number}.md").write_text(f"# Note {number}\n\nThe harbour crane {number} lifts forty tonnes.\n")

    def marks(self) -> set[str]:
        """Return the names of the files that ran."""
        return set(self._mark.read_text().split("\n")) - {""} if self._mark.exists() else set()


@cache
def planted_names():
    """Return the names of the standard library and of all installed packages that are identifiers."""
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize", "evil_backend"}
    return sorted(name for name in names if name.isidentifier() and name not in ("weft", "numpy", "encodings"))


def console_script() -> str:
    """Return the installed `weft`, beside the interpreter."""
    return str(Path(sys.executable).with_name("weft.exe" if os.name == "nt" else "weft"))
