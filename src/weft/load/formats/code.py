"""Source code to documents, with the language and the module name in their metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import UPLOAD, file_title, user_file_name
from weft.load.formats.generated import is_minified
from weft.records import Document
from weft.text.code.module_names import MODULE, MODULE_LANGUAGES, find_module, path_module
from weft.text.code.project_paths import PATHS, find_paths

MAX_PROJECT_BYTES = 16_384
"""Bytes of a project file, such as `go.mod`, that are read for the module name."""
MAX_PROJECT_LEVELS = 16
"""Folders above a file that may be the root of its project."""
_BY_NAME = frozenset({"python", "java"})
"""Languages that import modules by names instead of paths."""
_PROJECT_FILES = (
    "package.json",
    "tsconfig.json",
    "Cargo.toml",
    "go.mod",
    "pyproject.toml",
    "setup.py",
    "CMakeLists.txt",
)

LANGUAGES: dict[str, str] = {
    ".bash": "shell",
    ".bat": "batch",
    ".c": "c",
    ".cc": "cpp",
    ".cfg": "ini",
    ".clj": "clojure",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".cxx": "cpp",
    ".dart": "dart",
    ".el": "lisp",
    ".erl": "erlang",
    ".ex": "elixir",
    ".exs": "elixir",
    ".fish": "shell",
    ".fs": "fsharp",
    ".go": "go",
    ".gradle": "groovy",
    ".graphql": "graphql",
    ".h": "c",
    ".hpp": "cpp",
    ".hs": "haskell",
    ".ini": "ini",
    ".java": "java",
    ".jl": "julia",
    ".js": "javascript",
    ".jsx": "javascript",
    ".kt": "kotlin",
    ".lisp": "lisp",
    ".lua": "lua",
    ".mjs": "javascript",
    ".ml": "ocaml",
    ".nim": "nim",
    ".nix": "nix",
    ".php": "php",
    ".pl": "perl",
    ".proto": "protobuf",
    ".ps1": "powershell",
    ".py": "python",
    ".pyi": "python",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".scm": "scheme",
    ".sh": "shell",
    ".sql": "sql",
    ".svelte": "svelte",
    ".swift": "swift",
    ".tcl": "tcl",
    ".tf": "terraform",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".vim": "vim",
    ".vue": "vue",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".zig": "zig",
    ".zsh": "shell",
}
"""Language by extension, in lower case."""

_INTERPRETER = re.compile(r"#![ \t]{0,4}[^\s]{0,200}/(?:env(?:[ \t]+-S)?[ \t]+)?([a-z]+)[\d.]{0,8}(?:[ \t][^\n]*)?\n")
_INTERPRETERS = {"bash": "shell", "dash": "shell", "ksh": "shell", "node": "javascript", "sh": "shell", "zsh": "shell"}
LANGUAGES_BY_NAME: dict[str, str] = {"dockerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile"}
"""Language by whole file name, in lower case."""


def find_language(path: Path) -> str | None:
    """Return the language of a file by its name; None if it is not source code."""
    return LANGUAGES_BY_NAME.get(path.name.lower()) or LANGUAGES.get(path.suffix.lower())


def script_language(start: str) -> str:
    """Return the language of a script by its first line: `shell` for `#!/usr/bin/env bash`; empty for another text."""
    match = _INTERPRETER.match(start)
    return _INTERPRETERS.get(match[1], match[1]) if match else ""


def load_code(path: Path, *, source: str, options: LoadOptions, language: str | None = None) -> Iterator[Document]:
    """Yield the single document of a source file, in the given language or the one of its name."""
    language = language or find_language(user_file_name(source))
    metadata: dict[str, str | list[str] | None] = {"language": language}
    if language and language in MODULE_LANGUAGES:
        metadata |= _read_project(path, source=source, language=language)
    text = read_text(path, options=options)
    if is_minified(text):
        raise LoadError("generated", "the lines are too long to be written by people")
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=text,
        form="code",
        metadata={key: value for key, value in metadata.items() if value},
    )


def _read_project(path: Path, *, source: str, language: str) -> dict[str, str | list[str] | None]:
    """Return the module name and the import paths of a file. Only its folder and the folders above are read."""
    if source.startswith(UPLOAD) or "#" in source:
        return {MODULE: path_module(source, language=language)}
    folders = path.parents
    if PurePosixPath(source.replace("\\", "/")).is_absolute():
        source = _path_in_project(path, source, language=language)

    def has_file(level: int, name: str) -> bool:
        return level < len(folders) and (folders[level] / name).is_file()

    def read(level: int, name: str) -> str:
        if not has_file(level, name):
            return ""
        with (folders[level] / name).open("rb") as stream:
            return stream.read(MAX_PROJECT_BYTES).decode("utf-8", "replace")

    own = [part for part in PurePosixPath(source.replace("\\", "/")).parent.parts if part not in ("/", ".")]
    return {
        MODULE: find_module(source, language=language, has_file=has_file, read=read),
        PATHS: find_paths(own, language=language, read=read),
    }


def _path_in_project(path: Path, source: str, *, language: str) -> str:
    """
    Return the path of a file from the root of its project, so that its module name does not depend on the machine.

    The root is the nearest folder with `.git`, or the outermost folder with a project file.
    """
    parts = PurePosixPath(source.replace("\\", "/")).parts[1:]
    root = -1
    for level, folder in enumerate(path.parents[: min(MAX_PROJECT_LEVELS, len(parts) - 1)]):
        if (folder / ".git").exists():
            root = level
            break
        root = level if any((folder / name).is_file() for name in _PROJECT_FILES) else root
    if root >= 0:
        return "/".join(parts[-root - 1 :])
    return source if language in _BY_NAME else "/".join(parts)
