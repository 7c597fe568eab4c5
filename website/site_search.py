"""
Hook of the documentation site: search without another host, and guides before decisions.

The `offline` plugin loads the shim that a page from the file system needs from a public server;
`website/iframe-worker.js` is the same file. `mkdocs.yml` names it under `extra.polyfills`.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_SHIM = "assets/iframe-worker.js"
_WEIGHTS = {"guides/": 2.0, "quickstart.md": 2.0, "decisions/": 0.1, "reference/": 0.5}
"""Weight of a page in search, by the start of its path: readers want the task first, and the reasons last."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the shim."""
    script = Path(config.config_file_path).parent / "website" / "iframe-worker.js"
    files.append(File.generated(config, _SHIM, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give the page its weight in search; the text stays the same."""
    for start, weight in _WEIGHTS.items():
        if page.file.src_uri.startswith(start):
            page.meta.setdefault("search", {"boost": weight})
    return markdown
