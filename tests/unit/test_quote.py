"""The quoted sentence of an answer."""

from __future__ import annotations

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.search.answer.quote import coverages

NOTES = {
    "vault.md": """# Vault

## Rotation

How often do keys rotate? The key rotation runs at 02:00 every night. It takes ten minutes.

Keys were moved out of files for two reasons:

- Copies. Every laptop had one.
- Age. Nobody knew how old a key was.

| key | age |
| --- | --- |
| signing key rotation | 3 |
""",
    "lunch.md": "# Lunch\n\nThe canteen opens at noon. Bring your own cup, because paper cups were abolished.\n",
    "钥匙.md": "# 钥匙\n\n签名钥匙每九十天更换一次。旧钥匙再保留一天。\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with open_engine(tmp_path_factory.mktemp("quotes") / "weft.db") as opened:
        for source, text in NOTES.items():
            opened.add_text(text, source=source)
        opened.query("load the model")
        yield opened


@pytest.mark.model
@pytest.mark.parametrize(
    "question, quoted",
    [
        ("when does the key rotation run?", "The key rotation runs at 02:00 every night."),
        ("why were paper cups abolished in the canteen?", "Bring your own cup, because paper cups were abolished."),
        (
            "why were keys moved out of files?",
            "Keys were moved out of files for two reasons: Copies. Every laptop had one. Age. Nobody knew how old a "
            "key was.",
        ),
        ("签名钥匙多久更换一次？", "签名钥匙每九十天更换一次。"),
    ],
)
def test_the_sentence_that_answers_is_quoted_with_its_citation(engine, question, quoted):
    answer = engine.ask(question)
    assert answer.quote is not None
    assert answer.quote.text == quoted
    assert answer.quote.citation in {piece.citation for piece in answer.result.evidence}
    assert (answer.sentences, answer.model, answer.note) == ((), "", "")


@pytest.mark.model
@pytest.mark.parametrize("question", ["how do I bake sourdough bread?", "wer hat die Mauer gebaut?"])
def test_an_irrelevant_result_has_no_quote(engine, question):
    answer = engine.ask(question)
    assert answer.result.status != "ok" and answer.quote is None


def test_rare_words_of_the_question_weigh_more():
    texts = ["the cache of the service", "the service is old", "the service", "ports"]
    shares = coverages("cache service", texts)
    assert shares[0] == pytest.approx(1.0)
    assert shares[0] > shares[1] == shares[2] > shares[3] == 0
    assert shares[1] < 0.5
    assert coverages("???", texts) == [0.0] * 4
