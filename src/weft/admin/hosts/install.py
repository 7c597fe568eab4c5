"""
Registration of the MCP server with an agent host, and its undo.

Each change is recorded with the file's former bytes in the user's data folder. Undo restores these bytes if the file
still has the content that was written. If it was changed since, exactly the entries of Weft are removed.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from weft.admin.hosts.catalog import HookFile, Host
from weft.admin.hosts.json_edit import (
    BOM,
    BadSettings,
    append_item,
    has_member,
    is_empty,
    read_list,
    remove_items,
    remove_member,
    set_member,
)
from weft.errors import ConfigError, InputError
from weft.processes.child import find_program, join_command, python_command
from weft.system.temporary_files import temporary_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_OWN_COMMAND = re.compile(r"weft\S{0,8} hook (?:session-start|prompt|stop|turn) --db ")
ENTRY = "weft"
"""Name of the server in the settings of a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file before and after; None if it does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


def find_command() -> list[str]:
    """Return the command that starts Weft from any folder, and imports nothing from that folder."""
    program = find_program("weft")
    return [program] if program else python_command("weft")


def plan_install(host: Host, *, arguments: Sequence[str], scope: str = "project") -> list[FileChange]:
    """Return the changes that register `weft mcp` with these further arguments. Raises `InputError`."""
    command, *first = find_command()
    entry: dict[str, Any] = {"command": command, "args": [*first, "mcp", *arguments]}
    if host.is_typed:
        entry = {"type": "stdio", **entry}
    if host.has_command_list:
        entry = {"type": "local", "command": [command, *entry["args"]], "enabled": True}
    before = _read(host.settings)
    after = _edit(host.settings, before, lambda text: _add_server(text, host, entry))
    files_after = {host.settings: (before, after)}
    if host.hooks is not None:
        path = host.hooks.path
        words = [*arguments, *(["--scope", scope] if scope != "project" else [])]
        old, new = files_after.get(path) or (_read(path),) * 2
        files_after[path] = (old, _edit(path, new, partial(_add_hooks, file=host.hooks, arguments=words)))
    if host.skill is not None:
        skill = files("weft.admin.hosts").joinpath("SKILL.md").read_bytes()
        files_after[host.skill] = (_read(host.skill), skill)
    changes = [FileChange(path=path, before=old, after=new) for path, (old, new) in files_after.items()]
    return [change for change in changes if change.before != change.after]


def _edit(path: Path, data: bytes | None, change: Callable[[str], str]) -> bytes:
    """Return the changed content of a settings file. Raises `InputError`."""
    try:
        return change((data or b"").decode("utf-8")).encode("utf-8")
    except (UnicodeError, BadSettings, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"cannot change {str(path)!r}: {error}", hint="correct the file, then run weft install again"
        ) from error


def _add_server(text: str, host: Host, entry: Mapping[str, Any]) -> str:
    return _add_toml(text, host.section, entry) if host.form == "toml" else _add_json(text, host.section, entry)


def _add_hooks(text: str, *, file: HookFile, arguments: Sequence[str]) -> str:
    """
    Return the settings with a command for each event, after those that are there. Raises `BadSettings`.

    A command of an earlier installation, with other arguments, is replaced.
    """
    if file.version is not None and not text.strip():
        text = json.dumps({"version": file.version}, indent=2) + "\n"
    for event, name in file.events:
        command = join_command([*find_command(), "hook", event, *arguments])
        if json.dumps(command) in json.dumps(read_list(text, "hooks", name)):
            continue
        text = remove_items(text, "hooks", name, _is_own_hook) if has_member(text, "hooks", name) else text
        item: dict[str, Any] = {"command": command}
        if file.version is None:
            item = {"hooks": [{"type": "command", "command": command, "timeout": file.timeout}]}
        text = append_item(text, "hooks", name, item)
    return text


def _is_own_hook(item: Any) -> bool:
    """Return True for an entry whose only command is `weft hook`."""
    hooks = item.get("hooks", [item]) if isinstance(item, dict) else []
    commands = [hook.get("command") for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
    return len(commands) == 1 and isinstance(commands[0], str) and _OWN_COMMAND.search(commands[0]) is not None


def apply_install(name: str, changes: Sequence[FileChange], *, skill: Path | None) -> None:
    """
    Write the changes; their former content is recorded first, so that an interrupted run can be undone.

    A skill file that another host wrote is recorded for both hosts, so that the last undo deletes it.
    """
    known = _read_record()
    kept = {row["path"]: row for row in known.get(name, [])}
    for other in _rows_of_others(known, name):
        if skill is not None and other["path"] == str(skill) and other["after"] == _digest(_read(skill)):
            kept.setdefault(other["path"], other)
    for change in changes:
        row = kept.get(str(change.path))
        # A second run changes its own text: undo still leads to the file before the first run.
        is_own = row is not None and row["after"] == _digest(change.before)
        original = row["before"] if row is not None and is_own else _encode(change.before)
        kept[str(change.path)] = {"path": str(change.path), "before": original, "after": _digest(change.after)}
    _write_record({**known, name: list(kept.values())})
    for change in changes:
        _write(change.path, change.after)


def plan_undo(name: str, host: Host) -> list[FileChange]:
    """
    Return the changes that undo an installation. Raises `InputError` if a file cannot be changed.

    A file that was changed since loses the entries of Weft only; a skill file that was changed stays.
    """
    known = _read_record()
    shared = {row["path"] for row in _rows_of_others(known, name)}
    changes = []
    for row in known.get(name, []):
        if row["path"] in shared:
            continue
        path, original = Path(row["path"]), _decode(row["before"])
        current = _read(path)
        if current == original:
            continue
        if _digest(current) == row["after"]:
            changes.append(FileChange(path=path, before=current, after=original))
        elif current is not None and path != host.skill:
            after = _edit(path, current, partial(_remove_entries, host=host, path=path, original=original or b""))
            if after != current:
                changes.append(FileChange(path=path, before=current, after=after))
    return changes


def _remove_entries(text: str, *, host: Host, path: Path, original: bytes) -> str:
    """Return settings without the entries of Weft, and without sections that were not there before."""
    if path == host.settings and host.form == "toml":
        return _remove_toml(text, host.section)
    before = original.decode("utf-8")
    if path == host.settings:
        text = _remove_empty(remove_member(text, host.section, ENTRY), host.section, before=before)
    if host.hooks is not None and path == host.hooks.path:
        for _, name in host.hooks.events:
            if has_member(text, "hooks", name):
                text = remove_items(text, "hooks", name, _is_own_hook)
                text = _remove_empty(text, "hooks", name, before=before)
        text = _remove_empty(text, "hooks", before=before)
    return text


def _remove_empty(text: str, *keys: str, before: str) -> str:
    """Return settings without an empty section that they had not before."""
    return remove_member(text, *keys) if is_empty(text, *keys) and not has_member(before, *keys) else text


def _remove_toml(text: str, section: str) -> str:
    """Return the TOML without the table of the server. Raises `BadSettings` if others would change."""
    before = tomllib.loads(text.removeprefix(BOM))
    if ENTRY not in before.get(section, {}):
        return text
    lines = text.splitlines(keepends=True)
    begin = next((n for n, line in enumerate(lines) if line.strip() == f"[{section}.{ENTRY}]"), None)
    if begin is None:
        raise BadSettings(f"the table [{section}.{ENTRY}] was moved: remove it by hand")
    end = next((n for n in range(begin + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1  # empty lines and comments before the next table belong to it
    made = "".join([*lines[:begin], *lines[end:]])
    servers = {name: value for name, value in before[section].items() if name != ENTRY}
    after = tomllib.loads(made.removeprefix(BOM))
    if {**after, section: after.get(section, {})} != {**before, section: servers}:
        raise BadSettings("the table cannot be removed without changing other settings")
    return made


def apply_undo(name: str, changes: Sequence[FileChange]) -> None:
    """Restore the files and forget the installation."""
    for change in changes:
        _write(change.path, change.after)
    _write_record({host: rows for host, rows in _read_record().items() if host != name})


def _rows_of_others(known: Mapping[str, list[dict[str, Any]]], name: str) -> list[dict[str, Any]]:
    return [row for host, rows in known.items() if host != name for row in rows]


def is_installed(name: str) -> bool:
    """Return True if an installation is recorded."""
    return name in _read_record()


def _add_json(text: str, section: str, entry: Mapping[str, Any]) -> str:
    return set_member(text, section, ENTRY, dict(entry))


def _add_toml(text: str, section: str, entry: Mapping[str, Any]) -> str:
    """Return the TOML with a table for the server at its end. Raises `BadSettings` if it has another one."""
    before = tomllib.loads(text.removeprefix(BOM))
    known = before.get(section, {})
    if not isinstance(known, dict):
        raise BadSettings(f"{section!r} is not a table")
    if ENTRY in known:
        if known[ENTRY] == dict(entry):
            return text
        raise BadSettings(f"the file has another table [{section}.{ENTRY}]")
    rows = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.removeprefix(BOM).strip() else newline if text.endswith("\n") else newline * 2
    made = text + gap + newline.join([f"[{section}.{ENTRY}]", *rows, ""])
    if tomllib.loads(made.removeprefix(BOM)) != {**before, section: {**known, ENTRY: dict(entry)}}:
        raise BadSettings("the table cannot be added without changing other settings")
    return made


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror or error}", hint="make the file readable"
        ) from error


def _write(path: Path, data: bytes | None) -> None:
    """Replace a file atomically and keep its mode; None deletes it, with folders that become empty."""
    try:
        target = path.resolve()  # settings are often links into a folder of dot files
        if data is None:
            target.unlink(missing_ok=True)
            if target.parent.name == ENTRY and not any(target.parent.iterdir()):
                target.parent.rmdir()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        with temporary_file(target) as partial:
            partial.write_bytes(data)
            partial.chmod(mode)
            partial.replace(target)
    except OSError as error:
        raise ConfigError(
            f"cannot write {str(path)!r}: {error.strerror or error}", hint="make the file and its folder writable"
        ) from error


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _encode(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _record() -> Path:
    return user_data_path("weft") / "installs.json"


def _read_record() -> dict[str, list[dict[str, Any]]]:
    """Return {host: changed files}; nothing if the record is missing or damaged."""
    try:
        found = json.loads(_record().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_record(known: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    record = _record()
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with temporary_file(record) as partial:
        partial.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
        partial.chmod(0o600)
        partial.replace(record)
