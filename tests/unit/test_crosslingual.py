"""A question in another language than the text."""

from dataclasses import replace

import pytest
from making import adopt, ask, fill, sources

from weft.search.channels import search_channels
from weft.search.confidence import keep_meaningful
from weft.search.draft import Draft
from weft.search.question.choose_method import Plan
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.search_context import SearchContext
from weft.search.writing_systems import embedder_weight
from weft.testing import FakeEmbedder

TEXTS = {
    "redis": "Sessions were moved out of Redis because failover lost them.",
    "postgres": "Payments are kept in Postgres with a replica in Frankfurt since 2019.",
    "gateway": "The gateway retries a request three times before it gives up.",
    "orders": "Orders of 2021 are archived, those of the year before are not.",
}
TRANSLATED = {
    "2021年为什么会话不再保存在那里？": "sessions stay",
    "Redis会话": "sessions moved out of Redis",
    "支付数据存放在哪里？": "payments kept in postgres",
}


class Bilingual(FakeEmbedder):
    """Knows a few Chinese questions by their English words."""

    def embed(self, texts, *, kind="document"):
        return super().embed([TRANSLATED.get(text, text) for text in texts], kind=kind)


@pytest.fixture
def bilingual():
    return Bilingual(scripts=frozenset({"latin", "han"}))


@pytest.fixture
def store(database, bilingual):
    store = adopt(database.store("default"), bilingual)
    fill(store, bilingual, **TEXTS)
    return store


def looked_at(store, embedder, text):
    """Return the channels that the confidence of an answer is judged by."""
    query = embed_question(read_question(text), embedder=embedder, wants_vector=True, wants_keyword=True)
    search, plan = SearchContext(store=store, embedder=embedder), Plan(method="hybrid")
    draft = Draft(query=query, plan=plan, complete=search_channels(query, plan.channels, search))
    return set(keep_meaningful(draft, search).complete)


@pytest.mark.parametrize("method", ["vector", "hybrid", "mix", "auto"])
def test_a_shared_year_does_not_outweigh_the_meaning(store, bilingual, method):
    """`2021` is all that the question has in common with any text, and stands in the wrong one."""
    result = ask(
        store,
        bilingual,
        "2021年为什么会话不再保存在那里？",
        method=method,
        vector_weight=0.5,
        text_weight=0.5,
        gate=False,
    )

    assert sources(result)[0] == "redis"


def test_missing_words_say_nothing_in_another_script(store, bilingual):
    """In the same script, missing words lower the confidence."""
    assert looked_at(store, bilingual, "支付数据存放在哪里？") == {"vector"}
    assert looked_at(store, bilingual, "where did the cat sleep tonight") == {"vector", "keyword"}
    assert looked_at(store, bilingual, "2021") == {"vector", "keyword"}


def test_missing_words_count_where_the_embedder_cannot_read_the_text(database):
    """An English question whose closest text is Chinese, by a model that knows no Chinese, has no other evidence."""
    for scripts, expected in ((frozenset({"latin"}), {"vector", "keyword"}), (frozenset({"latin", "han"}), {"vector"})):
        embedder = FakeEmbedder(name=f"fake/{len(scripts)}", scripts=scripts)
        store = adopt(database.store(embedder.card.name), embedder)
        fill(store, embedder, 密钥="密钥存放在环境变量里，每月轮换一次。")
        assert looked_at(store, embedder, "where did the cat sleep") == expected


def test_cosines_in_a_weak_script_say_nothing(database):
    """They still order the chunks."""
    embedder = FakeEmbedder(scripts=frozenset({"latin", "han"}), weak_scripts=frozenset({"latin"}))
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, **TEXTS, 密钥="密钥存放在环境变量里，每月轮换一次。")

    assert looked_at(store, embedder, "where did the cat sleep tonight") == {"keyword"}
    assert looked_at(store, embedder, "密钥存放在哪里") == {"vector", "keyword"}
    assert "vector" in ask(store, embedder, "sessions moved out of Redis").evidence[0].channels


def test_words_that_do_match_count_in_any_script(store, bilingual):
    """A name written alike in both languages is evidence."""
    assert looked_at(store, bilingual, "Redis会话") == {"vector", "keyword"}


def test_the_card_says_how_much_a_model_counts(bilingual):
    """Its weight takes the place of 1; a script it does not know still has weight 0."""
    card = replace(bilingual.card, weight=0.7)

    assert embedder_weight({"latin": 1.0}, card=card) == (0.7, "")
    assert embedder_weight({"han": 1.0}, card=replace(card, scripts=frozenset({"*"}))) == (0.7, "")
    assert embedder_weight({"cyrillic": 1.0}, card=card)[0] == 0.0
