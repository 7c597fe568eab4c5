"""Weak candidates, which need a second document."""

import pytest
from extracting import extract, names, stated_relations

from weft.extract.names import name_key
from weft.records import STRONG_KINDS


@pytest.mark.parametrize(
    "text, expected",
    [
        ("He met Bill Monroe and the Blue Ridge Boys.", ["Bill Monroe", "Blue Ridge Boys"]),
        ("She studied at the University of Buenos Aires.", ["University of Buenos Aires"]),
        ("It was written by J. F. Lawton and Corrie ten Boom.", ["J. F. Lawton", "Corrie ten Boom"]),
        ("We moved from Redis to SMS.", ["Redis", "SMS"]),
        ("The Session Store Failover ran in Rome.", ["Rome"]),
        ("NASA paid.", ["NASA"]),
        ("He saw Hans Poley's World War II diary.", ["Hans Poley", "World War II"]),
        ("His father was Hugh IV, Duke of Burgundy, and rich.", ["Hugh IV, Duke of Burgundy", "Hugh IV"]),
        ("He is Director of the United States Secret Service.", [
            "Director of the United States Secret Service", "United States Secret Service"]),
        ("They met Cuban President Fulgencio Batista.", ["Cuban President Fulgencio Batista", "Fulgencio Batista"]),
        ("A film by Louis-Alexandre de Cessart.", ["Louis-Alexandre de Cessart"]),
    ],
)  # fmt: skip
def test_capitalised_runs_are_phrases(text, expected):
    """With the small words inside them, without the words around them."""
    assert names(extract(text, title="Session Store Failover"), "phrase") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Seats are held.",
        "However, nothing changed.",
        "In March it rained, and in May.",
        "On Saturday I left.",
        "We are an American and Italian team.",
        "Owner: nobody.",
        "THE SEAT MAP CRASH WAS LOUD.",
        "Step 3 failed.",
        "08:02 Publish job failed.",
        "Then I said so.",
    ],
)
def test_words_with_a_capital_for_other_reasons_are_no_phrases(text):
    """Starts of sentences, months, days, `I`, adjectives, shouting."""
    assert names(extract(text, title="Notes"), "phrase") == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("It returned ERR_CONN_RESET during INC-2041.", ["ERR_CONN_RESET", "INC-2041"]),
        ("We use gpt-4o and set session.ttl_seconds here.", ["gpt-4o", "session.ttl_seconds"]),
        ("Call getUserName with lw_sid from deploy-log.jsonl.", ["getUserName", "lw_sid", "deploy-log.jsonl"]),
        ("Set `limiter.burst = 40` and `Retry-After`.", ["limiter.burst", "Retry-After"]),
        ("重跑gen-itgc后检查。", ["gen-itgc"]),
        ("Since v4.1.2 it runs at 20 % in the mid-1980s, tier-1.", []),
        ("Run `rm -rf /tmp/x` or `--strict` or `a`.", []),
    ],
)
def test_identifiers_are_found(text, expected):
    """Ids and names from code, but no versions, commands or flags."""
    assert names(extract(text, title="Notes"), "identifier") == expected


def test_quoted_texts_are_proposed_weakly():
    """English and Chinese quotation marks, up to eight words; what stands in book-title marks is a name at once."""
    text = 'Play “Blue Velvet”, "Night Train", 「相声」, 『新春』 and 《红楼梦》. '
    text += '"one two three four five six seven eight nine"'
    expected = ["Blue Velvet", "Night Train", "相声", "新春"]
    assert names(extract(text, title="Notes"), "quoted") == expected
    assert names(extract(text, title="Notes"), "name") == ["红楼梦"]


def test_headings_are_weak_and_about_the_chunk():
    """Headings of joined sections are included; `Why` is proposed, `Context` is not."""
    extraction = extract("## Sharp edges\n\nText.\n\n## Context\n\nText.", heading=("Why", "会话续期"))
    assert names(extraction, "heading") == ["Why", "会话续期", "Sharp edges"]
    assert names(extraction, "term") == []
    assert all(n.about for n in extraction.candidates if n.kind in ("heading", "term"))
    assert not {"heading", "term", "quoted", "phrase", "identifier"} & STRONG_KINDS


@pytest.mark.parametrize(
    "heading, name",
    [("def retry_key", "retry_key"), ("class Ledger", "Ledger"), ("CREATE TABLE orders", "orders"),
     ("pub async fn poll", "poll"), ("export default function App", "App")],
)  # fmt: skip
def test_definitions_in_code_are_identifiers(heading, name):
    """They are part of their file."""
    extraction = extract("pass", title="pay.py", form="code", heading=(heading,))
    assert names(extraction, "identifier") == [name]
    assert stated_relations(extraction) == [(name_key(name), "part_of", "pay py")]


def test_of_code_only_the_comments_are_read():
    """Names in strings and expressions are not about the world."""
    text = '"""Keys for the Payment Gateway."""\nx = Foo.Bar("Some Name")  # ignored\n# See INC-2077.\n'
    extraction = extract(text, title="pay.py", form="code")
    assert names(extraction, "phrase", "identifier", "quoted") == ["Payment Gateway", "INC-2077"]
