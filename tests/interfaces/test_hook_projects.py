"""Each project has a memory of its own: what one session said is recalled in its project only."""

import subprocess
from pathlib import Path

import pytest
from test_hooks import daemon, runtime, write_log  # noqa: F401 - fixtures

from weft.daemon import switches
from weft.daemon.capture import drain
from weft.daemon.spool import Spool
from weft.load.conversations.projects import find_project

PROMPT = "how many tonnes lifts the harbour crane?"


def git(*arguments, folder):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always"]
    subprocess.run([*command, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repositories(tmp_path):
    """A repository with a worktree and a submodule, and another repository."""
    shop, other = tmp_path / "shop", tmp_path / "other"
    for folder in (shop, other):
        (folder / "src").mkdir(parents=True)
        git("init", "-q", folder=folder)
        git("commit", "-q", "--allow-empty", "-m", "start", folder=folder)
    git("worktree", "add", "-q", str(tmp_path / "branch"), folder=shop)
    git("submodule", "add", "-q", str(other), "vendor/lib", folder=shop)
    return tmp_path


def test_a_project_is_the_root_of_the_main_worktree(repositories):
    """Worktrees and submodules belong to it; a folder without a repository is its own."""
    shop = str(repositories / "shop")
    for name in ("shop", "shop/src", "shop/vendor/lib", "branch"):
        assert find_project(str(repositories / name)) == shop
    assert find_project(str(repositories / "other" / "src")) == str(repositories / "other")
    assert find_project(str(repositories)) == str(repositories)
    assert find_project("relative") == find_project("") == ""


def test_a_git_file_cannot_stated_relation_another_repository(repositories):
    """A clone or an archive could otherwise read the memory of any project."""
    fake = repositories / "fake"
    fake.mkdir()
    (fake / ".git").write_text(f"gitdir: {repositories}/shop/.git/worktrees/branch\n")
    assert find_project(str(fake)) == str(fake)
    (fake / ".git").write_text(f"gitdir: {repositories}/shop/.git/modules/vendor/lib\n")
    assert find_project(str(fake)) == str(fake)


def capture(call, folder, session, cwd, text):
    """Capture a session of one prompt."""
    path = write_log(folder, session, ("user", text), ("assistant", "Noted."))
    assert call("stop", session_id=session, transcript_path=path, cwd=str(cwd)) == {"text": ""}
    drain(call.engine, Spool(call.address.name))
    while f"claude-code:{session}" not in {d.source for d in call.engine.documents()}:
        pass


def test_a_prompt_gets_nothing_of_another_project(daemon, repositories):  # noqa: F811
    """Notes that were indexed by hand are known everywhere; `all` names the project of a passage."""
    capture(daemon, repositories, "s1", repositories / "shop/src", "The harbour crane lifts forty tonnes since May.")

    def ask(cwd, session, scope="project"):
        return daemon("prompt", {"scope": scope}, prompt=PROMPT, session_id=session, cwd=str(repositories / cwd))[
            "text"
        ]

    assert "forty tonnes" in ask("branch", "s2") and "forty tonnes" in ask("shop/vendor/lib", "s3")
    assert ask("other", "s4") == "" and ask("shop", "s5", "folder") == ""
    assert "forty tonnes" in ask("shop/src", "s6", "folder")
    everywhere = ask("other", "s7", "all")
    assert "forty tonnes" in everywhere and f"project {repositories}/shop" in everywhere

    daemon.engine.add_text("The harbour crane lifts ninety tonnes by permission of the port.", source="note")
    assert "ninety tonnes" in ask("other", "s8") and "forty" not in ask("other", "s9")


@pytest.mark.parametrize(
    "pattern, ignored", [("clients/", True), ("**/secret*", True), ("*", True), ("*.md", False), ("src", False)]
)
def test_ignored_folders_have_no_memory(repositories, pattern, ignored):
    """`.weftignore` holds for its folder and those below it, and the list of the user for all."""
    folder = repositories / "shop" / "clients" / "secret-a"
    folder.mkdir(parents=True)
    for path in (repositories / "shop" / ".weftignore", Path(switches.user_ignore_file())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# mine\n{pattern}\n")
        assert bool(switches.find_switch(session="s", folder=str(folder))) == ignored
        path.unlink()


def test_hooks_can_be_paused_and_a_session_private(monkeypatch, tmp_path):
    """The reason is named."""
    assert switches.find_switch(session="s", folder=str(tmp_path)) == ""
    switches.pause("s")
    assert switches.find_switch(session="s", folder="") == "this session is private"
    assert switches.find_switch(session="t", folder="") == ""
    switches.pause()
    assert switches.find_switch(session="t", folder="") == "hooks are paused"
    assert switches.resume() and not switches.resume()
    assert switches.find_switch(session="s", folder="") == ""
    monkeypatch.setenv("WEFT_PRIVATE", "1")
    assert switches.find_switch(session="s", folder="") == "WEFT_PRIVATE is set"


def test_a_prompt_gets_the_rules_of_its_project_whose_topic_it_names(daemon, tmp_path):  # noqa: F811
    """And the contrary half that was stated with them; `weft recall` finds them without a project."""
    shop, other = tmp_path / "shop", tmp_path / "other"
    shop.mkdir()
    other.mkdir()
    capture(daemon, tmp_path, "s1", shop, "Always use pnpm, never npm.\nNever push to main.")

    def added(prompt, folder):
        return daemon("prompt", prompt=prompt, session_id="s2", cwd=str(folder))["text"]

    assert "pnpm" not in added("Install lodash with npm", other)
    assert "push" not in added("Draw a diagram of the login", shop)
    text = added("Install lodash with npm", shop)
    assert "never use npm" in text and "always use pnpm" in text
    assert "never push" not in text
    found = daemon.engine.memory.recall("Install lodash with npm", about=[f"project {shop}"])
    assert found.facts[0].fact.predicate == "rule_use_npm"
