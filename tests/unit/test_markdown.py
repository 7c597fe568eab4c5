"""The only reader of Markdown: what is code, blocks, spans, parts of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.config import SplitOptions
from weft.extract.exclusions import declared_keys
from weft.extract.links.anchors import find_anchors
from weft.extract.links.markdown_links import find_links
from weft.extract.rules import RuleExtractor
from weft.extract.sentences import read_sentences
from weft.load.formats.markdown import parse_markdown
from weft.records import Document
from weft.text.markdown.blocks import fenced_lines, parse
from weft.text.markdown.inline import heading_text, read_inline
from weft.text.split import split
from weft.text.structure import markdown_sections

HEAD = "# Const Service"
LINE = "var alpha = 1; Auth Service depends on OAuth Provider, see [[Wiki Page]] and [it](y.md)."


def example(template):
    """Return a text with a heading and a line at `@`, indented as the `@` is."""
    lines = []
    for line in template.split("\n"):
        lead, mark, _ = line.partition("@")
        below = "".join(" " if character in "-*+.123456789)" else character for character in lead)
        lines += [lead + HEAD, below + LINE] if mark else [line]
    return "\n".join(lines)


CODE = {
    "backticks": "```\n@\n```",
    "tildes": "~~~ py\n@\n~~~",
    "longer fence": "````\n```\n@\n```\n````",
    "other mark inside": "```\n~~~\n@\n```",
    "unclosed": "```\n@",
    "indented fence": "   ```\n   @\n   ```",
    "info string": "``` js{1,3} title=\"a\"\n@\n```",
    "closing is longer": "```\n@\n`````",
    "blank lines inside": "```\n\n@\n\n```",
    "fence after text": "text\n```\n@\n```\ntext",
    "indented by four": "text\n\n    @",
    "indented by a tab": "text\n\n\t@",
    "in an item": "- Install it:\n\n    ```\n    @\n    ```",
    "in an item without a blank line": "- Install it:\n  ```\n  @\n  ```",
    "in an item, indented by four": "- Install it:\n    ```\n    @\n    ```",
    "in an ordered item": "1. Install it:\n\n   ```\n   @\n   ```",
    "in a nested item": "- a\n  - b\n\n    ```\n    @\n    ```",
    "first in an item": "- ```\n  @\n  ```",
    "indented code of an item": "- item\n\n      @",
    "in a quotation": "> Install it:\n> ```\n> @\n> ```",
    "in a nested quotation": "> > ```\n> > @\n> > ```",
    "in an item of a quotation": "> - a\n>   ```\n>   @\n>   ```",
    "indented code of a quotation": "> text\n>\n>     @",
    "in an admonition": "!!! note\n    text\n\n    ```\n    @\n    ```",
    "in a tab": '=== "Linux"\n\n    ```\n    @\n    ```',
    "pre": "<pre>\n@\n</pre>",
    "below details": "<details>\n```\n@\n```\n</details>",
    "Liquid": "{% highlight py %}\n@\n{% endhighlight %}",
    "MyST": "```{code-block} py\n@\n```",
}  # fmt: skip
PROSE = {
    "paragraph": "@",
    "item": "- one\n\n  @",
    "wide item": "1.  one\n\n    @",
    "quotation": "> @",
    "after a fence": "```\nx\n```\n@",
    "after a fence of an item": "- a\n  ```\n  x\n  ```\n\n@",
    "after an unclosed fence of a quotation": "> ```\n> x\n\n@",
    "after inline code of three backticks": "``` a ```\n\n@",
    "admonition": "!!! note\n    @",
    "admonition of an item": "- a\n\n    !!! note\n        @",
    "block of slashes": "/// tip\n\n@\n\n///",
    "note of MyST": "```{note} A title\n:class: x\n@\n```",
    "details": "<details>\n\n@\n\n</details>",
}  # fmt: skip


def readings(text):
    """Return for each reader whether it sees the heading or the line as prose."""
    document = Document(source="docs/a.md", title="A", text=text, form="markdown")
    chunks = split(document, document_id="d", options=SplitOptions())
    found = RuleExtractor().extract(document, chunks)
    page = parse(text)
    return {
        "sentences": any("depends on" in sentence.text for sentence in read_sentences(text, form="markdown")),
        "relations": any(stated.type == "depends_on" for part in found for stated in part.stated_relations),
        "links": any(link.address == "y.md" for link in find_links(page)),
        "link relations": any(stated.type == "links_to" for part in found for stated in part.stated_relations),
        "wikilinks": "links" in parse_markdown(text, source="a.md", name="a").metadata,
        "anchors": any(anchor.title == "Const Service" for anchor in find_anchors(text, suffix=".md")),
        "title": parse_markdown(text, source="a.md", name="a").title == "Const Service",
        "declared": not declared_keys(page),
    }


@pytest.mark.parametrize("template", CODE.values(), ids=CODE)
def test_code_is_code_for_every_reader(template):
    """No reader takes a comment for a heading, or an example for a statement."""
    text = example(template)
    assert readings(text) == dict.fromkeys(readings(text), False)
    assert not markdown_sections(text, title="")[-1].heading


@pytest.mark.parametrize("template", PROSE.values(), ids=PROSE)
def test_prose_is_prose_for_every_reader(template):
    """Also inside containers and after code."""
    text = example(template)
    assert readings(text) == dict.fromkeys(readings(text), True)


def test_a_fence_below_an_item_is_no_prose():
    """The reader of links saw code here, the reader of sentences a daemon."""
    text = "- Install it:\n\n    ```bash\n    # Auth Service is a daemon that depends on OAuth Provider\n    ```"
    assert [sentence.text for sentence in read_sentences(text, form="markdown")] == ["Install it:"]


def test_blocks_have_lines_depth_and_headings():
    """Lines are those of the text."""
    page = parse("Top\n===\n\n> ## Quoted\n> - [x] done\n\n## Part { #part }\n\n| a |\n| - |\n| b\\|c |\n\n[p]: /pods/")
    shown = [(b.kind, b.start, b.end, b.text, b.level, b.depth, b.path) for b in page.blocks]
    assert shown == [
        ("heading", 0, 2, "Top", 1, 0, ()),
        ("heading", 3, 4, "Quoted", 2, 1, ("Top",)),
        ("item", 4, 5, "done", 0, 2, ("Top",)),
        ("heading", 6, 7, "Part { #part }", 2, 0, ("Top",)),
        ("cell", 8, 9, "a", 0, 0, ("Top", "Part")),
        ("cell", 10, 11, "b|c", 0, 0, ("Top", "Part")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "text", "spans"),
    [
        ("see [the `a`](b.md 't')", "see the a", [("code", 8, 9, "a"), ("link", 4, 9, "b.md")]),
        ("[[A#b|c]] ![[d]]", "c", [("wikilink", 0, 1, "A#b|c"), ("wikilink", 2, 2, "d")]),
        ("x$a_1$ y[^1]", "x y", [("math", 1, 1, "$a_1$"), ("footnote", 3, 3, "[^1]")]),
        ("a {.z}", "a", [("attributes", 2, 2, "{.z}")]),
        ("a &amp; b\\* **c**", "a & b* c", [("strong", 7, 8, "")]),
        ("<b>x</b> ![i](i.png)", "x i", [("html", 0, 0, "<b>"), ("html", 1, 1, "</b>"), ("image", 2, 3, "i.png")]),
        ("==mark== a == b `c==d`", "mark a == b c==d", [("code", 12, 16, "c==d")]),
        ("{ref}`a <b>` :class:`~m.C`", "a C", [("role", 0, 1, "b"), ("code", 2, 3, "m.C")]),
        ("snake_case 2*3*4 C:\\dir a[0](", "snake_case 234 C:\\dir a[0](", []),
    ],
)  # fmt: skip
def test_spans_of_a_text(written, text, spans):
    """Offsets are those of the text without markup."""
    inline = read_inline(written)
    assert (inline.text, [(s.kind, s.start, s.end, s.target) for s in inline.spans]) == (text, spans)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Setup { #setup }", "Setup"),
        ("Setup {: #setup .wide }", "Setup"),
        ('<Badge type="tip" text="new" /> Slots {#slots}', "Slots"),
        ('<dfn title="a b">HTTP</dfn>[^1]', "HTTP"),
        ('{{% heading "next" %}}', "next"),
        ("The `kubelet` and **C#** ^id", "The `kubelet` and **C#**"),
        (":material-check: Done {{< x >}}", "Done"),
        ("f {x}", "f {x}"),
    ],
)
def test_a_heading_has_no_markup_of_a_flavour(heading, title):
    """Ids, shortcodes, tags and directives are no part of a title."""
    assert heading_text(heading) == title
    assert parse_markdown(f"# {heading}", source="a.md", name="a").title == title


def test_a_part_of_a_page_knows_what_the_page_knows():
    """A chunk may begin inside code, and its links may be defined below it."""
    text = "# A\n\nOne [x][p]. Two\nthree four.\n\n```\na\nb\n```\n\n[p]: y.md\n"
    page = parse(text)
    start, end = text.index("Two"), text.index("\nb")
    part = page.part(start, end)

    assert [(b.kind, b.start, b.end, b.text) for b in part.blocks] == [
        ("paragraph", 0, 2, "Two\nthree four."), ("code", 3, 5, "a\nb\n"),
    ]  # fmt: skip
    assert part.prose_lines() == ["Two", "three four.", "", "", ""]
    assert [link.address for link in find_links(page.part(0, start))] == ["y.md"]


@given(st.text(alphabet="ab \n`~>-*#![](){}$:/|=<\\^%1.", max_size=120), st.data())
def test_any_text_is_parsed(text, data):
    """Blocks lie inside the text, in order, and so do those of its parts."""
    end = data.draw(st.integers(0, len(text)))
    start = data.draw(st.integers(0, end))
    for page in (parse(text), parse(text).part(start, end)):
        assert all(0 <= block.start <= block.end <= len(page.lines) for block in page.blocks)
        for block in page.blocks:
            inline = page.inline(block)
            assert all(0 <= span.start <= span.end for span in inline.spans)


def test_fences_of_any_text():
    """Plain text and source code are no Markdown, but may have fences."""
    assert fenced_lines("a\n\n        ```\nb\n```\nc") == {2, 3, 4}
