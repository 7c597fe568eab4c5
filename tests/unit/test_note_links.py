"""Link syntax, and wikilinks that lead to notes by file, folder or title."""

import pytest
from extracting import aliases, extract, stated_relations

from weft.config import Settings, StoreOptions
from weft.engine.engine import Engine
from weft.records import Document
from weft.text.links import (
    link_label,
    link_page,
    link_target,
    note_name,
    read_link_list,
    replace_links,
)


@pytest.mark.parametrize(
    ("inner", "target"),
    [
        ("people/Ada Byron", "Ada Byron"),
        ("Work/people/Ada Byron.md#Letters|Ada", "Ada Byron"),
        ("项目/日志", "日志"),
        ("TCP/IP", "TCP/IP"),
        ("A/B test", "A/B test"),
        ("9/11", "9/11"),
        ("/home", "/home"),
        ("people/", "people/"),
        ("https://example.org/page", "https://example.org/page"),
    ],
)
def test_a_link_names_a_note_without_its_folder(inner, target):
    """Folders are where a note lies, not what it is called; some names have a slash."""
    assert link_target(inner) == target


@pytest.mark.parametrize(
    ("inner", "page", "label"),
    [
        ("Auth Service", "Auth Service", "Auth Service"),
        ("Auth Service#Limits", "Auth Service", "Auth Service"),
        ("people/Ada Byron.md|Ada", "people/Ada Byron.md", "Ada"),
        ("Auth Service\\|auth", "Auth Service", "auth"),
        ("C#", "C#", "C#"),
    ],
)
def test_a_wikilink_has_a_page_and_a_label(inner, page, label):
    """The page keeps its folder; a bar in a table is escaped."""
    assert (link_page(inner), link_label(inner)) == (page, label)


def test_links_are_found_in_lines_lists_and_values():
    """A list of links contains nothing else."""
    assert read_link_list("[[people/Ada]], [[C#]]") == ["Ada", "C#"]
    assert read_link_list("see [[B]]") == []
    assert replace_links("the [guide](g.md) of [[B]]") == "the guide of [[B]]"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("vault/daily/Tide clock.md", "Tide clock"),
        ("C:\\notes\\Tide clock.MD", "Tide clock"),
        ("upload:Tide clock.markdown", "Tide clock"),
        ("notes.txt", ""),
        ("chat.jsonl#m1", ""),
    ],
)
def test_a_note_is_called_by_its_file(source, name):
    """Only Markdown has wikilinks."""
    assert note_name(source) == name


def test_links_in_fields_lose_their_folder_too():
    """Fields and text then refer to the same entity."""
    found = extract("See [[people/Ada Byron]].", title="Engine", metadata={"owner": "[[people/Ada Byron]]"})
    assert ("engine", "links_to", "ada byron") in stated_relations(found)
    assert ("engine", "owned_by", "ada byron") in stated_relations(found)


def test_a_title_with_a_folder_is_linked_without_it():
    """The link `[[Input/Output Controller]]` is read as `Output Controller`."""
    assert ("Output Controller", "input output controller") in aliases(
        extract("Text.", title="Input/Output Controller")
    )


def _name(engine, key):
    found = engine.store.graph.find_entities([key])
    return found[key].name if key in found else None


def test_a_link_by_file_name_leads_to_the_note(database, embedder):
    """Its title may be another one, and begin with the same word; links make it a name."""
    engine = Engine(Settings(store=StoreOptions(db=":memory:")), database=database, embedder=embedder)
    notes = [
        Document(source="n/2024 tide.md", title="Gezeitenuhr", text="A clock in the hall.", form="markdown"),
        Document(source="n/Joris.md", title="Joris Brandsma", text="He lives in Leer.", form="markdown"),
    ]
    engine.add(notes)
    assert _name(engine, "2024 tide") is _name(engine, "joris") is None
    link = Document(source="n/a.md", title="Logger", text="It uses [[2024 tide]] of [[n/Joris]].", form="markdown")
    engine.add([link])
    assert _name(engine, "2024 tide") == "Gezeitenuhr"
    assert _name(engine, "joris") == "Joris Brandsma"
    engine.add([Document(source="o", title="Joris Karl Huysmans", text="A novelist.")])
    assert _name(engine, "joris") == "Joris"
    engine.delete("o")
    assert _name(engine, "joris") == "Joris Brandsma"
    engine.delete("n/a.md")
    assert _name(engine, "2024 tide") is _name(engine, "joris") is None
