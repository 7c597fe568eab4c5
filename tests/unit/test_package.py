"""Public interface of the package."""

import copy
import os
import pickle
import pydoc
import subprocess
import sys

import pytest

import weft
from weft.errors import BoundReached, InputError, MissingExtra


def test_every_public_name_is_there():
    """`__all__` is sorted, short, and every name in it can be imported."""
    assert weft.__all__ == sorted(weft.__all__)
    assert len(weft.__all__) <= 15
    assert all(getattr(weft, name) is not None for name in weft.__all__)


def test_help_and_completion_know_every_public_name():
    """They are looked up when first used, and `dir` would not see them."""
    assert set(weft.__all__) <= set(dir(weft))
    assert "open_engine(" in pydoc.plain(pydoc.render_doc(weft))


@pytest.mark.parametrize(
    "error",
    [
        InputError("no", hint="yes"),
        BoundReached("5 dollars", hint="raise it"),
        MissingExtra("pypdf", extra="pdf"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_passes_from_process_to_process(error):
    """With its hint and all else; one that cannot be read ends a pool of processes."""
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):  # noqa: S301 - our own
        assert type(other) is type(error)
        assert (str(other), other.__dict__) == (str(error), error.__dict__)


def test_help_loads_neither_numpy_nor_sqlite():
    """The first thing a user types must not wait for what it does not need."""
    code = "import sys, weft.cli.main; print([m for m in ('numpy', 'apsw', 'rich', 'onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_parser_process_loads_no_array_library():
    """Only Chinese text and images need it, and every parser process would start a tenth later."""
    code = (
        "import sys, weft.engine.parsing.parser_main as parsing; parsing.Parser().warm_up()\n"
        "print([m for m in ('numpy', 'onnxruntime', 'apsw') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_question_loads_no_loader(tmp_path):
    """Loaders and their parsers take a tenth of the time to the first answer of a process."""
    code = (
        "import sys, weft\n"
        "from weft.testing import FakeEmbedder\n"
        f"with weft.open_engine({str(tmp_path / 'w.db')!r}, embedder=FakeEmbedder()) as engine: engine.query('who')\n"
        "print([m for m in sys.modules if m.startswith(('weft.load.formats', 'weft.load.conversations', 'pathspec'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_onnxruntime_sends_no_telemetry(tmp_path):
    """It would write a device id into the home folder when it is imported."""
    code = "import weft, onnxruntime, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)

    assert done.stdout == "1\n", done.stderr
    assert list(tmp_path.iterdir()) == []
