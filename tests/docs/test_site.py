"""Documentation site: it builds strictly, without network, and has the pages generated from code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]


def test_the_site_builds_strictly_and_asks_no_other_host(tmp_path):
    """A missing page, a dead link or anchor, or a page outside the navigation ends the build."""
    pytest.importorskip("material", reason="mkdocs-material is missing: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=HOME,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": str(HOME / "src"),
            "https_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    home = (tmp_path / "index.html").read_text("utf-8")
    assert "weft index" in (tmp_path / "reference" / "cli.html").read_text("utf-8")
    assert "POST /query" in (tmp_path / "reference" / "http.html").read_text("utf-8")
    assert "Engine.memory_search" in (tmp_path / "reference" / "python.html").read_text("utf-8")
    assert "search.top_k" in (tmp_path / "reference" / "settings.html").read_text("utf-8")
    assert not [
        part for part in home.split('"') if part.startswith("http") and part.endswith((".js", ".css", ".woff2"))
    ]
