"""Words of the question in printed passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.cli.results import mark
from weft.cli.terminal import visible


@pytest.mark.parametrize(
    "text, wanted, bold",
    [
        (r"The file is in C:\Windows\System32.", {"window"}, ["Windows"]),
        (r"The rate is $\alpha$", {"alpha"}, ["alpha"]),
        ("a [bold]tag[/] of ours", {"tag"}, []),
        ("end the curl command here \\", {"command", "curl"}, ["curl", "command"]),
    ],
)
def test_words_are_bold_and_the_text_stays(text, wanted, bold):
    """Backslashes and brackets are text, not markup."""
    marked = mark(text, wanted)

    assert marked.plain == text
    assert [text[span.start : span.end] for span in marked.spans] == bold


@given(st.text(alphabet="ab[]/\\ .\nbold", max_size=40))
def test_any_text_is_printed_as_it_is(text):
    assert mark(text, {"a", "bold"}).plain == visible(text)
