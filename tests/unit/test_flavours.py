"""Markup of Markdown flavours."""

import pytest

from weft.config import SplitOptions
from weft.load.run import load_text
from weft.text.markdown.inline import heading_text as plain_heading
from weft.text.markdown.plain import plain_text
from weft.text.split import indexed_text, split


@pytest.mark.parametrize(
    "written, plain",
    [
        ('All {{< glossary_tooltip text="pods" term_id="pod" >}} run.', "All pods run."),
        ('{{< feature-state for_k8s_version="v1.2" >}}', ""),
        ("{{< note >}}\nTake care.\n{{< /note >}}", "\nTake care.\n"),
        ('## {{% heading "whatsnext" %}}', "## whatsnext"),
        ("::: tip 注意\nwords\n:::", "注意\nwords\n"),
        (":::note[Take care]{.x}\nwords", "Take care\nwords"),
        ("::: code-group", ""),
        ("## Slots {#slots}", "## Slots"),
        ("> [!warning]- Take care\n> words", "> Take care\n> words"),
        ("The harbour.[^3] Old[^log-1].\n\n[^3]: See the log.", "The harbour. Old.\n\nSee the log."),
        (r"angle $\alpha_{1}$ and $$\sum_i x$$", "angle  and "),
        ("a\n$$\n\\frac{a}{b}\n$$\nb", "a\n\nb"),
        # not markup
        ("costs $5 and $6", "costs $5 and $6"),
        ('echo "$HOME/$USER" $$', 'echo "$HOME/$USER" $$'),
        ("re.compile(r'[^abc]+[^1]')", "re.compile(r'[^abc]+[^1]')"),
        ("```sh\n{{< x >}}\n::: tip\n```\n{{< x >}}", "```sh\n{{< x >}}\n::: tip\n```\n"),
        ("f {x} and [!x] {{ value }}", "f {x} and [!x] {{ value }}"),
        ("x = y[::] # {#a}", "x = y[::] # {#a}"),
    ],
)
def test_markup_is_removed_and_other_text_stays(written, plain):
    """Also in source code, whose form is not known where a text is embedded again."""
    assert plain_text(written) == plain


def test_a_heading_keeps_the_words_of_its_markup():
    """A heading that is only a shortcode has its argument as a name; an image beside words is no word."""
    assert plain_heading('{{% heading "whatsnext" %}}') == "whatsnext"
    assert plain_heading("Angles $\\alpha$ {#angles}") == "Angles"
    assert plain_heading("Costs of $5") == "Costs of $5"
    assert plain_heading('The [Pods](pods.md "all") of [[a/Nodes|a node]] ![in a row](x.png)') == "The Pods of a node"
    assert plain_heading("![in a row](x.png)") == "in a row"
    assert plain_heading("[0.2.0] a[i](") == "[0.2.0] a[i]("


def test_a_chunk_keeps_its_text_and_lines_and_is_indexed_without_markup():
    """Passages are shown without directives, on the lines of the file."""
    text = '# Pods {#pods}\n\n## {{% heading "next" %}}\n\n::: tip Take care\nAll {{< t text="pods" >}} run.[^1]\n:::'
    document = load_text(text, source="a.md", form="markdown")
    (chunk,) = split(document, document_id="d", options=SplitOptions())

    assert (document.title, chunk.heading) == ("Pods", ("next",))
    assert chunk.text == "Take care.\nAll pods run.[^1]"
    assert (chunk.start_line, chunk.end_line) == (5, 6)
    assert indexed_text(document.title, chunk.heading, chunk.text) == "Pods › next\nTake care.\nAll pods run."
