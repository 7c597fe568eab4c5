"""The examples of the CommonMark specification: the same verdict on what is code for every reader of a page."""

import json
import re
from collections import Counter
from pathlib import Path

from weft.config import SplitOptions
from weft.extract.links.markdown_links import find_links
from weft.extract.rules import RuleExtractor
from weft.extract.sentences import read_sentences
from weft.load.formats.markdown import parse_markdown
from weft.text.markdown.blocks import parse
from weft.text.markdown.plain import plain_text, without_directives
from weft.text.split import split

_ABOUT, *EXAMPLES = map(json.loads, Path(__file__).with_name("commonmark.jsonl").read_text("utf-8").splitlines())
FENCE_AFTER_HTML = {161}
WRAPPED_HEADINGS = {81, 82, 95}
"""The two rules that differ (decision 0074): a fence ends an HTML block, and an underlined heading has one line."""

CODE = " The Wrong Name depends on [Wrong Page](wrong.md), PEP 4840 {{< wrong >}}[^wrong] $\\wrong{1}$"
PROSE = " The Crane depends on [Hydraulics](right.md), PEP 4841"


def is_tag(block):
    """`<pre>`, `<script>` and the like are code for Weft, and HTML for the specification."""
    return block.text.lstrip().lower().startswith(("<pre", "<script", "<style", "<textarea"))


def write(example):
    """
    Return the example with a statement at the end of a line of each code block and of each paragraph, and both counts.

    Such an end changes no block: a closing fence is no line of the code, and a paragraph is only longer.
    """
    lines = example["markdown"].rstrip("\n").split("\n")
    counts = {"code": 0, "prose": 0}
    for block in parse("\n".join(lines)).blocks:
        last = block.text.strip("\n").split("\n")[-1]
        if block.kind == "code" and last.strip() and not is_tag(block):
            at = max(i for i in range(block.start, block.end) if lines[i].rstrip().endswith(last.strip()))
            lines[at] += CODE
            counts["code"] += 1
        elif block.kind in ("paragraph", "item") and last.replace(" ", "").isalnum():
            lines[block.end - 1] += PROSE
            counts["prose"] += 1
    return "\n".join(lines), counts


def test_code_and_headings_are_those_of_the_specification():
    """All 652 examples, but for the two rules."""
    code, headings = set(), set()
    for example in EXAMPLES:
        blocks = parse(example["markdown"]).blocks
        found = [block.text.strip("\n") for block in blocks if block.kind == "code" and not is_tag(block)]
        if found != [text.strip("\n") for text in example["code"]]:
            code.add(example["example"])
        if [block.level for block in blocks if block.level] != example["headings"]:
            headings.add(example["example"])

    assert (len(EXAMPLES), code, headings) == (652, FENCE_AFTER_HTML, WRAPPED_HEADINGS)


def read(text):
    """Return what each reader of a page finds in it."""
    document = parse_markdown(text, source="docs/a.md", name="a")
    found = RuleExtractor().extract(document, split(document, document_id="d", options=SplitOptions()))
    return {
        "links": [link.address for link in find_links(parse(text))],
        "sentences": [sentence.text for sentence in read_sentences(text, form="markdown")],
        "relations": [stated.target for part in found for stated in part.stated_relations],
        "names": [name.name for part in found for name in part.candidates],
    }


def test_every_reader_agrees_on_what_is_code():
    """No reader of links, records, sentences, relations or names reads code, and none changes it."""
    totals = Counter()
    for example in EXAMPLES:
        if example["markdown"].startswith("---\n---"):  # front matter
            continue
        text, counts = write(example)
        totals.update(counts)
        if not any(counts.values()):
            continue
        found = read(text)

        for reader, values in found.items():
            wrong = [value for value in values if re.search("wrong|4840", value, re.IGNORECASE)]
            assert not wrong, (example, reader)
        assert without_directives(text).count(CODE) == plain_text(text).count(CODE) == counts["code"], example
        stated = sum("Crane depends on Hydraulics" in sentence for sentence in found["sentences"])
        assert found["links"].count("right.md") == stated == counts["prose"], example

    assert totals == {"code": 84, "prose": 235}
