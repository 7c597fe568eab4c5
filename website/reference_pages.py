"""
Hook of the documentation site: pages that are generated from code, and links that leave `docs/`.

`reference/cli.md` is the help of every command, `reference/settings.md` every setting with type and default, and
`index.md` is the README. A link to a file outside `docs/` becomes its name, because the site has no such page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from weft.cli.main import COMMANDS, weft
from weft.config import GROUPS

_OUTSIDE = re.compile(r"\[([^\[\]\n]{1,300})\]\(((?:\.\./)+[^()\s]{1,300})\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    readme = (Path(config.config_file_path).parent / "README.md").read_text("utf-8")
    pages = {"reference/cli.md": cli_page(), "reference/settings.md": settings_page(), "index.md": _inside_docs(readme)}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links to files outside `docs/` as names."""
    depth = page.file.src_uri.count("/")
    return _OUTSIDE.sub(lambda link: link[0] if link[2].count("../") <= depth else f"`{link[1].strip('`')}`", markdown)


def cli_page() -> str:
    """Return the help of every command."""
    parts = ["# Command line help\n\nGenerated from the program; [the guide](../cli.md) explains the commands.\n"]
    for path, command in commands():
        context = click.Context(command, info_name=f"weft {path}", terminal_width=100, max_content_width=100)
        parts.append(f"## weft {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its path, groups before their members."""
    context = click.Context(weft)
    todo = [(name, weft.get_command(context, name)) for name in reversed(list(COMMANDS))]
    while todo:
        path, command = todo.pop()
        if command is None:
            continue
        yield path, command
        todo += [(f"{path} {name}", inner) for name, inner in reversed(getattr(command, "commands", {}).items())]


def settings_page() -> str:
    """Return the settings of every group with type and default."""
    parts = ["# All settings\n\nGenerated from the program; [the guide](../configuration.md) explains the settings.\n"]
    for group, options in GROUPS.items():
        rows = [
            f"| `{group}.{field.name}` | `{_type(field.type)}` | `{_default(field)}` |"
            for field in fields(options)
            if not field.metadata
        ]
        parts.append(f"## {group}\n\n| setting | type | default |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _type(kind: object) -> str:
    return str(getattr(kind, "__name__", kind)).replace("|", "or")


def _default(field: Any) -> str:
    value = field.default if field.default is not MISSING else field.default_factory()
    return repr(value).replace("|", "\\|")


def _inside_docs(readme: str) -> str:
    """Return the README with links as seen from `docs/`."""
    readme = readme.replace("](docs/decisions/)", "](decisions/0001-dependencies.md)")
    return re.sub(r"\]\(docs/", "](", re.sub(r"\]\((?!docs/|https?://|#)([^()\s]{1,300})\)", r"](../\1)", readme))
