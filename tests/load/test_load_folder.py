"""Folder walk: order, names, ignore rules, and files that must not be opened."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from loading import Load

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.folder import source_of
from weft.load.run import iter_documents, iter_sources
from weft.load.watch import sort_changes
from weft.records import Document, Skipped


def write(root: Path, *names: str) -> None:
    """Write a small text under each of the names."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"words of {name}")


def loaded(results: list[Document | Skipped]) -> list[str]:
    """Return the sources of the documents."""
    return [result.source for result in results if isinstance(result, Document)]


def reasons(results: list[Document | Skipped]) -> dict[str, str]:
    """Return why each of the others was skipped."""
    return {result.source: result.reason for result in results if isinstance(result, Skipped)}


def test_files_come_by_name_and_folders_in_their_place(load: Load, tmp_path: Path) -> None:
    """Two runs see the same order."""
    write(tmp_path, "b/z.txt", "b/a/x.txt", "c.txt", "a.txt", "B.txt")

    assert loaded(load()) == ["B.txt", "a.txt", "b/a/x.txt", "b/z.txt", "c.txt"]


def test_sources_are_relative_to_the_base_or_absolute(tmp_path: Path) -> None:
    """Files of the same name under two roots stay apart."""
    write(tmp_path, "in/a.txt", "out/a.txt")
    inside, outside = tmp_path / "in", tmp_path / "out"

    results = iter_documents([inside, outside], options=LoadOptions(), base=inside)

    assert [result.source for result in results] == ["a.txt", (outside / "a.txt").resolve().as_posix()]


def test_links_of_the_root_are_resolved_and_those_of_names_are_not(load: Load, tmp_path: Path) -> None:
    """The base may be reached by another way than the files, and a linked file keeps its own name."""
    write(tmp_path, "real/a.txt")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "alias.txt").symlink_to(tmp_path / "real" / "a.txt")

    assert loaded(load(tmp_path / "link" / "a.txt")) == ["real/a.txt"]
    assert source_of(tmp_path / "link" / "a.txt", base=tmp_path) == "real/a.txt"
    assert source_of(tmp_path / "link", base=tmp_path / "link" / ".." / "real" / "..") == "real"
    assert source_of(tmp_path / "link" / "gone.txt", base=tmp_path) == "real/gone.txt"
    assert loaded(load(tmp_path / "link")) == ["real/a.txt"]
    assert loaded(load(tmp_path / "real" / "alias.txt")) == ["real/alias.txt"]


def test_a_file_given_twice_comes_once(load: Load, tmp_path: Path) -> None:
    """A folder and a file in it overlap."""
    write(tmp_path, "a.txt", "b.txt")

    assert loaded(load(tmp_path / "b.txt", tmp_path, tmp_path)) == ["b.txt", "a.txt"]


def test_a_pattern_that_would_take_forever_is_left_out_and_named(
    load: Load, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Stars in one name, and folders of any depth; others of the same file hold."""
    deep = tmp_path / "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"
    deep.mkdir(parents=True)
    (deep / ("a" * 200)).write_text("kept")
    (tmp_path / "x.log").write_text("ignored")
    stars, folders = "*a" * 20 + "*b", "**/a/" * 20 + "b"
    (tmp_path / ".gitignore").write_text(f"{stars}\n{folders}\n**/x*.*[*]\n*.l*g\n/p/*/s/**/*.t.*\n")

    assert [name.rsplit("/", 1)[-1] for name in loaded(load())] == ["a" * 200]
    assert [record.getMessage().count("too many wildcards") for record in caplog.records] == [1, 1]
    assert stars in caplog.text


def test_gitignore_holds_at_every_level(load: Load, tmp_path: Path) -> None:
    """The inner file decides over the outer one, and a whole folder is one skip."""
    write(tmp_path, "a.log", "build/x.txt", "build/y.txt", "sub/keep.log", "sub/other.log", "sub/b.txt", "c.tmp")
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n/c.tmp\n!\n[\n")
    (tmp_path / "sub" / ".gitignore").write_text("!keep.log\nb.txt\n")

    results = load()

    assert loaded(results) == ["sub/keep.log"]
    ignored = {".gitignore", "a.log", "build", "c.tmp", "sub/.gitignore", "sub/b.txt", "sub/other.log"}
    assert reasons(results) == dict.fromkeys(ignored, "ignored")
    assert "a.log" in loaded(load(respect_gitignore=False))


def test_what_is_given_by_name_is_loaded_though_ignored(load: Load, tmp_path: Path) -> None:
    """Whoever names a file or a folder wants it."""
    write(tmp_path, "build/x.txt", "a.log", ".hidden")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")

    assert loaded(load(tmp_path / "a.log", tmp_path / ".hidden")) == ["a.log", ".hidden"]
    assert loaded(load(tmp_path / "build")) == ["build/x.txt"]


def test_the_rules_of_the_repository_hold_in_a_folder_of_it(load: Load, tmp_path: Path) -> None:
    """Loading `docs` ignores what loading the whole repository would."""
    write(tmp_path, "docs/_build/x.txt", "docs/a.txt")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("docs/_build\n")

    assert loaded(load(tmp_path / "docs")) == ["docs/a.txt"]


def test_include_and_exclude_choose_files(load: Load, tmp_path: Path) -> None:
    """Patterns are those of .gitignore, from the folder given."""
    write(tmp_path, "docs/a.md", "docs/b.txt", "src/c.md", "drafts/d.md")

    assert loaded(load(include=("*.md",), exclude=("drafts/",))) == ["docs/a.md", "src/c.md"]
    assert loaded(load(include=("docs/**",))) == ["docs/a.md", "docs/b.txt"]


def test_hidden_and_never_loaded_names_are_left_out(load: Load, tmp_path: Path) -> None:
    """Hidden files can be asked for; a repository's inside and our own store cannot."""
    names = [".env", ".git/config", "node_modules/x.txt", "__pycache__/y.txt", ".venv/z.txt"]
    write(tmp_path, *names, "weft.db", "weft.db-wal", "weft.db-shm", "weft.db.index/b.txt", "a.txt")

    assert loaded(load()) == ["a.txt"]
    assert loaded(load(hidden=True)) == [".env", "a.txt"]
    assert reasons(load())["weft.db-wal"] == reasons(load())[".git"] == "ignored"


def test_loops_of_links_end(load: Load, tmp_path: Path) -> None:
    """A folder is visited once, by whatever way."""
    write(tmp_path, "a/x.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")

    assert reasons(load()) == dict.fromkeys(["a/loop", "b", "self", "gone"], "symlink")
    followed = load(follow_symlinks=True)
    assert loaded(followed) == ["a/x.txt"]
    assert reasons(followed) == {
        "a/loop": "symlink",
        "b": "symlink",
        "gone": "unreadable",
        "self": "unreadable",
    }


def test_linked_files_are_loaded_when_links_are_followed(load: Load, tmp_path: Path) -> None:
    """Under the name of the link."""
    write(tmp_path, "a.txt")
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")

    assert loaded(load(follow_symlinks=True)) == ["a.txt", "b.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_sockets_and_devices_are_not_opened(load: Load, tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would never return, not even for a .gitignore."""
    os.mkfifo(tmp_path / "pipe.txt")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(os.path.relpath(tmp_path / "s.txt"))
        results = load(tmp_path, tmp_path / "zero.txt")
    finally:
        server.close()

    assert reasons(results) == {
        ".gitignore": "ignored",
        "pipe.txt": "not a regular file",
        "s.txt": "not a regular file",
        "zero.txt": "symlink",
    }
    assert reasons(load(tmp_path / "pipe.txt", tmp_path / "zero.txt")) == {
        "pipe.txt": "not a regular file",
        "zero.txt": "not a regular file",
    }


def test_what_may_not_be_read_is_unreadable(load: Load, tmp_path: Path) -> None:
    """Files and folders alike, without an end to the run."""
    write(tmp_path, "a.txt", "sub/b.txt", "c.txt")
    (tmp_path / "a.txt").chmod(0)
    if os.access(tmp_path / "a.txt", os.R_OK):
        pytest.skip("root may read everything")
    (tmp_path / "sub").chmod(0)
    try:
        results = load()
    finally:
        (tmp_path / "sub").chmod(0o700)

    assert reasons(results) == {"a.txt": "unreadable", "sub": "unreadable"}
    assert loaded(results) == ["c.txt"]


def test_a_file_that_vanishes_is_unreadable(tmp_path: Path) -> None:
    """Files come and go while a folder is being loaded."""
    write(tmp_path, "a.txt", "b.txt")
    results = iter_documents([tmp_path / "a.txt", tmp_path / "b.txt"], options=LoadOptions(), base=tmp_path)

    next(results)
    (tmp_path / "b.txt").unlink()

    assert reasons(list(results)) == {"b.txt": "unreadable"}


def test_large_files_are_skipped_and_streamed_ones_are_not(load: Load, tmp_path: Path) -> None:
    """JSON Lines are read line by line and have the larger limit."""
    (tmp_path / "a.txt").write_text("x" * 2000)
    (tmp_path / "b.jsonl").write_text('{"text": "x"}\n' * 200)

    results = load(max_file_bytes=1000)

    assert reasons(results) == {"a.txt": "too large"}
    assert len(loaded(results)) == 200
    assert reasons(load(max_file_bytes=1000, max_expanded_bytes=1000))["b.jsonl"] == "too large"


def test_names_in_any_script_and_in_none_are_loaded(load: Load, tmp_path: Path) -> None:
    """A name that is no valid Unicode has an escape in its source, and never ends the run."""
    write(tmp_path, "😀 笔记.txt", "line\nbreak.txt")
    names = ["line\nbreak.txt", "😀 笔记.txt"]
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("words")
        names.insert(0, "caf\\udce9.txt")
    except OSError:
        pass  # the file system takes no such names

    results = load()

    assert loaded(results) == names
    assert all(isinstance(result, Document) and result.title for result in results)


def test_deep_folders_are_walked_without_recursion(load: Load, tmp_path: Path) -> None:
    """Deeper than a path may be long is unreadable, anything else is loaded."""
    folder = tmp_path
    for _ in range(300):
        folder = folder / "d"
    write(folder, "x.txt")

    assert len(loaded(load())) == 1


def test_the_files_to_load_are_listed_without_being_opened(tmp_path: Path) -> None:
    """A dry run and a progress bar need the files and nothing of their content."""
    write(tmp_path, "b.txt", "a.rar", "sub/c.md", ".hidden")
    (tmp_path / "empty.txt").touch()

    paths = list(iter_sources([tmp_path], options=LoadOptions(), base=tmp_path))

    assert [path.relative_to(tmp_path.resolve()).as_posix() for path in paths] == ["b.txt", "sub/c.md"]


@pytest.mark.parametrize("name", ["missing.txt", "a.txt/below", "nul\0.txt"])
def test_a_path_that_does_not_exist_is_an_error_at_once(tmp_path: Path, name: str) -> None:
    """The error is raised before anything is loaded."""
    write(tmp_path, "a.txt")

    with pytest.raises(InputError) as caught:
        iter_documents([tmp_path, tmp_path / name], options=LoadOptions(), base=None)
    assert caught.value.hint


def test_what_is_watched_and_left_out_is_not_gone(tmp_path: Path) -> None:
    """A file that is not read, but is there, keeps its documents; one that was emptied does not."""
    write(tmp_path, "a.md", "b.txt", ".h.md")
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "large.md").write_text("x" * 99)
    options = LoadOptions(include=("*.md",), max_file_bytes=20)
    names = ("a.md", "b.txt", ".h.md", "empty.md", "large.md", "missing.txt")

    changed = sort_changes({tmp_path / name for name in names}, paths=[tmp_path], options=options, base=tmp_path)

    assert changed.updated == (tmp_path / "a.md",)
    assert changed.deleted == (tmp_path / "empty.md", tmp_path / "missing.txt")


def test_a_file_that_any_folder_has_is_called_with_its_folder(load: Load, tmp_path: Path) -> None:
    """Otherwise the README files of all packages would share one title and one entity."""
    for folder in ("alpha", "beta"):
        (tmp_path / folder).mkdir()
        for name in ("LICENSE", "README.md", "__init__.py", "index.html", "notes.md"):
            (tmp_path / folder / name).write_text("Some words that are no title.")
    (tmp_path / "README.md").write_text("More words.")

    titles = {item.source: item.title for item in load() if isinstance(item, Document)}

    assert titles == {
        "README.md": "README",
        **{
            f"{folder}/{name}": title
            for folder in ("alpha", "beta")
            for name, title in {
                "LICENSE": f"{folder}/LICENSE",
                "README.md": f"{folder}/README",
                "__init__.py": f"{folder}/__init__.py",
                "index.html": f"{folder}/index",
                "notes.md": "notes",
            }.items()
        },
    }
