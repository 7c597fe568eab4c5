"""Rules, preferences, notes and corrections of the user, in English and Chinese."""

import time
from datetime import datetime

import pytest

from weft import open_engine
from weft.extract.names import predicate_key
from weft.extract.user_rules import read_rules, rule_topic
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
        ("以后不要用var", [("rule 用var", "never")]),
        ("每次我问预算，都请写明货币", [("rule 写明货币，每当我问预算", "always")]),
        ("Whenever I ask for code, add type hints.", [("rule add type hints when i ask for code", "always")]),
        (
            "Every time I ask about trips, never suggest planes",
            [("rule suggest planes when i ask about trips", "never")],
        ),
        ("Never upgrade Django without asking me", [("rule upgrade django without asking me", "never")]),
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
     "每次我去北京，都很累", "When I asked her, add was missing", "Every time I go there, it rains",
     "Never heard of it", "From now on it gets harder", "记住了吗？"],
)  # fmt: skip
def test_other_text_is_not(text):
    """Questions, quotations, idioms."""
    assert said(text) == []


def test_a_correction_is_about_the_turn_before_it():
    """Without a value that is named there, it states nothing."""
    assert said("no, it is 5432", before="The database port is 5433.") == [("correct database port", "5432")]
    assert said("no, it is 5432", before="Hello.") == []


@pytest.mark.parametrize(
    "text, topics",
    [
        ("Always use pnpm, never npm", ["pnpm", "npm"]),
        ("Always include the currency when I ask about budgets", ["budgets"]),
        ("Whenever I ask you for code, add type hints", ["code"]),
        ("每次我问预算，都请写明货币", ["预算"]),
        ("以后请用pnpm", ["pnpm"]),
        ("Remember that the demo is on Friday", [""]),
    ],
)
def test_the_topic_of_a_rule_is_its_occasion_or_its_object(text, topics):
    """The verb is in prompts on any subject; other statements have no topic."""
    assert [rule_topic(predicate_key(stated.predicate)) for stated in read_rules(text)] == topics


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


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Always use pnpm.",
            "always use `pnpm`",
            "Please always use pnpm!",
            "From now on use pnpm",
            "Always use pnpm now",
        ),
        (
            "Never delete log files.",
            "Don't ever remove log files",
            "never delete any log file",
            "Never remove a log file",
            "never delete the log files",
        ),
        (
            "Always ask me before you deploy.",
            "always ask me before deploying.",
            "From now on ask me before you deploy",
            "Please always ask me before deploying!",
            "always ask me before you deploy",
        ),
        (
            "I prefer window seats over aisle seats.",
            "I prefer a window seat over an aisle seat",
            "I really prefer window seats instead of aisle seats",
            "I prefer the window seat rather than the aisle seat",
            "I prefer window seats over aisle seats!",
        ),
        (
            "My favourite color is dark green.",
            "my favorite colour is dark green",
            "My favorite color is Dark Green",
            "My favourite colour is dark green.",
            "my favorite color is dark green!",
        ),
        (
            "Remember that we need 2 replicas.",
            "Keep in mind that we require two replicas",
            "Remember: we need two replicas",
            "Don't forget that we need 2 replicas.",
            "Remember that we require 2 replicas.",
        ),
        ("记住：演示在星期五", "别忘了演示在周五", "请记住演示在星期五。", "记得演示在礼拜五", "记住：演示在周五"),
    ],
)
def test_a_statement_in_five_sessions_is_one_fact_with_five_sources(tmp_path, texts):
    """Also in other words; deleting the session of the first wording leaves the fact to the others."""
    with open_engine(str(tmp_path / "w.db"), embedder="none") as engine:
        engine.add([talk(str(day), day, text) for day, text in enumerate(texts, start=1)])
        (fact,) = engine.memory.list()
        assert engine.memory.sources([fact.id]) == {fact.id: tuple(f"claude:{day}" for day in range(1, 6))}
        assert fact.status == "staged" and fact.valid_to is None
        engine.delete("claude:1")
        assert [(f.id, len(engine.memory.sources([f.id])[f.id])) for f in engine.memory.list()] == [(fact.id, 4)]
        assert engine.database.check() == []


@pytest.mark.parametrize(
    "first, second",
    [
        ("Always use pnpm.", "Always use npm."),
        ("Never delete log files.", "Never delete lock files."),
        ("Always translate comments into English.", "Always translate comments from English."),
        ("I usually swim in the morning.", "I usually swim in the evening."),
        ("Remember that Anna calls Boris.", "Remember that Boris calls Anna."),
        ("Remember that I am allergic to nuts.", "Remember that I am not allergic to nuts."),
        ("记住：演示在星期五", "记住：演示在星期一"),
    ],
)
def test_a_different_statement_stays_apart(tmp_path, first, second):
    """A day, a preposition, an order or a negation makes another statement."""
    with open_engine(str(tmp_path / "w.db"), embedder="none") as engine:
        engine.add([talk("1", 1, first), talk("2", 2, second)])
        assert len(list(engine.memory.list())) == 2


@pytest.mark.parametrize(
    "first, second",
    [
        ("Never delete log files.", "Always remove the log file."),
        ("I prefer window seats over aisle seats.", "I prefer an aisle seat over a window seat."),
        ("My favourite colour is dark green.", "My favorite color is light green."),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_a_contrary_statement_in_other_words_ends_the_earlier_one(tmp_path, first, second, together):
    """In one conversation and in two."""
    time = to_microseconds(datetime(2026, 3, 2))
    both = to_document(
        [Message(role="user", text=first, time=time), Message(role="user", text=second, time=time + 60_000_000)],
        Conversation(source="claude:1", host="claude", id="1", fields={"project": "/work/shop"}),
    )
    with open_engine(str(tmp_path / "w.db"), embedder="none") as engine:
        engine.add([both] if together else [talk("1", 1, first), talk("2", 2, second)])
        older, newer = sorted(engine.memory.list(), key=lambda fact: fact.valid_from)
        assert older.valid_to == newer.valid_from and newer.valid_to is None
        assert older.predicate == newer.predicate and older.value != newer.value


def test_a_rule_against_one_thing_ends_the_rule_for_it(tmp_path):
    """`use npm instead of pnpm` ends `always use pnpm`; another project keeps its own rule."""
    with open_engine(str(tmp_path / "w.db"), embedder="none") as engine:
        engine.add([talk("1", 1, "Always use pnpm."), talk("7", 7, "From now on use npm instead of pnpm.")])
        engine.add([talk("8", 8, "Never use npm.", project="/b")])
        now = {(f.subject_name, f.predicate, f.value) for f in engine.memory.list() if f.valid_to is None}
        assert now == {
            ("project /work/shop", "rule_use_pnpm", "never"),
            ("project /work/shop", "rule_use_npm", "always"),
            ("project /b", "rule_use_npm", "never"),
        }


@pytest.mark.parametrize(
    "unit", ["Always use ", "No, the ", "I prefer x over ", "从现在开始都", "Use a instead of ", "the a "]
)
def test_reading_is_linear(unit):
    """Text of strangers reaches only patterns that need linear time."""
    begin = time.process_time()
    read_rules(unit * 20_000, before=unit * 20_000)
    assert time.process_time() - begin < 5
