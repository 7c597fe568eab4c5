"""Fixtures of all tests: a clean home folder, the real model if it is cached, the evaluation sets if they exist."""

import gc
import itertools
import os
from pathlib import Path

import pytest
from hypothesis import settings
from platformdirs import user_cache_path

EXAMPLES = int(os.environ.get("WEFT_EXAMPLES") or 25)
"""Examples of a property test that does not set a number; `make test-slow` sets more."""

# No deadline: how long an example takes depends on what else the machine does.
settings.register_profile("weft", deadline=None, max_examples=EXAMPLES)
settings.load_profile("weft")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """
    Return three workers for two cores.

    A fifth of a test run waits for processes, servers and browsers that a test started; another worker uses that time.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without looking for garbage, and look for it only in what tests make; a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


REAL_CACHE = Path(os.environ.get("WEFT_CACHE_DIR") or user_cache_path("weft"))


@pytest.fixture(scope="session")
def homes(tmp_path_factory):
    """Give paths of new folders. `mktemp` lists all that it has made: thousands of tests would take a minute for it."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def clean_home(homes, monkeypatch):
    """No test reads or writes the developer's own settings and caches."""
    home = next(homes)
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("WEFT_", "OPENAI_", "XDG_"))]:
        if name != "WEFT_DATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return home


@pytest.fixture
def real_model(monkeypatch):
    """Let a test use the real model, or skip it and say how to get it."""
    from weft.models.local.catalog import GRANITE
    from weft.models.local.model_folder import find_installed

    if find_installed(GRANITE, cache_dir=REAL_CACHE) is None:
        pytest.skip("the embedding model is not in the cache: weft models fetch")
    monkeypatch.setenv("WEFT_CACHE_DIR", str(REAL_CACHE))
    return REAL_CACHE


@pytest.fixture
def chinese_model(real_model):
    """Let a test use the Chinese model too, or skip it and say how to get it."""
    from weft.models.local.catalog import BGE_ZH
    from weft.models.local.model_folder import find_installed

    if find_installed(BGE_ZH, cache_dir=real_model) is None:
        pytest.skip("the Chinese model is not in the cache: weft models fetch local/bge-small-zh")
    return real_model


@pytest.fixture(scope="session")
def postgres_server(testrun_uid):
    """Give the DSN of a server that all workers share."""
    import postgres

    return postgres.start(testrun_uid)


@pytest.fixture(scope="session")
def postgres_tables(postgres_server, worker_id):
    """Give the DSN of a database with our tables, one for each worker."""
    import postgres

    with postgres.new_database(postgres_server, f"weft_{worker_id}_{os.getpid()}") as dsn:
        yield dsn


@pytest.fixture
def postgres_dsn(postgres_tables):
    """Give the DSN of a database that holds nothing."""
    import postgres

    postgres.empty(postgres_tables)
    return postgres_tables


@pytest.fixture
def postgres_address(postgres_dsn):
    """Give the same as an address, as `--db` takes it."""
    import postgres

    return postgres.address(postgres_dsn)


@pytest.fixture
def evaluation_sets():
    """Give the folder of the evaluation sets, or skip."""
    folder = Path(os.environ.get("WEFT_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the evaluation sets are not here: set WEFT_DATA to their folder")
    return folder
