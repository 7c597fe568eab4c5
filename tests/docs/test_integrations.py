"""Examples for other libraries print the output on the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs" / "integrations.md").read_text("utf-8")
SHOWN = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    "package, extra, example", [("langchain_core", "langchain", 0), ("llama_index.core", "llamaindex", 1)]
)
def test_the_example_prints_what_is_shown(real_model, package, extra, example):
    """With the real model and the sample corpus."""
    pytest.importorskip(package, reason=f"{package} is not installed: pip install 'weft-search[{extra}]'")
    code, shown = SHOWN[example]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=HOME,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_every_field_of_the_metadata_is_on_the_page(tmp_path):
    """The page lists every field and every option."""
    from weft import open_engine
    from weft.integrations.passages import find_passages
    from weft.testing import FakeEmbedder

    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add_text("cats purr softly", source="cats")
        (passage,) = find_passages(engine, "cats purr")

    assert len(passage.metadata) > 15
    for name in passage.metadata:
        assert f"`{name}`" in PAGE
    for name in ("engine", "top_k", "method", "where"):
        assert f"| `{name}` |" in PAGE
