"""Marker, seed and processes of the fault tests."""

from pathlib import Path

import pytest
from browsing import running_browser
from fault_settings import SCALE, SEED, SOAK_SECONDS
from fork_server import ForkServer

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Mark every test of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)


def pytest_report_header():
    """Print what repeats a run."""
    return f"faults: WEFT_FAULT_SEED={SEED} WEFT_FAULT_SCALE={SCALE:g} WEFT_SOAK_SECONDS={SOAK_SECONDS:g}"


@pytest.fixture(scope="module")
def fork_server():
    """Give a process that forks one child per call."""
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def browser():
    """Give a headless Chromium."""
    with running_browser() as made:
        yield made
