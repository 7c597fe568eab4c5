"""`weft install` registers the MCP server with a host, and undoes it byte for byte."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from weft.admin.hosts.catalog import find_hosts
from weft.admin.hosts.install import plan_install
from weft.cli.serve.install import HOSTS
from weft.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BEFORE = {
    "claude-code": '{"numStartups": 3, "mcpServers": {"other": {"type": "stdio", "command": "x"}}}',
    "codex": 'model = "m"  # mine\n\n[mcp_servers.other]\ncommand = "x"',
    "cursor": "{}\n",
    "claude-desktop": '{"globalShortcut": ""}',
    "opencode": '{\n  "$schema": "https://opencode.ai/config.json", // mine\n  "mcp": {}\n}\n',
    "windsurf": '{"mcpServers": {"other": {"command": "x"}}}',
    "gemini-cli": '{\n  "theme": "dark"\n}',
    "vscode": '{\n\t// mine\n\t"servers": {},\n}\n',
    "zed": '// Zed settings\n{\n  "vim_mode": true,\n}\n',
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "installs.json"}


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("is_fresh", [True, False])
def test_each_host_gets_the_entry_and_undo_restores_every_byte(weft, home, tmp_path, name, is_fresh):
    """With and without settings of the user; a second run changes nothing."""
    host = find_hosts()[name]
    if not is_fresh:
        host.settings.parent.mkdir(parents=True, exist_ok=True)
        host.settings.write_text(BEFORE[name])
    before = files_of(home)

    assert "mcp" in weft("install", name, "--dry-run").out and files_of(home) == before
    weft("install", name, "--yes")
    text = host.settings.read_text()
    lines = "".join(line for line in text.splitlines(keepends=True) if not line.strip().startswith("//"))
    lines = lines.replace(" // mine", "")
    found = (
        tomllib.loads(text)
        if host.form == "toml"
        else json.loads(lines.replace(",\n}", "\n}").replace("},\n}", "}\n}"))
    )
    entry = found[host.section]["weft"]
    words = entry["command"] if host.has_command_list else [entry["command"], *entry["args"]]
    assert words[-4:-1] == ["--db", str(tmp_path / "weft.db"), "--namespace"] and Path(words[0]).is_absolute()
    assert ("type" in entry) == (host.is_typed or host.has_command_list)
    assert is_fresh or "other" not in BEFORE[name] or "other" in found[host.section]
    assert host.skill is None or "memory_search" in host.skill.read_text()
    written = files_of(home)
    assert "nothing to change" in weft("install", name, "--yes").err and files_of(home) == written

    weft("install", name, "--undo", "--yes")
    assert files_of(home) == before


def test_hooks_of_the_user_stay(weft, home):
    """Commands of Weft come after them, one per event, and only once."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    settings.write_text(json.dumps({"model": "x", "hooks": {"Stop": [mine]}}, indent=2))
    before = settings.read_bytes()
    for _ in range(2):
        weft("install", "claude-code", "--yes")

    hooks = json.loads(settings.read_text())["hooks"]
    assert hooks["Stop"][0] == mine and [len(hooks[name]) for name in ("SessionStart", "UserPromptSubmit")] == [1, 1]
    assert " hook stop --db " in hooks["Stop"][1]["hooks"][0]["command"]
    weft("install", "claude-code", "--undo", "--yes")
    assert settings.read_bytes() == before


def test_a_comment_after_the_last_hook_stays_a_comment(weft, home):
    """The new hook does not become a part of it; a comment that holds its command is no hook."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\r\n  "hooks": {\r\n    "Stop": [\r\n      {"hooks": []} // mine\r\n    ]\r\n  }\r\n}\r\n')
    weft("install", "claude-code", "--yes")
    text = settings.read_bytes().decode()

    assert '{"hooks": []}, // mine\r\n' in text and "\n" not in text.replace("\r\n", "")
    hooks = json.loads(text.replace("// mine", ""))["hooks"]
    assert [len(hooks[name]) for name in ("Stop", "SessionStart", "UserPromptSubmit")] == [2, 1, 1]
    assert "nothing to change" in weft("install", "claude-code", "--yes").err

    command = json.dumps(hooks["Stop"][1]["hooks"][0]["command"])
    settings.write_text(f'{{"hooks": {{"Stop": [] // {command}\n}}}}')
    weft("install", "claude-code", "--yes")
    assert settings.read_text().count(command) == 2


def test_links_and_modes_of_settings_stay(weft, home):
    """Settings are often links into a folder of dot files; a new file is private."""
    settings = find_hosts()["claude-code"].settings
    dots = home / "dots" / "claude.json"
    dots.parent.mkdir()
    dots.write_text("{}")
    dots.chmod(0o640)
    settings.symlink_to(dots)
    weft("install", "claude-code", "--yes")
    assert settings.is_symlink() and "weft" in json.loads(dots.read_text())["mcpServers"]
    assert dots.stat().st_mode & 0o777 == 0o640
    assert (home / ".claude" / "settings.json").stat().st_mode & 0o777 == 0o600

    weft("install", "claude-code", "--undo", "--yes")
    assert settings.is_symlink() and dots.read_text() == "{}" and dots.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("text", ["\ufeffmodel = 'm'\r\n", "\ufeff", "a = 1\r\n# last", "[mcp_servers]\nx = {}\n"])
def test_a_toml_file_keeps_its_values_and_line_ends(weft, home, text):
    """A byte order mark and CRLF too."""
    settings = find_hosts()["codex"].settings
    settings.parent.mkdir()
    settings.write_bytes(text.encode())
    weft("install", "codex", "--yes")
    made = settings.read_bytes().decode()

    assert made.startswith(text) and ("\r\n" in text) == ("\r\n" in made)
    found = tomllib.loads(made.removeprefix("\ufeff"))
    before = tomllib.loads(text.removeprefix("\ufeff"))
    servers = before.get("mcp_servers", {})
    assert found == {**before, "mcp_servers": {**servers, "weft": found["mcp_servers"]["weft"]}}


def test_a_path_that_is_no_text_is_refused(home):
    """Settings are UTF-8; nothing is written."""
    for name in HOSTS:
        with pytest.raises(InputError, match="cannot change"):
            plan_install(find_hosts()[name], arguments=["--db", "/a/\udcff.db"])


@pytest.mark.parametrize(
    "name, events",
    [
        ("codex", ("SessionStart", "UserPromptSubmit", "Stop")),
        ("gemini-cli", ("SessionStart", "BeforeAgent", "AfterAgent")),
        ("cursor", ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse")),
    ],
)
def test_other_hosts_get_hooks_in_their_own_format(weft, home, tmp_path, name, events):
    """Hooks of Gemini CLI are in the file of its servers; its timeout is in milliseconds. Cursor names a version."""
    weft("install", name, "--yes")
    found = json.loads(find_hosts()[name].hooks.path.read_text())

    assert tuple(found["hooks"]) == events
    own = ("session-start", "turn", "turn") if name == "cursor" else ("session-start", "prompt", "stop")
    for (event, (group,)), expected in zip(found["hooks"].items(), own, strict=True):
        (hook,) = group.get("hooks", [group])
        assert f" hook {expected} --db {tmp_path / 'weft.db'} --namespace default" in hook["command"], event
        assert hook.get("timeout") == {"codex": 10, "gemini-cli": 10_000}.get(name)
    assert found.get("version") == (1 if name == "cursor" else None)
    assert ("mcpServers" in found) == (name == "gemini-cli")


def test_a_skill_file_of_two_hosts_stays_until_the_second_is_undone(weft, home):
    """Codex and Zed read the same folder."""
    skill = find_hosts()["codex"].skill
    for name in ("codex", "zed"):
        weft("install", name, "--yes")
    weft("install", "codex", "--undo", "--yes")
    assert skill.is_file()

    weft("install", "zed", "--undo", "--yes")
    assert files_of(home) == {}


def test_undo_after_a_change_removes_only_our_entries(weft, home):
    """The host added settings, hooks and comments; they stay as they are, in their order."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "x", // mine\n  "hooks": {\n    "Stop": [\n      {"hooks": []}\n    ]\n  }\n}\n')
    weft("install", "claude-code", "--yes")
    servers = find_hosts()["claude-code"].settings
    servers.write_text(servers.read_text().replace('"mcpServers": {', '"numStartups": 4,\n  "mcpServers": {', 1))
    added = settings.read_text().replace('"model": "x"', '"theme": "dark",\n  "model": "x"')
    settings.write_text(
        added.replace('"Stop": [', '"Stop": [\n      {"hooks": [{"type": "command", "command": "other"}]},')
    )
    weft("install", "claude-code", "--undo", "--yes")

    assert json.loads(servers.read_text()) == {"numStartups": 4}
    text = settings.read_text()
    assert "weft" not in text and "// mine" in text
    kept = json.loads(text.replace(" // mine", ""))
    stop = [{"hooks": [{"type": "command", "command": "other"}]}, {"hooks": []}]
    assert kept == {"theme": "dark", "model": "x", "hooks": {"Stop": stop}} and next(iter(kept)) == "theme"
    assert not find_hosts()["claude-code"].skill.exists()
    assert "not installed in zed" in weft("install", "zed", "--undo", expect=2).err


@pytest.mark.parametrize("added", ["\n[mcp_servers.late]\ncommand = 'y'\n", "\n# a comment\n[tools]\nweb = true\n"])
def test_undo_after_a_change_of_toml_removes_only_our_table(weft, home, added):
    """Tables after it stay, with their comments."""
    settings = find_hosts()["codex"].settings
    settings.parent.mkdir()
    settings.write_text("model = 'm'\n")
    weft("install", "codex", "--yes")
    settings.write_text(settings.read_text() + added)
    weft("install", "codex", "--undo", "--yes")

    text = settings.read_text()
    assert "weft" not in text and text.endswith(added) and tomllib.loads(text)["model"] == "m"


def test_broken_settings_are_refused(weft, home):
    """Nothing is written."""
    weft("install", "cursor", "--yes")
    settings = find_hosts()["cursor"].settings
    settings.write_text("{broken")
    assert "cannot change" in weft("install", "cursor", "--yes", expect=1).err
    assert "cannot change" in weft("install", "cursor", "--undo", "--yes", expect=1).err
    assert settings.read_text() == "{broken"


def test_another_scope_replaces_the_hooks(weft, home):
    """There is one of each afterwards; the last line says what to do next."""
    weft("install", "claude-code", "--yes")
    ran = weft("install", "claude-code", "--yes", "--scope", "all")
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    assert [len(groups) for groups in hooks.values()] == [1, 1, 1]
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith("--scope all")
    assert "next: restart Claude Code" in ran.err and "weft hook status" in ran.err


def test_the_last_line_names_the_store(weft, home, tmp_path):
    """The command works in any folder."""
    ran = weft("install", "claude-code", "--yes", "--db", "memory.db", "-N", "team")
    assert shlex.join(["hook", "status", "--db", str(tmp_path / "memory.db"), "--namespace", "team"]) in ran.err


def test_a_password_is_not_written(weft, home):
    """It would stand in a settings file."""
    ran = weft("--db", "postgresql://weft:secret@127.0.0.1/weft", "install", "cursor", "--yes", expect=1)

    assert "secret" not in ran.err and "~/.pgpass" in ran.err and not files_of(home)


def test_a_missing_mcp_server_is_named(weft_here, home, monkeypatch):
    """Otherwise the host would start a command that fails."""
    assert "pip install" not in weft_here("install", "codex", "--dry-run")
    monkeypatch.setattr("weft.cli.serve.install.find_spec", lambda name: None)
    said = weft_here("install", "codex", "--dry-run")
    assert "note: the MCP server is not installed; run pip install 'weft-search[mcp]'" in said
