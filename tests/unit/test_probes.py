"""Probes generated from chunks, and foreign questions."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.admin.calibration_probes import (
    MAX_QUOTED_WORDS,
    MAX_TITLE_WORDS,
    PIECE_CHARACTERS,
    foreign_questions,
    make_probe,
)
from weft.records import Chunk
from weft.text.analyzer import query_terms, terms
from weft.text.normalise import is_unspaced

TURBINE = (
    "The tidal turbine stands forty metres below the surface of the strait. Its blades are coated with a resin that "
    "keeps barnacles away for three winters. Divers replace the seals of the gearbox every autumn."
)
BAKERY = "A stone oven needs two hours to reach the heat at which rye loaves rise evenly."
CRANE = "丹顶鹤每年十月飞到盐城湿地过冬，次年三月返回扎龙繁殖。保护区设有观察塔，游客可以远距离观看鹤群觅食。"


def chunk(text, *, number=0, heading=()):
    return Chunk(id=f"c{number:024x}", document_id="d", ordinal=0, heading=heading, start_line=1, end_line=1, text=text)


def probe(text, *, number=0, title="", heading=(), other=BAKERY):
    return make_probe(chunk(text, number=number, heading=heading), title=title, other=other)


def longest_quote(question, text, *, split=str.split):
    """Return how many neighbouring words of the text stand together in the question."""
    asked, said = (split(re.sub(r"[^\w\s'’.-]|[.](?=\s|$)", "", part).lower()) for part in (question, text))
    runs = {tuple(said[i : i + n]) for n in range(1, 12) for i in range(len(said) - n + 1)}
    return max(
        (n for n in range(1, 12) for i in range(len(asked) - n + 1) if tuple(asked[i : i + n]) in runs), default=0
    )


def test_a_probe_is_a_question_with_the_subject_and_words_of_one_sentence():
    """One word comes from another text, because a real question has words that its answer lacks."""
    question = probe(TURBINE, title="Strait power")
    body = set(query_terms(question))

    assert question.endswith("?")
    assert "Strait power" in question
    assert len(body & set(terms(TURBINE))) >= 3
    assert len(body & set(terms(BAKERY)) - set(terms(TURBINE))) >= 1


def test_a_text_without_a_title_is_named_by_the_words_it_repeats():
    """In the order in which they first come."""
    question = probe("Kelp grows fast. Divers cut the kelp. Kelp feeds urchins, and divers sell urchins.")

    assert "Kelp Divers urchins" in question


def test_the_heading_may_name_the_subject_too():
    """Chunks with both use the title or the heading."""
    questions = [probe(TURBINE, number=n, title="Strait", heading=("Plant", "Seals")) for n in range(20)]

    assert any("Strait" in question for question in questions)
    assert any("Seals" in question for question in questions)
    assert not any("Plant" in question for question in questions)


def test_probes_differ_from_chunk_to_chunk_and_stay_the_same():
    """The chunk's id decides what is asked, nothing else."""
    questions = [probe(TURBINE, number=n) for n in range(30)]

    assert len(set(questions)) > 10
    assert questions == [probe(TURBINE, number=n) for n in range(30)]


def test_another_process_makes_the_same_probes():
    """Probes depend neither on Python's hashes nor on its random numbers."""
    code = (
        "from weft.admin.calibration_probes import make_probe; from weft.records import Chunk; import sys; "
        "c = Chunk(id='c1', document_id='d', ordinal=0, heading=(), start_line=1, end_line=1, text=sys.argv[1]); "
        "sys.stdout.buffer.write(make_probe(c, title='', other=sys.argv[2]).encode())"
    )
    made = {
        subprocess.run([sys.executable, "-c", code, TURBINE, BAKERY], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    here = Chunk(id="c1", document_id="d", ordinal=0, heading=(), start_line=1, end_line=1, text=TURBINE)

    assert made == {make_probe(here, title="", other=BAKERY).encode()}


@pytest.mark.parametrize("number", range(40))
def test_no_probe_quotes_more_than_a_few_words(number):
    """A quote would be found by anything. One word more may come from the form of the question."""
    assert longest_quote(probe(TURBINE, number=number), TURBINE) <= MAX_QUOTED_WORDS + 1
    assert (
        longest_quote(probe(TURBINE, number=number, title="Tidal turbine of the strait"), TURBINE)
        <= MAX_TITLE_WORDS + 1
    )


@given(
    letter=st.sampled_from("aéßñłжωא"), words=st.integers(1, 60), every=st.integers(2, 30), number=st.integers(0, 999)
)
def test_no_length_of_sentences_makes_a_long_quote(letter, words, every, number):
    """In any script with spaces; the title is the beginning of the text."""
    parts = [f"{letter}{at}" + (". " if at % every == 0 else " ") for at in range(words)]
    text = "".join(parts)
    question = probe(text, title=text[:30], number=number, other="zebra")

    assert question.endswith("?")
    assert longest_quote(question, text) <= MAX_TITLE_WORDS


@given(text=st.text(max_size=300), title=st.text(max_size=40), heading=st.lists(st.text(max_size=20), max_size=2))
def test_no_text_breaks_a_probe(text, title, heading):
    """Emoji, lone marks, any script, nothing at all."""
    question = make_probe(chunk(text, heading=tuple(heading)), title=title, other=text)

    assert question == "" or len(question) > 3


def test_chinese_is_asked_in_chinese():
    """Pieces of at most four characters, no two of which stood together, and a question behind or before them."""
    questions = [probe(CRANE, number=n) for n in range(20)]
    titled = probe(CRANE, title="丹顶鹤")

    assert len(set(questions)) > 5
    assert all(question.endswith("？") and is_unspaced(question) for question in questions)
    assert titled.removeprefix("为什么").startswith("丹顶鹤")
    for question in questions:
        bare = re.sub(r"是什么|在哪里|有哪些|为什么|是谁|有多少|是哪一年|怎么样|？", "", question)
        assert longest_quote(bare, CRANE, split=list) <= PIECE_CHARACTERS + 2


def test_text_without_words_gives_no_probe():
    """A probe needs words."""
    assert probe("") == probe("---") == probe("!!! ???") == ""


@pytest.mark.parametrize("language, least", [("en", 150), ("zh", 60)])
def test_foreign_questions_are_many_and_all_different(language, least):
    """In their language, one line each."""
    questions = foreign_questions(language)

    assert len(questions) >= least
    assert len(set(questions)) == len(questions)
    assert all(question == question.strip() and question[-1] in "?？" for question in questions)
    assert all(is_unspaced(question) == (language == "zh") for question in questions)
