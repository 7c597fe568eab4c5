"""Variants of names of persons and places."""

import pytest

from weft.config import Settings, StoreOptions
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.extract.name_variants import is_person, name_variants, place_head
from weft.records import Document
from weft.testing import FakeEmbedder


def test_a_full_name_has_initials_a_short_form_and_a_surname():
    """Each with the reason it is another name."""
    text = "Johann Sebastian Bach was a composer. In Leipzig Bach wrote cantatas."

    assert name_variants("Johann Sebastian Bach", text=text) == [
        ("J. S. Bach", "initials of a full name"),
        ("Johann S. Bach", "initials of a full name"),
        ("J. Bach", "initials of a full name"),
        ("Johann Bach", "a full name without its middle"),
        ("Bach", "surname behind a full name"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada Lovelace wrote notes. Ada Lovelace lived in London.", False),
        ("Ada Lovelace wrote notes on the engine.", False),
        ("Ada Lovelace wrote notes. Lovelace lived in London.", True),
        ("Notes by Lovelace on the engine.", True),
    ],
)
def test_a_surname_counts_only_where_it_is_used_alone(text, expected):
    """`Lovelace` inside `Ada Lovelace` says nothing."""
    found = [variant for variant, _ in name_variants("Ada Lovelace", text=text)]

    assert ("Lovelace" in found) == expected


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("Mervyn Johns", "Johns"),
        ("Tiger Woods", "Woods"),
        ("Anthony Roberts", "A. Roberts"),
    ],
)
def test_what_would_be_another_name_as_a_key_is_left_out(name, left_out):
    """Keys have no article and are in the singular: any John would be Mervyn Johns."""
    found = [variant for variant, _ in name_variants(name, text=f"{name} came. {name.split()[1]} went.")]

    assert left_out not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Aretha Franklin sang.", False), ("Aretha Franklin sang. Franklin toured.", True), ("", True)],
)
def test_initials_that_come_to_the_surname_count_where_it_does(text, expected):
    """The letter `A` is an article in a key; authors are listed by their initials."""
    assert ("A. Franklin" in dict(name_variants("Aretha Franklin", text=text))) == expected


@pytest.mark.parametrize(
    "name", ["", "Plato", "ISO 9001", "the quiet harbour", "A B C D E F", "Auth-Service v2", "Henry Ford II"]
)
def test_what_is_not_a_full_name_has_no_variants(name):
    """One word, digits, lower case or too many words give none; Henry II is another person."""
    assert name_variants(name, text=name) == []


@pytest.mark.parametrize(
    ("type", "expected"),
    [("poet", True), ("footballer", True), ("historian", True), ("server", False), ("river", False), ("", False)],
)
def test_types_of_persons(type, expected):
    """Machines end in `er` too."""
    assert is_person(type) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Rochester, New York", "Rochester is a city in Monroe County.", "Rochester"),
        ("Black Hawk Township, Jefferson County, Iowa", "Black Hawk Township is a township.", "Black Hawk Township"),
        ("Rochester, New York", "Rochester, New York is a city.", ""),
        ("Earth, Wind & Fire", "Earth, Wind & Fire is an American band.", ""),
        ("Hello, Dolly!", "Hellooo is how it begins.", ""),
        ("Alexander and the Terrible, horrible day", "Alexander and the Terrible is a book.", ""),
        ("Lima, Ohio", "Lima", "Lima"),
        ("Berlin", "Berlin is a city.", ""),
        ("Ob, Russia", "Ob is a town.", ""),
    ],
)
def test_a_place_is_called_without_what_it_lies_in(name, text, expected):
    """Its own text must use the short name; a comma in a title may have other reasons."""
    assert place_head(name, text=text) == expected


def test_a_place_is_found_by_its_short_name(tmp_path):
    """The question says `Rochester`, and only one document is about a place of that name."""
    documents = [
        Document(source="r", title="Rochester, New York", text="Rochester is a city on the Genesee River."),
        Document(source="l", title="Lima, Ohio", text="Lima is a city in the north-west of the state."),
        Document(source="p", title="Lima, Peru", text="Lima is the capital, on the coast."),
    ]
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(documents)
        shown = {name: engine.entities.get(name) for name in ("Rochester", "Lima, Ohio", "Lima")}

    assert shown["Rochester"].name == "Rochester, New York"
    assert "place name without its region" in shown["Rochester"].reasons
    assert shown["Lima, Ohio"].name == "Lima, Ohio"
    assert shown["Lima"].name == "Lima"


def test_variants_join_only_what_is_clear(tmp_path):
    """Initials lead to the one person they can stand for, say why, and can be taken back; two persons stay apart."""
    documents = [
        Document(source="bach", title="Johann Sebastian Bach", text="Johann Sebastian Bach was a German composer."),
        Document(source="a", title="Organ works", text="The preludes of J. S. Bach are in the hall."),
        Document(source="b", title="Cantatas", text="The cantatas of J. S. Bach are sung on Sunday."),
    ]
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(documents)

        found = engine.store.graph.find_entities(["j s bach"])["j s bach"]
        assert found.name == "Johann Sebastian Bach"
        assert dict(zip(found.aliases, found.reasons, strict=True)) == {"J. S. Bach": "initials of a full name"}
        assert engine.entities.unmerge("J. S. Bach").name == "J. S. Bach"

        second = "Johannes Samuel Bach was a painter."
        engine.entities.merge("J. S. Bach", "Johann Sebastian Bach")
        engine.store.graph.write_edit("merge", "j s bach", "johann sebastian bach", undo=True)
        engine.store.graph.write_edit("unmerge", "j s bach", "johann sebastian bach", undo=True)
        assert engine.store.graph.find_entities(["j s bach"])["j s bach"].name == "Johann Sebastian Bach"
        engine.add([Document(source="other", title="Johannes Samuel Bach", text=second)])
        assert engine.store.graph.find_entities(["j s bach"])["j s bach"].name == "J. S. Bach"


def test_a_surname_that_others_are_called_by_first_is_nobodys(database, embedder):
    """It is the painter's as long as no other page begins so, whatever came first."""
    engine = Engine(Settings(store=StoreOptions(db=":memory:")), database=database, embedder=embedder)
    painter = Document(source="p", title="Jon Alexander", text="Jon Alexander was a painter. Alexander lived in Rome.")
    others = [
        Document(source=name, title=f"Notes {name}", text=f"In spring Alexander wrote to the harbour of {name}.")
        for name in ("Kiel", "Cork")
    ]
    king = Document(source="k", title="Alexander Balas", text="Alexander Balas was a king.")

    def owner():
        return engine.store.graph.find_entities(["alexander"])["alexander"].name

    engine.add([painter, *others])
    assert owner() == "Jon Alexander"
    engine.add([king])
    assert owner() == "Alexander"
    engine.delete("k")
    assert owner() == "Jon Alexander"
