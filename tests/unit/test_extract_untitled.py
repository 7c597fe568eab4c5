"""Topic of a text without a title, from its first sentence."""

import pytest
from extracting import extract

from weft.extract.definitions import find_defined_name
from weft.extract.sentences import Sentence, read_sentences


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Harbour Lights is a 1937 comedy film about a port.", "Harbour Lights", "film"),
        ("“Distant Shore” (1976) is a song of the sea.", "Distant Shore", "song"),
        ("Winter Tide: The Last Boat is a documentary.", "Winter Tide: The Last Boat", "documentary"),
        ("42 Steps is a ballet in two acts.", "42 Steps", "ballet"),
        ("Quiet Water, also called Still Water, is a lake in the north.", "Quiet Water", "lake"),
        ("It is a film.", "", ""),
        ("There was a storm on the coast.", "", ""),
        ("the gateway is a service", "", ""),
        ("What everybody who has ever worked on a release here knows is a rule.", "", ""),
        ("", "", ""),
    ],
)
def test_what_stands_before_is_a(text, name, kind):
    """Without quotes, brackets and asides; pronouns, small letters and whole clauses are no names."""
    sentence = next(iter(read_sentences(text, form="text")), Sentence(text, "prose"))

    assert find_defined_name(sentence) == (name, kind)


def test_an_untitled_text_is_about_what_it_defines():
    """The name has a home, as a title would give it."""
    extraction = extract("Life Begins in May is a comedy film. It was shot in Oslo.", title="")

    (topic,) = [item for item in extraction.candidates if item.about]
    assert (topic.key, topic.kind, topic.type) == ("life begins in may", "definition", "film")


def test_an_untitled_text_that_defines_nothing_is_about_nothing():
    """No home is better than a wrong one."""
    extraction = extract("We met in Oslo and talked about boats.", title="")

    assert not [item for item in extraction.candidates if item.about]
