"""
Command line and address that open a file at a line in the editor of the user.

    editor.command              command for line 12 of /n/a.md
    code                        code --goto /n/a.md:12
    emacsclient -n              emacsclient -n +12 /n/a.md
    idea                        idea --line 12 /n/a.md
    myedit --at={line} {path}   myedit --at=12 /n/a.md
    unknown                     unknown /n/a.md

No shell is involved: a path is one argument, whatever it contains.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath
from urllib.parse import quote

from weft.admin.source_files import SourceFile
from weft.config import Settings
from weft.errors import ConfigError, InputError
from weft.processes.child import find_program

_PLUS = ("+{line}", "{path}")
_COLON = ("{path}:{line}",)
_GOTO = ("--goto", "{path}:{line}")
_LINE = ("--line", "{line}", "{path}")
IN_TERMINAL = frozenset("vi vim nvim nano pico emacs kak micro joe mg ne hx helix".split())
"""Editors that draw in the terminal, which the process of a server has not."""
SHELL_SIGNS = frozenset('&|<>^%"!')
"""Characters with a meaning in `cmd.exe`, which Windows runs scripts with."""
KNOWN: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("hx", "helix", "subl", "sublime_text", "zed", "zeditor", "lapce"), _COLON),
    **dict.fromkeys(IN_TERMINAL - {"hx", "helix"}, _PLUS),
    **dict.fromkeys(("gvim", "mvim", "emacsclient", "gedit", "bbedit"), _PLUS),
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"), _GOTO),
    **dict.fromkeys("idea pycharm webstorm goland clion rubymine phpstorm rustrover kate kwrite xed".split(), _LINE),
    "mate": _LINE,
    "notepad++": ("-n{line}", "{path}"),
}
"""Arguments that open a line, by the name of the program."""


def editor_command(settings: Settings, place: SourceFile) -> list[str]:
    """Return the command that opens a file, with the absolute path of the program. Raises `ConfigError`."""
    command = settings.editor.program or settings.system_editor
    words = _words(command)
    program = words[0] if Path(words[0]).is_absolute() else find_program(words[0])
    if program is None:
        raise ConfigError(f"editor {words[0]!r} not found", hint="set editor.command to a program in PATH")
    if not any("{path}" in word for word in words):
        words += KNOWN.get(_name(words[0]), ("{path}",)) if place.line is not None else ("{path}",)
    if program.lower().endswith((".bat", ".cmd")) and set(str(place.path)) & SHELL_SIGNS:
        raise InputError(f"{program!r} cannot open {str(place.path)!r}", hint="set editor.command to a program (.exe)")
    values = {"{path}": str(place.path), "{line}": str(place.line or 1)}
    return [program, *(_filled(word, values) for word in words[1:])]


def page_address(settings: Settings, place: SourceFile) -> str:
    """Return the address that opens a file in the editor of the page, escaped as URL."""
    path = quote(place.path.as_posix(), safe="/:" if os.name == "nt" else "/")
    return _filled(settings.editor.url, {"{path}": path, "{line}": str(place.line or 1)})


def check_window(settings: Settings) -> None:
    """Raise `InputError` if `editor.command` draws in a terminal."""
    if (name := _name(_words(settings.editor.program)[0])) in IN_TERMINAL:
        raise InputError(f"the editor {name!r} needs a terminal", hint="set editor.command to an editor with a window")


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(f"invalid editor.command: {command!r}: {error}", hint="close the quotation mark") from error
    if not words:
        raise ConfigError(
            "no editor is set", hint='set editor.command, for example "code", or the variable VISUAL or EDITOR'
        )
    return words


def _name(program: str) -> str:
    """Return the name of a program without folder and `.exe`, in small letters."""
    name = PurePath(program).name.lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Return a word with `{path}` and `{line}` replaced; a path that contains `{line}` stays as it is."""
    before, mark, after = word.partition("{path}")
    line = values["{line}"]
    return before.replace("{line}", line) + (values["{path}"] if mark else "") + after.replace("{line}", line)
