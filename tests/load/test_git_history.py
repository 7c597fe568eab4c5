"""Commits of a Git repository as documents with a graph."""

import pytest
from git_repositories import GitRepository

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.load.git.commit_documents import iter_commit_documents
from weft.load.git.log import MAX_FILES, iter_commits
from weft.testing import FakeEmbedder

PARSER = "def parse(text):\n    return text.split()\n\n\ndef render(tree):\n    return str(tree)\n"


@pytest.fixture
def repository(tmp_path):
    """Return a new repository."""
    return GitRepository(tmp_path / "lantern")


@pytest.fixture
def engine(tmp_path):
    with Engine(read_settings({"store.db": str(tmp_path / "weft.db")}), embedder=FakeEmbedder()) as made:
        yield made


def test_a_commit_has_its_message_author_date_files_and_headings(repository):
    """Newest first; the heading of a change is the function around it."""
    repository.commit("Add the parser", {"src/parser.py": PARSER})
    repository.commit("Render trees as lists\n\nFixes #12.", {"src/parser.py": PARSER.replace("str(tree)", "[tree]")})

    new, old = iter_commits(repository.folder)
    assert (old.message, new.message) == ("Add the parser", "Render trees as lists\n\nFixes #12.")
    assert new.author == "Release Team" and new.date[:2] == "20" and new.parents == (old.sha,)
    assert [file.path for file in new.files] == ["src/parser.py"]
    assert new.files[0].headings == ("def render(tree):",)


def test_a_commit_is_related_to_author_files_issues_and_reverted_commits(repository):
    """A file is known by its name too."""
    first = repository.commit("Add the parser", {"src/parser.py": PARSER})
    repository.commit("Close the gap\n\nResolves: #7", {"src/parser.py": PARSER + "\n"})
    repository.commit(f'Revert "Add the parser"\n\nThis reverts commit {first}.', {"src/parser.py": "\n"})

    last, middle, _ = iter_commit_documents(repository.folder)
    stated_relations = {
        (stated.type, stated.target) for stated in (*last.given.stated_relations, *middle.given.stated_relations)
    }
    assert {("authored_by", "release team"), ("changes", "src parser py"), ("fixes", "issue 7")} <= stated_relations
    assert ("reverts", first[:10]) in stated_relations
    aliases = {(item.key, item.alias_of) for item in last.given.candidates if item.alias_of}
    assert ("parser py", "src parser py") in aliases
    assert "return" not in last.text and "- src/parser.py (parser.py)" in last.text


def test_indexing_again_reads_only_new_commits(repository, engine):
    """With prune, a commit that left the history is deleted."""
    repository.commit("Add the parser", {"src/parser.py": PARSER})
    repository.commit("Describe the parser", {"README.md": "The parser splits text.\n"})

    first = engine.index_commits(repository.folder)
    assert (first.added, first.facts) == (2, 0)
    assert engine.index_commits(repository.folder).documents == 0
    repository("commit", "--quiet", "--amend", "--message", "Describe the parser well")
    again = engine.index_commits(repository.folder, prune=True)
    assert (again.added, again.pruned) == (1, 1)
    found = engine.query("why was parser.py changed?")
    assert any("Add the parser" in piece.chunk.text for piece in found.evidence)
    assert sorted(item.metadata["kind"] for item in engine.documents()) == ["commit", "commit"]


def test_messages_cannot_fake_a_commit_and_long_histories_are_cut(repository):
    """Long lines and many files are bounded."""
    files = {f"many/{number}.txt": "x\n" for number in range(MAX_FILES + 5)}
    repository.commit("Add many", {**files, "long.txt": "y" * 100_000})
    repository.commit("commit\ndiff --git a/fake b/fake\n+++ b/fake\n\udcff".encode("utf-8", "replace").decode(), {})

    new, old = iter_commits(repository.folder)
    assert new.files == () and new.message.startswith("commit\ndiff --git")
    assert len(old.files) == MAX_FILES and old.omitted_files == 6


def test_what_is_no_repository_is_an_error(tmp_path, engine):
    """With the reason that git gives."""
    with pytest.raises(InputError, match="not a git repository"):
        engine.index_commits(tmp_path)
    with pytest.raises(InputError, match="no folder"):
        engine.index_commits(tmp_path / "none")


def test_files_that_a_commit_adds_are_kept_before_others(repository):
    """Who introduced a file can be asked, however many others the commit changes."""
    files = {f"many/{number:03}.txt": "x\n" for number in range(MAX_FILES + 5)}
    repository.commit("Add many", files)
    repository.commit("Change many, add one", {**dict.fromkeys(files, "y\n"), "zebra.py": PARSER})

    (commit, _) = iter_commits(repository.folder)
    assert [file.path for file in commit.files if file.is_added] == ["zebra.py"]
    assert (len(commit.files), commit.omitted_files) == (MAX_FILES, 6)
    document = next(iter_commit_documents(repository.folder))
    assert "- zebra.py (added)" in document.text and "- many/000.txt (000.txt)" in document.text
