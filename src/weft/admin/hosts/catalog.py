"""
Agent hosts that start MCP servers: settings file, section and shape of an entry.

Taken from the hosts' documentation as of November 2026:

| host | settings file | section |
| --- | --- | --- |
| Claude Code 2 | `~/.claude.json` | `mcpServers`, with `type` |
| Codex CLI | `~/.codex/config.toml` | `mcp_servers` |
| Cursor | `~/.cursor/mcp.json` | `mcpServers` |
| Gemini CLI | `~/.gemini/settings.json` | `mcpServers` |
| VS Code | `mcp.json` in the user folder | `servers`, with `type` |
| Zed | `settings.json` | `context_servers` |

Hooks of Claude Code are in `~/.claude/settings.json`, in lists below `hooks`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_config_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An agent host."""

    title: str
    settings: Path
    section: str
    form: Literal["json", "toml"] = "json"
    is_typed: bool = False
    """True if an entry states its transport."""
    hooks: Path | None = None
    """Settings file with the hooks of the host; None if Weft answers none."""
    skill: Path | None = None
    """File that tells the agent when to search and what to save; None if the host reads none."""


def find_hosts(home: Path | None = None) -> Mapping[str, Host]:
    """Return the known hosts by name, with paths below `home` (default: the user's home folder)."""
    home = home or Path.home()
    claude = Host(
        title="Claude Code",
        settings=home / ".claude.json",
        section="mcpServers",
        is_typed=True,
        hooks=home / ".claude" / "settings.json",
        skill=home / ".claude" / "skills" / "weft" / "SKILL.md",
    )
    return {
        "claude-code": claude,
        "codex": Host(title="Codex CLI", settings=home / ".codex" / "config.toml", section="mcp_servers", form="toml"),
        "cursor": Host(title="Cursor", settings=home / ".cursor" / "mcp.json", section="mcpServers"),
        "gemini-cli": Host(title="Gemini CLI", settings=home / ".gemini" / "settings.json", section="mcpServers"),
        "vscode": Host(
            title="VS Code",
            settings=_user_folder(home, "Code") / "User" / "mcp.json",
            section="servers",
            is_typed=True,
        ),
        "zed": Host(title="Zed", settings=_zed_folder(home) / "settings.json", section="context_servers"),
    }


def _user_folder(home: Path, name: str) -> Path:
    """Return the configuration folder of a program, moved below `home` if that is another folder."""
    folder = user_config_path(name, appauthor=False, roaming=True)
    return home / folder.relative_to(Path.home()) if folder.is_relative_to(Path.home()) else folder


def _zed_folder(home: Path) -> Path:
    return _user_folder(home, "Zed") if sys.platform == "win32" else home / ".config" / "zed"
