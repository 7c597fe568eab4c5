"""Rules, preferences, notes and corrections of the user, in English and Chinese."""

import time
from datetime import datetime

import pytest

from weft import open_engine
from weft.extract.user_rules import read_rules
from weft.extract.user_statements import read_statements
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import to_microseconds


def said(text, *, before=""):
    return [(stated.predicate, stated.value) for stated in read_rules(text, before=before)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Always use pnpm, never npm", [("rule use pnpm", "always"), ("rule use npm", "never")]),
        ("Please always answer in German.", [("rule answer in german", "always")]),
        ("From now on, run the linter first", [("rule run linter first", "always")]),
        ("from now on use npm instead of pnpm.", [("rule use npm", "always"), ("rule use pnpm", "never")]),
        ("From now on, never push to main.", [("rule push to main", "never")]),
        ("don't ever push to main", [("rule push to main", "never")]),
        ("Use yarn instead of npm in this repo.", [("rule use yarn", "always"), ("rule use npm", "never")]),
        ("I prefer tabs over spaces in this repo", [("prefers spaces or tabs", "tabs")]),
        ("Remember that the demo is on Friday.", [("remember", "the demo is on Friday")]),
        ("Actually, the staging port is 5432.", [("correct staging port", "5432")]),
        ("以后请用pnpm，不要用npm", [("rule 用pnpm", "always"), ("rule 用npm", "never")]),
        ("千万不要提交密钥。", [("rule 提交密钥", "never")]),
        ("记住：演示在星期五", [("remember", "演示在星期五")]),
        ("我更喜欢制表符而不是空格", [("prefers 制表符 or 空格", "制表符")]),
        ("我住在杭州。", [("lives_in", "杭州")]),
        ("我们决定使用SQLite", [("decided", "使用SQLite")]),
        ("不对，端口是5432", [("correct 端口", "5432")]),
    ],
)
def test_a_statement_for_later_is_read(text, expected):
    """A rule and its contrary have one predicate."""
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    ["Always a pleasure", "Never mind", "Always wanted to go there", "Should I always use pnpm?", "No, that's great.",
     "I prefer going to museums", 'He said "always use npm"', "Remember when we met?", "No, it is fine.", "我叫什么？",
     "Never heard of it", "From now on it gets harder", "记住了吗？"],
)  # fmt: skip
def test_other_text_is_not(text):
    """Questions, quotations, idioms."""
    assert said(text) == []


def test_a_correction_is_about_the_turn_before_it():
    """Without a value that is named there, it states nothing."""
    assert said("no, it is 5432", before="The database port is 5433.") == [("correct database port", "5432")]
    assert said("no, it is 5432", before="Hello.") == []


def talk(session, day, *texts, project="/work/shop"):
    time = to_microseconds(datetime(2026, 3, day))
    messages = [Message(role="user", text=text, time=time) for text in texts]
    fields = {"project": project} if project else {}
    return to_document(messages, Conversation(source=f"claude:{session}", host="claude", id=session, fields=fields))


def test_rules_are_about_the_project_and_preferences_about_the_user():
    """`in this repo` makes a preference one of the project; without a project all are about the user."""
    document = talk("1", 1, "Always use pnpm.", "I prefer tea over coffee.", "I prefer tabs over spaces in this repo.")
    subjects = {fact.predicate: fact.subject for fact in read_statements(document)}
    project = "project /work/shop"
    assert subjects == {
        "rule use pnpm": project,
        "prefers coffee or tea": "user",
        "prefers spaces or tabs": project,
    }
    (fact,) = read_statements(talk("2", 1, "Always use pnpm.", project=""))
    assert fact.subject == "user"


def test_a_contrary_statement_ends_the_earlier_one_and_equal_ones_have_all_sources(tmp_path):
    """Five sessions, one fact; then the contrary, in another session; another project keeps its own rule."""
    with open_engine(str(tmp_path / "w.db"), embedder="none") as engine:
        variants = (
            "Always use pnpm.",
            "always use `pnpm`",
            "Please always use pnpm!",
            "Always use pnpm",
            "always use pnpm.",
        )
        engine.add([talk(str(day), day, text) for day, text in enumerate(variants, start=1)])
        (fact,) = engine.memory.list()
        assert len(engine.reader.facts.origins([fact.id])[fact.id]) == 5 and fact.status == "staged"

        engine.add([talk("7", 7, "From now on use npm instead of pnpm."), talk("8", 8, "Never use npm.", project="/b")])
        now = {(f.subject_name, f.predicate, f.value) for f in engine.memory.list() if f.valid_to is None}
        assert now == {
            ("project /work/shop", "rule_use_pnpm", "never"),
            ("project /work/shop", "rule_use_npm", "always"),
            ("project /b", "rule_use_npm", "never"),
        }
        assert engine.database.check() == []


@pytest.mark.parametrize(
    "unit", ["Always use ", "No, the ", "I prefer x over ", "从现在开始都", "Use a instead of ", "the a "]
)
def test_reading_is_linear(unit):
    """Text of strangers reaches only patterns that need linear time."""
    begin = time.process_time()
    read_rules(unit * 20_000, before=unit * 20_000)
    assert time.process_time() - begin < 5
