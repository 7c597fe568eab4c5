"""`C`, `C++` and `C#` from indexing to the answer."""

from datetime import datetime, timezone

import pytest
from extracting import extract, find, names, stated_relations
from making import adopt, fill

from weft.config import Settings
from weft.engine.engine import Engine
from weft.extract.phrases import find_names, is_usable
from weft.extract.sentences import Sentence, read_sentences
from weft.facts.validation import is_echo
from weft.records import Document, Fact, Filter
from weft.search.chunks import Chunks
from weft.search.question.rare_names import find_candidates, find_rare_names
from weft.search.question.read import read_question
from weft.text.links import link_target

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


@pytest.fixture
def engine(database, embedder):
    return Engine(Settings(), database=database, embedder=embedder)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("C++ was made by Bjarne Stroustrup.", ["C++", "Bjarne Stroustrup"]),
        ("We write it in C# and Visual C++ here.", ["C#", "Visual C++"]),
        ("It runs on Disney+ and Apple TV+.", ["Disney+", "Apple TV+"]),
        ("She got an A+ there.", []),
        ("It needs Borealis 38+ now.", ["Borealis 38"]),
        ("用C++语言写成", ["C++"]),
    ],
)
def test_a_phrase_keeps_its_sign(text, expected):
    """A single letter with a plus in running text is mostly a grade."""
    assert [name.text for name in find_names(Sentence(text))] == expected


@pytest.mark.parametrize("name, usable", [("C++", True), ("C#", True), ("C", False), ("v2+", False), ("10+", False)])
def test_a_letter_with_a_sign_is_a_name(name, usable):
    """A letter alone is none, nor is a version or a number."""
    assert is_usable(name) is usable


def test_a_document_is_about_its_title_with_the_sign():
    """A text about Disney may begin with Disney+, which is something else."""
    text = "Disney+ is a service. Disney owns it."
    assert find(extract(text, title="Disney+"), "disney+", "title").type == "service"
    assert find(extract(text, title="Disney"), "disney", "title").type == ""
    assert names(extract("All is new. C++ is a language.", title="Tools"), "definition") == ["C++"]


def test_links_and_headings_keep_the_sign():
    """Only separate marks close a heading, and only an anchor follows a `#`."""
    links = {"C#": "C#", "C#|it": "C#", "C#\\|it": "C#", "C++#Types": "C++", "#here": ""}
    assert {inner: link_target(inner) for inner in links} == links
    found = read_sentences("# C#\n\n## Types ##\n\n### C++ ###", form="markdown")
    assert [sentence.text.strip() for sentence in found] == ["C#", "Types", "C++"]
    assert ("store", "links_to", "c#") in stated_relations(extract("See [[C#]].", title="Store"))


def test_what_is_said_of_one_is_no_echo_of_another():
    """Somebody who likes C++ may like C too."""
    known, other, same = (
        Fact(id="1", subject="user", subject_name="user", predicate="likes", value=value, created=NOW)
        for value in ("C++", "C", "c++.")
    )
    assert not is_echo(other, known)
    assert is_echo(same, known)


def test_each_has_its_entity_and_its_mentions(engine):
    """Names that came later are found in older texts, and nowhere else."""
    engine.add([Document(source="old", title="Old notes", text="One tool is written in C++11, one in C#.")])
    engine.add([Document(source=f"{name}.md", title=name, text=f"{name} is a language.") for name in ("C++", "C#")])
    engine.add([Document(source="disney.md", title="Disney", text="Disney made films and owns Disney+.")])
    engine.add([Document(source="plus.md", title="Disney+", text="Disney+ is a service.")])
    shown = {name: engine.entities.show(name) for name in ("C++", "C#", "Disney", "Disney+")}

    assert {name: view.entity.name for name, view in shown.items()} == {name: name for name in shown}
    assert {name: view.entity.chunks for name, view in shown.items()} == {"C++": 2, "C#": 2, "Disney": 1, "Disney+": 2}


def test_a_question_names_one_of_them(engine):
    """The facts of the others are not recalled by name."""
    for name in ("C", "C++", "C#"):
        engine.memory.add(name, "first_released", {"C": "1972", "C++": "1985", "C#": "2000"}[name])

    for question, name in [("When was C++ made?", "C++"), ("since when is there C#?", "C#"), ("And C, when?", "C")]:
        found = engine.memory.recall(question)
        assert [anchor.entity.name for anchor in found.anchors if anchor.how == "named"] == [name]
    assert [fact.value for fact in engine.memory.list("C#")] == ["2000"]


def test_a_name_that_is_spelled_is_held_with_its_sign(database, embedder):
    """`C++` does not stand in a text about C."""
    store = adopt(database.store("default"), embedder)
    fill(store, embedder, plain="The tool is in C and small.", plus="The other tool is in C++.", sharp="Or in C#.")
    for question, expected in [("What is in C++?", "plus"), ("What is in C#?", "sharp")]:
        found = find_rare_names(
            find_candidates(read_question(question), store=store, where=Filter()), chunks=Chunks(store)
        )
        assert [store.documents([chunk.document_id])[0].title for chunk in store.chunks(list(found))] == [expected]
