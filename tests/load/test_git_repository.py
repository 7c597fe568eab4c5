"""Repositories in every layout that Git makes; everything that is read lies inside the repository."""

import os
import resource
import shutil
import struct

import pytest
from git_repositories import GitRepository, git_version

from weft.errors import InputError
from weft.load.git import git_process
from weft.load.git.log import iter_commits, list_shas
from weft.load.git.repository import MAX_LIST_BYTES, MAX_REFTABLE_BYTES

IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def messages(folder):
    """Return the messages of the commits of a repository, newest first."""
    found = [commit.message for commit in iter_commits(folder)]
    assert len(list_shas(folder)) == len(found)
    return found


@pytest.fixture
def repository(tmp_path):
    made = GitRepository(tmp_path / "lantern")
    made.commit("First", {"a.txt": "one\n", "src/b.txt": "b\n"})
    made.commit("Second", {"a.txt": "two\n"})
    return made


@pytest.fixture
def secret(tmp_path):
    """A repository of the user that another folder must not reach."""
    made = GitRepository(tmp_path / "private")
    made.commit("Secret", {"a.txt": "secret\n"})
    return made


# ── layouts ─────────────────────────────────────────────────────────────────────────────────────


def test_loose_packed_symbolic_and_detached_references(repository):
    """The current branch is found wherever Git keeps it."""
    assert messages(repository.folder) == ["Second", "First"]
    repository("pack-refs", "--all")
    repository("gc", "--quiet")
    assert not (repository.folder / ".git" / "refs" / "heads" / "main").exists()
    assert messages(repository.folder) == ["Second", "First"]
    repository("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    repository("symbolic-ref", "HEAD", "refs/heads/alias")
    assert messages(repository.folder) == ["Second", "First"]
    repository("checkout", "--quiet", "--detach", "HEAD~1")
    assert messages(repository.folder) == ["First"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_commit_of_countless_files_does_not_fill_memory(repository, monkeypatch):
    """A folder that contains one folder ten times, on six levels: Git lists a million files before it prints one."""
    monkeypatch.setattr(git_process, "MAX_MEMORY_BYTES", 64 << 20)
    assert messages(repository.folder) == ["Second", "First"]
    kind, id = "blob", repository("hash-object", "-w", "a.txt").strip()
    for _ in range(6):
        mode = "100644" if kind == "blob" else "040000"
        rows = "".join(f"{mode} {kind} {id}\tn{number}\n" for number in range(10))
        kind, id = "tree", repository("mktree", input=rows.encode()).strip()
    repository("update-ref", "HEAD", repository("commit-tree", id, "-m", "Bomb").strip())

    with pytest.raises(InputError, match="memory"):
        list(iter_commits(repository.folder))


def test_a_folder_inside_a_repository(repository):
    """Names the repository, as with Git; so does the Git directory itself."""
    assert messages(repository.folder / "src") == ["Second", "First"]
    assert messages(repository.folder / ".git") == ["Second", "First"]


def test_a_bare_repository(repository, tmp_path):
    repository("clone", "--quiet", "--bare", repository.folder, tmp_path / "bare.git")
    assert messages(tmp_path / "bare.git") == ["Second", "First"]


def test_a_shallow_clone_is_read_as_far_as_it_reaches(repository, tmp_path):
    repository("clone", "--quiet", "--depth=1", f"file://{repository.folder}", tmp_path / "shallow")
    assert messages(tmp_path / "shallow") == ["Second"]


def test_objects_with_sha256_ids(tmp_path):
    made = GitRepository(tmp_path / "long", "--object-format=sha256")
    sha = made.commit("First", {"a.txt": "one\n"})
    assert len(sha) == 64
    assert list_shas(made.folder) == [sha]


def test_a_linked_worktree(repository, tmp_path):
    """It has a HEAD of its own; objects and branches are those of the main repository."""
    repository("worktree", "add", "--quiet", "-b", "other", tmp_path / "linked", "HEAD~1")
    assert messages(tmp_path / "linked") == ["First"]
    assert messages(repository.folder / ".git" / "worktrees" / "linked") == ["First"]
    assert messages(repository.folder) == ["Second", "First"]


def test_a_submodule(repository, secret):
    """Its Git directory lies in that of the repository around it, and names the folder of the submodule."""
    repository("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", secret.folder, "part")
    assert (repository.folder / "part" / ".git").is_file()
    assert messages(repository.folder / "part") == ["Secret"]


@pytest.mark.skipif(git_version() < (2, 45), reason="Git 2.45 is needed for reftables")
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_references_in_reftables(object_format, tmp_path):
    """Of the repository and of a linked worktree."""
    made = GitRepository(tmp_path / "tables", "--ref-format=reftable", f"--object-format={object_format}")
    made.commit("First", {"a.txt": "one\n"})
    made.commit("Second", {"a.txt": "two\n"})
    made("worktree", "add", "--quiet", "-b", "other", tmp_path / "linked", "HEAD~1")

    assert messages(made.folder) == ["Second", "First"]
    assert messages(tmp_path / "linked") == ["First"]


def test_a_repository_without_commits_is_an_error(tmp_path):
    made = GitRepository(tmp_path / "empty")
    with pytest.raises(InputError, match="has no commits"):
        messages(made.folder)


# ── nothing outside ─────────────────────────────────────────────────────────────────────────────


def link(path, target):
    """Replace a file or folder by a link."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def write(path, text):
    """Replace a file or folder by a file."""
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def borrow(git, private):
    """Take the objects of another repository, by a path whose `..` Git resolves before the link in it."""
    deep = git.parent / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    (git / "deep").symlink_to(deep)
    write(git / "objects" / "info" / "alternates", f"../deep/../../../{private.parent.name}/.git/objects\n")


WAYS_OUT = {
    "link to a Git directory": lambda git, private: link(git, private),
    "file with a Git directory": lambda git, private: write(git, f"gitdir: {private}\n"),
    "relative file with a Git directory": lambda git, private: write(git, f"gitdir: ../{private.parent.name}/.git\n"),
    "common directory": lambda git, private: write(git / "commondir", f"{private}\n"),
    "link to the objects": lambda git, private: link(git / "objects", private / "objects"),
    "link to packs": lambda git, private: link(git / "objects" / "pack", private / "objects" / "pack"),
    "link to a branch": lambda git, private: link(git / "refs/heads/main", private / "refs/heads/main"),
    "link to all branches": lambda git, private: link(git / "refs", private / "refs"),
    "link to HEAD": lambda git, private: link(git / "HEAD", private / "HEAD"),
    "alternate": lambda git, private: write(git / "objects/info/alternates", f"{private}/objects\n"),
    "alternate behind a link": borrow,
    "quoted alternate": lambda git, private: write(git / "objects/info/alternates", f'"{private}/objects"\n'),
    "link to shallow commits": lambda git, private: link(git / "shallow", private / "config"),
}


@pytest.mark.parametrize("leave", WAYS_OUT.values(), ids=WAYS_OUT)
def test_nothing_outside_the_repository_is_read(leave, repository, secret):
    """The history of another repository, of whose place a stranger knows, does not get into the store."""
    git = repository.folder / ".git"
    (git / "refs" / "heads" / "main").write_text(secret("rev-parse", "HEAD") + "\n")
    leave(git, secret.folder / ".git")

    with pytest.raises(InputError, match=r"outside the repository|does not belong|is a link"):
        messages(repository.folder)


def test_an_alternate_inside_the_repository_is_read_but_not_one_that_leads_on(repository, secret):
    """An alternate may have alternates."""
    inner = repository.folder / "inner" / "objects"
    (inner / "info").mkdir(parents=True)
    (repository.folder / ".git" / "objects" / "info" / "alternates").write_text(f"# inner\n{inner}\n")
    assert messages(repository.folder) == ["Second", "First"]

    (inner / "info" / "alternates").write_text(f"{secret.folder}/.git/objects\n")
    with pytest.raises(InputError, match="outside the repository"):
        messages(repository.folder)


def test_a_git_directory_elsewhere_can_be_passed_itself(repository, tmp_path):
    """`git init --separate-git-dir` leaves no way to see that the two belong together."""
    repository("init", "--quiet", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    with pytest.raises(InputError) as refused:
        messages(repository.folder)
    assert f"weft index --git {tmp_path / 'elsewhere'}" in refused.value.hint
    assert messages(tmp_path / "elsewhere") == ["Second", "First"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are needed")
@pytest.mark.parametrize(
    "path", ["HEAD", "refs/heads/main", "packed-refs", "shallow", "config", "objects/info/alternates"]
)
def test_a_named_pipe_does_not_stop_the_run(path, repository):
    """Opening one would wait for a writer forever; `config` is not even looked at."""
    git = repository.folder / ".git"
    (git / path).unlink(missing_ok=True)
    os.mkfifo(git / path)

    if path in ("HEAD", "refs/heads/main", "objects/info/alternates"):
        with pytest.raises(InputError):
            messages(repository.folder)
    else:
        assert messages(repository.folder) == ["Second", "First"]


@pytest.mark.parametrize(
    "head",
    [
        "",
        "ref: ",
        "ref: refs/../../../x",
        "ref: refs/heads/a\0b",
        "ref: refs/heads/loop",
        "ref: ../a.txt",
        "x" * 10_000,
    ],
)
def test_a_head_that_names_no_branch_is_an_error(head, repository):
    """Whatever it contains."""
    git = repository.folder / ".git"
    (git / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop\n")
    (git / "HEAD").write_text(head)

    with pytest.raises(InputError):
        messages(repository.folder)


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: \0", "gitdir: .git", "gitdir: " + "x/" * 3000, "elsewhere"])
def test_a_git_file_without_a_git_directory_is_an_error(text, repository):
    """Whatever it contains."""
    write(repository.folder / ".git", text)
    with pytest.raises(InputError, match="cannot read the history"):
        messages(repository.folder)


@pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
def test_a_repository_of_another_owner_is_read_only_if_it_is_passed_itself(repository):
    """Another user of the machine could put a `.git` into a folder above."""
    os.chown(repository.folder / ".git", 12345, 12345)
    assert messages(repository.folder) == ["Second", "First"]
    with pytest.raises(InputError, match="not a git repository"):
        messages(repository.folder / "src")


def test_an_index_of_several_packs_cannot_name_those_of_another_repository(repository, secret):
    """Its pack names are paths; Git itself follows them."""
    for made in (repository, secret):
        made("repack", "-q", "-a", "-d")
        made("multi-pack-index", "write")
    packs, others = (made.folder / ".git" / "objects" / "pack" for made in (repository, secret))
    prefix = os.path.relpath(others, packs) + "/"
    index = rename_packs((others / "multi-pack-index").read_bytes(), prefix=prefix.encode())
    (packs / "multi-pack-index").chmod(0o644)
    (packs / "multi-pack-index").write_bytes(index)
    (repository.folder / ".git" / "HEAD").write_text(secret("rev-parse", "HEAD") + "\n")

    assert repository("log", "--format=%s") == "Secret"
    with pytest.raises(InputError, match="bad object"):
        messages(repository.folder)


def rename_packs(index, *, prefix):
    """
    Return a multi-pack index with a prefix before the name of its only pack.

    Layout: 12 bytes of header, of which the seventh is the number of chunks; for each chunk its name and offset; the
    chunks; a checksum.
    """
    count = index[6]
    table = [struct.unpack_from(">4sQ", index, 12 + 12 * number) for number in range(count + 1)]
    chunks = [(table[n][0], index[table[n][1] : table[n + 1][1]]) for n in range(count)]
    chunks = [(name, pad(prefix + data) if name == b"PNAM" else data) for name, data in chunks]
    offset, head, body = 12 + 12 * (count + 1), index[:12], b""
    for name, data in chunks:
        head += struct.pack(">4sQ", name, offset + len(body))
        body += data
    return head + struct.pack(">4sQ", b"", offset + len(body)) + body + index[-20:]


def pad(data):
    """Return data with zeros up to a multiple of four bytes."""
    return data + bytes(-len(data) % 4)


def test_a_list_that_is_too_long_is_an_error(repository):
    """The memory of the process is bounded."""
    with (repository.folder / ".git" / "shallow").open("wb") as file:
        file.truncate(MAX_LIST_BYTES + 1)
    with pytest.raises(InputError, match="larger than"):
        messages(repository.folder)


def test_reftables_that_are_too_large_are_an_error(repository):
    """They are copied into a temporary folder."""
    git = repository.folder / ".git"
    (git / "HEAD").write_text("ref: refs/heads/.invalid\n")
    (git / "reftable").mkdir()
    with (git / "reftable" / "x.ref").open("wb") as file:
        file.truncate(MAX_REFTABLE_BYTES + 1)
    with pytest.raises(InputError, match="larger than"):
        messages(repository.folder)


def test_names_of_files_are_not_quoted(repository):
    """Git quotes letters that are not ASCII by default."""
    repository.commit("Third", {"größe.txt": "x\n"})
    assert [file.path for file in next(iter_commits(repository.folder)).files] == ["größe.txt"]
