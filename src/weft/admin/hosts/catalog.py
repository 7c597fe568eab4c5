"""
Agent hosts that start MCP servers: settings file, section and shape of an entry.

Taken from the hosts' documentation as of November 2026:

| host | settings file | section |
| --- | --- | --- |
| Claude Code 2 | `~/.claude.json` | `mcpServers`, with `type` |
| Claude Desktop | `Claude/claude_desktop_config.json` in the configuration folder | `mcpServers` |
| Codex CLI | `~/.codex/config.toml` | `mcp_servers` |
| Cursor | `~/.cursor/mcp.json` | `mcpServers` |
| Gemini CLI | `~/.gemini/settings.json` | `mcpServers` |
| OpenCode | `~/.config/opencode/opencode.json` | `mcp`, with `type`; one list of command and arguments |
| Windsurf | `~/.codeium/windsurf/mcp_config.json` | `mcpServers` |
| VS Code | `mcp.json` in the user folder | `servers`, with `type` |
| Zed | `settings.json` | `context_servers` |

Hooks, in lists below `hooks`:

| host | file | timeout | source |
| --- | --- | --- | --- |
| Claude Code 2 | `~/.claude/settings.json` | seconds | documentation |
| Codex CLI 0.169 | `~/.codex/hooks.json` | seconds | documentation, `codex-rs/hooks/schema` |
| Cursor 3 | `~/.cursor/hooks.json` | none given | documentation; only `sessionStart` adds context |
| Gemini CLI 0.61 | `~/.gemini/settings.json` | milliseconds | `docs/hooks/reference.md` in its package |

Skill files are in the host's own folder, or in `~/.agents/skills`, which Codex, VS Code and Zed read.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_config_path

CLAUDE_EVENTS = (("session-start", "SessionStart"), ("prompt", "UserPromptSubmit"), ("stop", "Stop"))
GEMINI_EVENTS = (("session-start", "SessionStart"), ("prompt", "BeforeAgent"), ("stop", "AfterAgent"))
CURSOR_EVENTS = (("session-start", "sessionStart"), ("turn", "beforeSubmitPrompt"), ("turn", "afterAgentResponse"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile:
    """File with the hooks of a host."""

    path: Path
    events: tuple[tuple[str, str], ...]
    """Events of `weft hook`, with their names in the host."""
    timeout: int | None = None
    """Time after which the host ends a hook, in its unit. `weft hook` itself waits 300 ms."""
    version: int | None = None
    """Version that a new file states, for hosts whose entries are commands without a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An agent host."""

    title: str
    settings: Path
    section: str
    form: Literal["json", "toml"] = "json"
    is_typed: bool = False
    """True if an entry states its transport."""
    has_command_list: bool = False
    """True if command and arguments are one list, and the transport is `local`."""
    hooks: HookFile | None = None
    """File with the hooks of the host; None if it has none."""
    skill: Path | None = None
    """File that tells the agent when to search and what to save; None if the host reads none."""


def find_hosts(home: Path | None = None) -> Mapping[str, Host]:
    """Return the known hosts by name, with paths below `home` (default: the user's home folder)."""
    home = home or Path.home()
    shared = home / ".agents" / "skills" / "weft" / "SKILL.md"
    return {
        **_find_apps(home),
        "claude-code": Host(
            title="Claude Code",
            settings=home / ".claude.json",
            section="mcpServers",
            is_typed=True,
            hooks=HookFile(path=home / ".claude" / "settings.json", events=CLAUDE_EVENTS, timeout=10),
            skill=home / ".claude" / "skills" / "weft" / "SKILL.md",
        ),
        "codex": Host(
            title="Codex CLI",
            settings=home / ".codex" / "config.toml",
            section="mcp_servers",
            form="toml",
            hooks=HookFile(path=home / ".codex" / "hooks.json", events=CLAUDE_EVENTS, timeout=10),
            skill=shared,
        ),
        "cursor": Host(
            title="Cursor",
            settings=home / ".cursor" / "mcp.json",
            section="mcpServers",
            hooks=HookFile(path=home / ".cursor" / "hooks.json", events=CURSOR_EVENTS, version=1),
            skill=home / ".cursor" / "skills" / "weft" / "SKILL.md",
        ),
        "gemini-cli": Host(
            title="Gemini CLI",
            settings=home / ".gemini" / "settings.json",
            section="mcpServers",
            hooks=HookFile(path=home / ".gemini" / "settings.json", events=GEMINI_EVENTS, timeout=10_000),
            skill=home / ".gemini" / "skills" / "weft" / "SKILL.md",
        ),
        "vscode": Host(
            title="VS Code",
            settings=_user_folder(home, "Code") / "User" / "mcp.json",
            section="servers",
            is_typed=True,
            skill=shared,
        ),
        "zed": Host(title="Zed", settings=_zed_folder(home) / "settings.json", section="context_servers", skill=shared),
    }


def _find_apps(home: Path) -> Mapping[str, Host]:
    """Return the hosts that have neither hooks nor skill files."""
    return {
        "claude-desktop": Host(
            title="Claude Desktop",
            settings=_user_folder(home, "Claude") / "claude_desktop_config.json",
            section="mcpServers",
        ),
        "opencode": Host(
            title="OpenCode",
            settings=home / ".config" / "opencode" / "opencode.json",
            section="mcp",
            has_command_list=True,
        ),
        "windsurf": Host(
            title="Windsurf", settings=home / ".codeium" / "windsurf" / "mcp_config.json", section="mcpServers"
        ),
    }


def _user_folder(home: Path, name: str) -> Path:
    """Return the configuration folder of a program, moved below `home` if that is another folder."""
    folder = user_config_path(name, appauthor=False, roaming=True)
    return home / folder.relative_to(Path.home()) if folder.is_relative_to(Path.home()) else folder


def _zed_folder(home: Path) -> Path:
    return _user_folder(home, "Zed") if sys.platform == "win32" else home / ".config" / "zed"
