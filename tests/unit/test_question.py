"""Reading of a question: every part once, from the text with single spaces."""

from dataclasses import replace

import pytest

from weft.search.question.read import MAX_TERMS, read_question


def test_a_question_has_its_parts():
    """Words, terms, scripts, features, relation types and ids come from one text."""
    question = read_question("  Who wrote\n INC-2041 about “Clay Oven”? ")

    assert question.text == "Who wrote INC-2041 about “Clay Oven”?"
    assert [word.text for word in question.words] == ["who", "wrote", "inc", "2041", "about", "clay", "oven"]
    assert "who" in question.terms
    assert question.content_terms == ("wrote", "inc-2041", "inc", "2041", "clay", "oven")
    assert question.scripts == {"latin": 1.0}
    assert question.features.ids == ("INC-2041",)
    assert question.features.quoted == ("Clay Oven",)
    assert question.relation_types >= {"written_by"}
    assert dict(question.exact_keys) == {"clay oven": 2}
    assert [id.spellings for id in question.numbered_ids] == [("INC-2041", "INC2041")]
    assert question.citations == ()


def test_each_part_is_parsed_at_most_once():
    """A part is parsed on first use."""
    plain, calls = read_question("who cites MAGMA"), []

    def citations(question):
        calls.append(question.text)
        return plain.citations

    question = replace(plain, parsers=replace(plain.parsers, citations=citations))

    assert calls == []
    assert question.citations == question.citations == plain.citations
    assert question.features.citation == "citing"
    assert calls == ["who cites MAGMA"]


@pytest.mark.parametrize(("text", "expected"), [("who is WHO", {"who"}), ("WHO IS WHO", set()), ("who", set())])
def test_content_words_are_not_question_words(text, expected):
    """Capitals make a name of one, unless the whole question is in capitals."""
    assert {word.text for word in read_question(text).content_words} == expected


def test_content_terms_are_those_that_are_looked_up():
    """A pasted book is cut."""
    question = read_question(" ".join(f"word{number}" for number in range(1000)))

    assert len(question.terms) > MAX_TERMS
    assert set(question.content_terms) <= set(question.terms[:MAX_TERMS])


@pytest.mark.parametrize("text", ["", "   ", "???", "\x00", "\ud800"])
def test_a_text_without_words_is_a_question_without_parts(text):
    """No error is raised."""
    question = read_question(text)

    assert (question.words, question.terms, question.names, question.subject_words) == ((), (), (), ())
    assert (question.citations, question.relation_types) == ((), frozenset())
