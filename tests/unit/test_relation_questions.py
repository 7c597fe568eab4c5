"""Questions about relations, and the vocabulary that they share with documents."""

import pytest

from weft.extract.questions.relation_questions import read_relation
from weft.extract.relation_types import FIELDS, INVERSE, LEMMAS, SYMMETRIC_TYPES, WORDS, split_words

DERIVED = {"co_occurs_with"}


def types_asked(question, name):
    """Return the types of all readings that name `name`."""
    return {
        type for reading in read_relation(question) if name in [n for names in reading.names for n in names]
        for type in reading.types
    }  # fmt: skip


ENGLISH = [
    ("Which pages link to Auth Service?", "linked_from", "Auth Service"),
    ("What links to Auth Service?", "linked_from", "Auth Service"),
    ("backlinks of Auth Service", "linked_from", "Auth Service"),
    ("Who calls Command.invoke?", "called_by", "Command.invoke"),
    ("Which functions are calling Command.invoke?", "called_by", "Command.invoke"),
    ("Where is Command.invoke called?", "called_by", "Command.invoke"),
    ("What is `Command.invoke` called by?", "called_by", "Command.invoke"),
    ("list all callers of Command.invoke", "called_by", "Command.invoke"),
    ("What does click.core import?", "imports", "click.core"),
    ("modules that click.core imports", "imports", "click.core"),
    ("Who imports click.core?", "imported_by", "click.core"),
    ("Which modules directly import click.core?", "imported_by", "click.core"),
    ("Which tests cover the parser?", "tested_by", "parser"),
    ("tests for the parser", "tested_by", "parser"),
    ("What supersedes ADR-0012?", "superseded_by", "ADR-0012"),
    ("What replaces ADR-0012?", "superseded_by", "ADR-0012"),
    ("What was ADR-0012 replaced by?", "superseded_by", "ADR-0012"),
    ("What does ADR-0012 supersede?", "supersedes", "ADR-0012"),
    ("What requires Redis?", "depended_on_by", "Redis"),
    ("What depends on Redis?", "used_by", "Redis"),
    ("What are the dependencies of Redis?", "depends_on", "Redis"),
    ("Who owns Auth Service?", "owned_by", "Auth Service"),
    ("Who is responsible for Auth Service?", "owned_by", "Auth Service"),
    ("Who is Auth Service's owner?", "owned_by", "Auth Service"),
    ("Who wrote Heat?", "written_by", "Heat"),
    ("Who has written Heat?", "written_by", "Heat"),
    ("By whom was Heat written?", "written_by", "Heat"),
    ("What is Auth Service part of?", "part_of", "Auth Service"),
    ("Which services are part of the platform?", "has_part", "platform"),
    ("Where was Jane Roe born?", "born_in", "Jane Roe"),
    ("Which subclasses does ParamType have?", "inherited_by", "ParamType"),
    ("What extends class ParamType?", "inherited_by", "ParamType"),
    ("Where is ParamType defined?", "defined_in", "ParamType"),
    ("Which other services use Redis directly?", "used_by", "Redis"),
    ("哪些页面链接到登录服务？", "linked_from", "登录服务"),
    ("谁调用 Command.invoke", "called_by", "Command.invoke"),
    ("Command.invoke 被谁调用？", "called_by", "Command.invoke"),
    ("Command.invoke 在哪里被调用", "called_by", "Command.invoke"),
    ("click.core 导入了哪些模块？", "imports", "click.core"),
    ("登录服务依赖什么？", "depends_on", "登录服务"),
    ("哪些服务依赖会话存储？", "depended_on_by", "会话存储"),
    ("依赖会话存储的服务有哪些？", "depended_on_by", "会话存储"),
    ("登录服务由谁负责？", "owned_by", "登录服务"),
    ("誰負責登錄服務？", "owned_by", "登錄服務"),
    ("登录服务的负责人是谁？", "owned_by", "登录服务"),
    ("谁是《呐喊》的作者？", "written_by", "呐喊"),
    ("登录服务属于哪个系统？", "part_of", "登录服务"),
    ("哪些测试覆盖解析器", "tested_by", "解析器"),
    ("什么取代了旧网关？", "superseded_by", "旧网关"),
    ("ParamType 的子类有哪些？", "inherited_by", "ParamType"),
]


@pytest.mark.parametrize(("question", "type", "name"), ENGLISH)
def test_a_question_has_a_type_and_a_name(question, type, name):
    """The type is the one from the named thing."""
    assert type in types_asked(question, name)


@pytest.mark.parametrize(
    "question",
    [
        "How are Redis and Kafka connected?",
        "How is Redis related to Kafka?",
        "What connects Redis with Kafka?",
        "What is the relationship between Redis and Kafka?",
        "Redis 和 Kafka 有什么关系？",
        "Redis与Kafka是如何关联的？",
    ],
)
def test_a_question_names_two_things(question):
    """Their connection of any type is asked for."""
    (reading,) = [reading for reading in read_relation(question) if len(reading.names) == 2]
    assert (reading.types, [names[0] for names in reading.names]) == ((), ["Redis", "Kafka"])


@pytest.mark.parametrize(
    "question",
    [
        "What depends directly or indirectly on Redis?",
        "Which services transitively use Redis?",
        "哪些服务间接依赖Redis？",
    ],
)
def test_a_question_asks_for_chains(question):
    """Chains are followed only if the question asks for them."""
    readings = [reading for reading in read_relation(question) if any("Redis" in names for names in reading.names)]
    assert readings
    assert all(reading.indirect for reading in readings)
    assert not any(reading.indirect for reading in read_relation("What uses Redis?"))


@pytest.mark.parametrize(
    "question",
    [
        "how does the Auth Service call its backend?",
        "why do callers of the API time out after a day",
        "Redis evictions",
        "can I use Redis with TLS",
        "what happens if we change the OAuth provider?",
        "支付网关的超时设置",
        "如何调用支付网关",
        "",
        "?",
        "who " * 200 + "calls X",
    ],
)
def test_a_question_in_passing_has_no_reading(question):
    """A relation word alone makes no question about relations."""
    assert read_relation(question) == ()


# ── the vocabulary ──────────────────────────────────────────────────────────────────────────────


STATED = sorted(set(INVERSE) - DERIVED)


def english_forms(type):
    """Yield questions for the relations of `Zed` of this type, made of the words of the type and its inverse."""
    words, others = WORDS[type], WORDS[INVERSE[type]]
    for verb in split_words(words.verbs) + split_words(words.asked):
        base = verb.partition("/")[0]
        yield f"What is Zed {base.removeprefix('be ')}?" if base.startswith("be ") else f"What does Zed {base}?"
    for noun in split_words(words.nouns):
        yield f"What is the {noun.partition('/')[0]} of Zed?"
    for place in split_words(words.where):
        yield f"Where is Zed {place}?"
    for verb in split_words(others.verbs) + split_words(others.asked):
        base = verb.partition("/")[0]
        yield f"Which things {'are ' + base.removeprefix('be ') if base.startswith('be ') else base} Zed?"
    for noun in split_words(others.nouns):
        yield f"What is Zed the {noun.partition('/')[0]} of?"


def chinese_forms(type):
    """Yield Chinese questions for the relations of `甲乙` of this type."""
    words, others = WORDS[type], WORDS[INVERSE[type]]
    for verb in (*split_words(words.zh_verbs), *split_words(others.zh_done)):
        yield f"甲乙{verb}什么？"
    for verb in (*split_words(others.zh_verbs), *split_words(words.zh_done)):
        yield f"谁{verb}甲乙？"
    for noun in (*split_words(words.zh_nouns), *split_words(words.zh_role)):
        yield f"甲乙的{noun}是谁？"
    for noun in (*split_words(others.zh_nouns), *split_words(others.zh_role), *split_words(words.zh_of)):
        yield f"甲乙是谁的{noun}？"


@pytest.mark.parametrize("type", STATED)
def test_every_type_can_be_asked_for_in_both_languages(type):
    """Each word of the vocabulary makes a question that is read as its type."""
    english, chinese = list(english_forms(type)), list(chinese_forms(type))
    assert english
    assert chinese
    assert [question for question in english if type not in types_asked(question, "Zed")] == []
    assert [question for question in chinese if type not in types_asked(question, "甲乙")] == []


def test_documents_state_known_types():
    """Fields and verbs of parsers use types of the vocabulary."""
    assert set(FIELDS.values()) | set(LEMMAS.values()) <= set(INVERSE)
    assert {type for words in WORDS.values() for type in split_words(words.broad)} <= set(INVERSE)
    assert set(SYMMETRIC_TYPES) > DERIVED
