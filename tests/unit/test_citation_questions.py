"""Grammar of citation questions in English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.extract.papers import citation_questions
from weft.extract.papers.citation_questions import MAX_QUESTION_CHARACTERS, read_citation, split_names

QUESTIONS = {
    "citing": """
        papers that cite MAGMA
        Which papers cite MAGMA?
        who cites "MAGMA"?
        who has cited MAGMA
        what references MAGMA
        papers citing MAGMA
        show me all papers that refer to MAGMA
        who is MAGMA cited by
        which papers is MAGMA cited by?
        MAGMA is cited by
        citations of MAGMA
        How many citations does MAGMA have?
        how many papers cite MAGMA
        How often has MAGMA been cited?
        引用了MAGMA的论文
        引用《MAGMA》的文章有哪些？
        哪些论文引用了MAGMA
        哪些論文引用了MAGMA？
        谁引用了MAGMA？
        MAGMA被哪些论文引用
    """,
    "references": """
        references of MAGMA
        the references in MAGMA
        what are the references of MAGMA?
        bibliography of MAGMA
        What does MAGMA cite?
        which papers does MAGMA cite
        papers cited by MAGMA
        works cited in MAGMA
        cited by MAGMA
        papers that MAGMA cites
        MAGMA's references
        MAGMA的参考文献
        MAGMA的參考文獻有哪些？
        MAGMA引用了哪些论文
        被MAGMA引用的论文
        MAGMA引用的文献
    """,
    "builds_on": """
        what builds on MAGMA
        Which work builds upon MAGMA?
        papers based on MAGMA
        research that extends MAGMA
        follow-up work to MAGMA
        citation network of MAGMA
        show me the citation graph around MAGMA
        基于MAGMA的工作
        哪些研究建立在MAGMA之上
        MAGMA的后续工作有哪些
    """,
    "written_by": """
        publications of MAGMA
        papers by MAGMA
        articles written by MAGMA
        what has MAGMA published
        which papers did MAGMA write
        MAGMA's papers
        MAGMA的论文
        MAGMA写了哪些论文
        作者是MAGMA的论文
    """,
    "cocited": """
        papers cited together with MAGMA
        what is often cited together with MAGMA?
        papers co-cited with MAGMA
        co-citations of MAGMA
        与MAGMA一起被引用的论文
        和MAGMA共同被引用的文献有哪些
        MAGMA的共被引文献
    """,
    "shared": """
        papers that share concepts with MAGMA
        papers sharing the same ideas with MAGMA
        which papers share topics with MAGMA?
        与MAGMA有共同概念的论文
        哪些论文与MAGMA共享概念
    """,
    "introduces": """
        papers that introduce MAGMA
        which paper introduced the concept of MAGMA?
        who introduced MAGMA
        where was MAGMA first introduced
        提出MAGMA的论文
        哪篇论文首次提出了MAGMA
        谁提出了MAGMA
    """,
}
EVERY = [(kind, line.strip()) for kind, lines in QUESTIONS.items() for line in lines.strip().splitlines()]


@pytest.mark.parametrize("kind, text", EVERY)
def test_a_question_has_a_kind_and_a_name(kind, text):
    """The name has none of the words around it."""
    (question,) = read_citation(text)

    assert (question.kind, question.names) == (kind, ("MAGMA",))
    assert (question.since, question.until) == (None, None)


@pytest.mark.parametrize(
    "text",
    """
    an exciting reference
    who was excited by the referendum
    What is the reference frame of the excited atom?
    reference manual for the printer
    references
    who cites
    papers on graph retrieval
    papers about how to cite
    incite MAGMA
    sightseers of MAGMA
    Who directed the film based on the novel MAGMA?
    Which film has the director who was born earlier?
    how do I build on Windows
    关于图检索的论文
    關於圖檢索的論文
    引用计数是什么
    参考文献的格式
    """.strip().splitlines(),
)
def test_other_questions_are_none(text):
    """Cues are whole words in their place, not parts of words and not words on their own."""
    assert read_citation(text.strip()) == ()


@pytest.mark.parametrize(
    "text, since, until",
    [
        ("papers by MAGMA after 1970", 1971, None),
        ("papers by MAGMA since 1970", 1970, None),
        ("papers by MAGMA before 1970", None, 1969),
        ("papers by MAGMA until 1970", None, 1970),
        ("papers by MAGMA in 1970", 1970, 1970),
        ("papers by MAGMA in the 1970s", 1970, 1979),
        ("papers by MAGMA published after 1970", 1971, None),
        ("papers by MAGMA between 1965 and 1970", 1965, 1970),
        ("papers by MAGMA from 1970 to 1965", 1965, 1970),
        ("papers after 1970 by MAGMA", 1971, None),
        ("papers that cite MAGMA after 1970", 1971, None),
        ("MAGMA在1970年之后的论文", 1971, None),
        ("MAGMA在1970年以前发表的论文", None, 1969),
        ("MAGMA自1970年以来的论文", 1970, None),
        ("MAGMA在1965年到1970年之间发表的论文", 1965, 1970),
        ("MAGMA在1970年代的论文", 1970, 1979),
        ("1970年之后MAGMA发表的论文", 1971, None),
        ("1970年之後引用MAGMA的論文", 1971, None),
    ],
)
def test_years_are_separated_from_the_name(text, since, until):
    """`after` and `before` leave the year itself out, all else has it in."""
    question = read_citation(text)[0]

    assert (question.names, question.since, question.until) == (("MAGMA",), since, until)


def test_a_title_may_end_with_a_year():
    """The second reading has it, and the graph knows which one is meant."""
    readings = read_citation("papers that cite A Survey of Languages in 1965")

    assert [(r.names[0], r.since) for r in readings] == [
        ("A Survey of Languages", 1965),
        ("A Survey of Languages in 1965", None),
    ]


def test_what_stands_around_a_name_is_tried_without_too():
    """`the paper X` may be a title, and is more likely the paper X."""
    assert read_citation("who cites the paper Paging?")[0].names == ("the paper Paging", "Paging")
    assert read_citation("what builds on the MAGMA paper")[0].names == ("the MAGMA paper", "the MAGMA")


def test_questions_of_a_common_form_say_so():
    """`what is based on X` may concern a film, so a missing paper is not reported."""
    assert not read_citation("what is based on MAGMA")[0].explicit
    assert read_citation("papers based on MAGMA")[0].explicit


def test_enumerations_are_divided():
    """In both languages; a name without one stays whole."""
    assert split_names("paging, semantic memory and caches") == ["paging", "semantic memory", "caches"]
    assert split_names("分页、语义记忆和缓存") == ["分页", "语义记忆", "缓存"]
    assert split_names("sandbox") == ["sandbox"]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    """A name is never empty."""
    for question in read_citation(text):
        assert question.names
        assert all(name.strip() for name in question.names)


@pytest.mark.parametrize("text", ["papers that ", "what is ", "引用", "papers cited ", "is cited by "])
def test_text_that_nearly_fits_is_read_to_its_end(text):
    """Forms do not explode on what repeats their beginning: it is none of them, or the name is short of all of it."""
    long = text * (MAX_QUESTION_CHARACTERS // len(text))

    assert all(len(name) < len(long) for question in read_citation(long) for name in question.names)
    assert read_citation(long + "papers that cite MAGMA") == ()


@pytest.mark.parametrize("line", [line for line in citation_questions.__doc__.splitlines() if line.startswith("| `")])
def test_the_examples_of_the_module_are_right(line):
    """A row has a question, its kind and its name, or no kind."""
    question, kind, name, _ = (cell.strip() for cell in line[1:-1].split("|"))
    found = read_citation(question.strip("`"))

    assert (f"`{found[0].kind}`", found[0].names[0]) == (kind, name) if found else kind.startswith("none")
