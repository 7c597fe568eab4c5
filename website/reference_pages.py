"""
Hook of the documentation site: parts of pages that are generated from code, and links that leave `docs/`.

`cli.md` gets the help of every command. A link to a file outside `docs/` becomes its name, because the site has no such
page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from weft.cli.main import COMMANDS, weft

_OUTSIDE = re.compile(r"\[([^\[\]\n]{1,300})\]\(((?:\.\./)+[^()\s]{1,300})\)")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links to files outside `docs/` as names."""
    depth = page.file.src_uri.count("/")
    if page.file.src_uri == "cli.md":
        markdown += cli_help()
    return _OUTSIDE.sub(lambda link: link[0] if link[2].count("../") <= depth else f"`{link[1].strip('`')}`", markdown)


def cli_help() -> str:
    """Return the help of every command."""
    parts = ["\n\n## Help of every command\n\nAs the program prints it.\n"]
    for path, command in commands():
        context = click.Context(command, info_name=f"weft {path}", terminal_width=100, max_content_width=100)
        parts.append(f"### Help: weft {path}\n\n```text\n{command.get_help(context)}\n```\n")
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
