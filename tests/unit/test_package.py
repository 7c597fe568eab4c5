"""The public face of the package."""

import subprocess
import sys

import weft


def test_every_public_name_is_there():
    """`__all__` is sorted, short, and every name in it can be imported."""
    assert weft.__all__ == sorted(weft.__all__)
    assert len(weft.__all__) <= 15
    assert all(getattr(weft, name) is not None for name in weft.__all__)


def test_help_loads_neither_numpy_nor_sqlite():
    """The first thing a user types must not wait for what it does not need."""
    code = "import sys, weft.cli.main; print([m for m in ('numpy', 'apsw', 'rich', 'onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
