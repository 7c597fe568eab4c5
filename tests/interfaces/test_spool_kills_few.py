"""A few kills of processes that capture turns; `tests/faults` has two hundred."""

import random
import sys

import pytest
from fork_server import ForkServer
from spool_killing import kill_captures

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


def test_a_few_killed_captures_lose_nothing(tmp_path):
    """All acknowledged turns of two hosts are in the store, each once."""
    server = ForkServer()
    try:
        assert kill_captures(server, tmp_path, kills=5, random=random.Random(1))
    finally:
        server.close()
