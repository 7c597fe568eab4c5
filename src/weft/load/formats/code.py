"""Source code to documents, with the language and the module name in their metadata."""

from __future__ import annotations

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
    ".ex": "elixir",
    ".exs": "elixir",
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
    ".lua": "lua",
    ".mjs": "javascript",
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
    ".sh": "shell",
    ".sql": "sql",
    ".svelte": "svelte",
    ".swift": "swift",
    ".tf": "terraform",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".vue": "vue",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".zig": "zig",
    ".zsh": "shell",
}
"""Language by extension, in lower case."""

LANGUAGES_BY_NAME: dict[str, str] = {"dockerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile"}
"""Language by whole file name, in lower case."""


def find_language(path: Path) -> str | None:
    """Return the language of a file by its name; None if it is not source code."""
    return LANGUAGES_BY_NAME.get(path.name.lower()) or LANGUAGES.get(path.suffix.lower())


def load_code(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a source file."""
    language = find_language(user_file_name(source))
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
