"""Random documents divided over namespaces, and the same documents in one namespace."""

from datetime import datetime, timezone

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.records import Document
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
SHARED = {"Blue Kiln": "an oven", "Harbour Crane": "a machine", "Copper Valve": "a fitting"}
"""Names that every namespace defines, each in its own words."""
OWN = (
    ("Amber Quay", "Salt Gate", "North Mole"),
    ("Birch Lodge", "Fern Hut", "Moss Barn"),
    ("Cobalt Mine", "Tin Shaft", "Zinc Pit"),
    ("Dune Camp", "Sand Fort", "Palm Well"),
)
"""Names of pages of each namespace; no other namespace mentions them."""
WORDS = "water steam brick mortar rope winter tide ledger wagon lantern cellar bridge meadow anvil".split()
CHINESE = (
    "蒸汽机车在冬天穿过山谷，司机记录水位。",
    "仓库的管理员每天检查账本和灯笼。",
    "桥梁由石头和砂浆建成，已经使用多年。",
    "潮水上涨时，工人们关闭铜阀门。",
)


def sentence(chance):
    return " ".join(["the", *chance.choices(WORDS, k=chance.randrange(4, 9))]) + "."


def make_page(chance, place, title):
    """Return a page of the namespace at a place: words, names, links to other pages of the namespace."""
    lines = [f"# {title}", ""]
    for _ in range(chance.randrange(1, 4)):
        parts = [sentence(chance)]
        if chance.random() < 0.5:
            parts.append(f"the {chance.choice(list(SHARED))} needs {chance.choice(WORDS)}.")
        if chance.random() < 0.5:
            parts.append(f"see [[{chance.choice(OWN[place])}]] for {chance.choice(WORDS)}.")
        if chance.random() < 0.3:
            parts.append(CHINESE[place])
        lines += [" ".join(parts), ""]
    return Document(source=f"{place}/{title}.md", title=title, text="\n".join(lines), form="markdown")


def make_namespace(chance, place):
    """Return the documents of a namespace: one that defines the shared names, and its pages."""
    text = "\n\n".join(f"[[{name}]] is {what} with {sentence(chance)}" for name, what in SHARED.items())
    glossary = Document(source=f"{place}/terms.md", title=OWN[place][0] + " terms", text=text, form="markdown")
    return [glossary, *(make_page(chance, place, title) for title in OWN[place] if chance.random() < 0.9)]


def make_corpus(chance, *, count=3):
    """Return the documents of each namespace. Some documents are in two of them."""
    found = [make_namespace(chance, place) for place in range(count)]
    common = Document(
        source="common/notice.md",
        title="Winter Notice",
        text=f"# Winter Notice\n\n{sentence(chance)} the Blue Kiln rests. {sentence(chance)}",
        form="markdown",
    )
    for documents in found:
        if chance.random() < 0.6:
            documents.append(common)
    return found


def open_on(database, namespace, **overrides):
    values = {name.replace("_", ".", 1): value for name, value in overrides.items()}
    settings = read_settings({"store.namespace": namespace, "graph.extractor": "rules", **values}, environment={})
    return Engine(settings, database=database, embedder=FakeEmbedder(), clock=lambda: NOW)


def fill(database, corpus, facts=()):
    """Write each part of the corpus into a namespace, and all parts into `whole`; return the names of the parts."""
    names = [f"part{place}" for place in range(len(corpus))]
    for name, documents in (*zip(names, corpus, strict=True), ("whole", [d for part in corpus for d in part])):
        engine = open_on(database, name)
        engine.add({document.source: document for document in documents}.values())
    for place, fact in facts:
        for name in (names[place], "whole"):
            open_on(database, name).memory.add(*fact[:2], object=fact[2], source="user_edit", confidence=0.9)
    return names


def make_facts(chance, count):
    """Return facts about names, each with the place of its namespace."""
    facts = []
    for _ in range(chance.randrange(0, 4)):
        place = chance.randrange(count)
        names = [*SHARED, *OWN[place]]
        subject, object = chance.sample(names, 2)
        facts.append((place, (subject, chance.choice(["feeds", "replaces"]), object)))
    return facts


def make_question(chance, count):
    every = [*SHARED, *(name for names in OWN[:count] for name in names)]
    kinds = [
        lambda: f"what is the {chance.choice(every)}",
        lambda: " ".join(chance.sample(WORDS, 3)),
        lambda: f"how does {chance.choice(every)} use {chance.choice(WORDS)}",
        lambda: f"{chance.choice(every)} and {chance.choice(every)}",
        lambda: CHINESE[chance.randrange(count)][: chance.randrange(4, 12)],
    ]
    return chance.choice(kinds)()
