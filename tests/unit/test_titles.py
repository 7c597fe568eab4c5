"""Similarity of paper titles."""

from weft.extract.papers.titles import title_similarity, title_words

TITLE = title_words("Stable Numerical Methods for Obtaining the Chebyshev Solution to an Overdetermined System")


def like(query, title=TITLE):
    return title_similarity(title_words(query), title)


def test_equal_titles_are_wholly_alike():
    """Case, punctuation and plurals of words do not matter."""
    assert like("stable numerical method, for obtaining the Chebyshev solutions to an overdetermined system!") == 1.0


def test_words_left_out_cost_less_than_words_that_are_not_there():
    """Somebody remembers a part, but does not invent."""
    short = like("Stable Methods for the Chebyshev Solution to an Overdetermined System")
    wrong = like("Stable Analogue Methods for the Tangent Solution to an Overdetermined System")

    assert 1 > short > 0.85 > wrong


def test_small_words_cost_little():
    """They are the first to be forgotten."""
    assert like("Stable Numerical Methods Obtaining Chebyshev Solution Overdetermined System") > like(
        "Stable Numerical for Obtaining the Chebyshev Solution to an System"
    )


def test_another_order_is_less_alike():
    """`System of Methods` is not `Methods of a System`."""
    assert like("methods of a system", title_words("methods of a system")) > like(
        "methods of a system", title_words("system of methods")
    )


def test_another_number_makes_another_title():
    """Algorithm 73 is not algorithm 74."""
    title = title_words("Incomplete Elliptic Integrals (Algorithm 73)")

    assert like("Elliptic Integrals Algorithm 74", title) == 0.0
    assert like("Elliptic Integrals Algorithm 73", title) > 0.8


def test_nothing_is_like_nothing():
    """No words, no likeness."""
    assert title_similarity((), TITLE) == title_similarity(TITLE, ()) == 0.0
