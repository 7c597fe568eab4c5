"""Text that gives no names: parameters, labels, code, comments, other scripts."""

import pytest
from extracting import extract, find, make_chunk, names

from weft.extract.definitions import guess_type
from weft.extract.rules import RuleExtractor
from weft.records import Document


@pytest.mark.parametrize(
    ("rest", "type"),
    [
        ("simple, yet elegant, HTTP library.", "library"),
        ("modern, fast (high-performance), web framework for building APIs", "framework"),
        ("open-source, cross-platform runtime for scripts", "runtime"),
        ("lightweight and powerful parser", "parser"),
        ("painter, sculptor and architect", "painter"),
        ("data serialization format designed for people", "format"),
        ("string specified.", "string"),
        ("only exception the author is aware of.", ""),
        ("store the team uses.", "store"),
        ("popular cloud storage option for Windows", ""),
        ("an extremely important part of any project.", ""),
        ("wounded soldier of the king", "soldier"),
        ("riverbed of sand", "riverbed"),
        ("flag if --limit-of-the-heap is given", "flag"),
        ("asyncId of the resource", ""),
        ("fast, small and free", ""),
        ("good place to keep settings", ""),
        ("place in the north of the county", "place"),
    ],
)
def test_a_type_is_a_noun(rest, type):
    """Adjectives before commas, participles behind the noun and names from code are none."""
    assert guess_type(rest) == type


def test_a_parameter_is_no_thing_of_its_own():
    """Otherwise every `Name:` would be a mention. A name of a tool in code may be an entity."""
    found = extract("`name` is the name of the format. `ripgrep` is a search tool.", title="Archives")
    assert names(found, "definition") == ["ripgrep"]


def test_code_that_begins_like_an_article_is_no_name():
    """The key of `a_type` would be `type`."""
    assert names(extract("Take `a_type` and `the_silver_searcher`."), "identifier") == ["the_silver_searcher"]


def test_the_first_word_of_an_explanation_is_no_name():
    """Behind code and a dash a sentence begins; two capitalised words are still a name."""
    found = extract("- `reply.code()` - Sets the status.\n- `reply.send()` – Fast Sender writes it to Redis.")
    assert names(found, "phrase") == ["Fast Sender", "Redis"]


def test_what_stands_between_two_quoted_texts_is_not_quoted():
    """Code has quotes that open nothing."""
    assert names(extract('A screen of 5", "Alpha Beta", is it.'), "quoted") == []
    assert names(extract('It asks for ".netrc" and "@team" first.'), "quoted") == [".netrc", "@team"]


def test_a_label_again_and_again_makes_no_glossary():
    """A glossary says once what a term means; bold labels elsewhere define nothing."""
    entries = [
        "**Default:** one",
        "**Hold:** a seat kept",
        "**Default:** two",
        "**Sale:** all of it",
        "**Fee:** a part",
    ]
    text = "\n".join(f"- {entry} of them." for entry in entries)
    assert names(extract(text, title="Glossary"), "definition") == ["Hold", "Sale", "Fee"]
    assert names(extract(text, title="Decision"), "definition") == []


def test_comments_of_markdown_name_nothing():
    """They are for tools: `[[[end]]]`."""
    found = extract("Before <!-- [[[end]]] and\n[[Hidden]] --> see [[Shown]].")
    assert names(found, "link") == ["Shown"]


def test_a_sentence_that_sets_itself_apart_names_what_it_differs_from():
    """`Unlike` is no part of the name."""
    assert "Kestrel Works" in names(extract("Unlike Kestrel Works, it floats."), "phrase")


def test_the_type_shows_in_the_graph():
    """From the sentence to the entity."""
    found = extract("Parcel is a simple, yet elegant, HTTP library.", title="Parcel")
    assert find(found, "parcel", "title").type == "library"


@pytest.mark.parametrize(
    ("id", "expected"), [("m17", []), ("5f3c9a", []), ("dep-0611", ["dep-0611"]), ("Ada", ["Ada"])]
)
def test_a_record_called_by_its_id_is_no_thing_of_that_name(id, expected):
    """A chat of ten thousand messages would be as many; an id that reads like a name is one."""
    document = Document(source=f"chat.jsonl#{id}", title=id, text="See you at noon.")
    (found,) = RuleExtractor().extract(document, [make_chunk(document.text)])
    assert names(found, "title") == expected


def test_the_mark_of_a_box_is_not_what_it_says():
    """Obsidian and GitHub write it so; the first sentence describes the note."""
    found = extract("> [!info]- In short\n> Heron logs what the panels give.", title="Heron")
    assert find(found, "heron", "title").description == "Heron logs what the panels give."
