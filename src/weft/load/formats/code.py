"""Source code to documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import read_text
from weft.load.file_types import file_title, user_file_name
from weft.records import Document

LANGUAGES: dict[str, str] = {
    ".bash": "shell",
    ".bat": "batch",
    ".c": "c",
    ".cc": "cpp",
    ".cfg": "ini",
    ".clj": "clojure",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".css": "css",
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
    ".less": "css",
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
    ".scss": "css",
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
    yield Document(
        source=source,
        title=file_title(source, with_extension=True),
        text=read_text(path, options=options),
        form="code",
        metadata={"language": language} if language else {},
    )
