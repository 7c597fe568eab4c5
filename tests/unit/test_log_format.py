"""Log messages on the terminal."""

import logging
import subprocess
import sys

from weft.cli.log_format import VisibleFormatter

MESSAGE = "skipped page 1 of \x1b[31ma\u202eb.pdf\x07\nnext"
CODE = f"import logging, weft.cli.options; logging.getLogger('weft.load').warning({MESSAGE!r})"


def test_control_characters_are_escaped():
    """Line ends stay, for tracebacks."""
    record = logging.makeLogRecord({"msg": MESSAGE, "name": "weft.load"})

    assert VisibleFormatter().format(record) == "skipped page 1 of \\x1b[31ma\\u202eb.pdf\\x07\nnext"


def test_warnings_without_a_handler_are_escaped_too():
    """Python prints them itself."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)

    assert "\\x1b[31ma\\u202eb.pdf" in done.stderr and "\x1b" not in done.stderr
