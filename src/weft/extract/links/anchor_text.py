"""
Labels of links that are other names of their targets.

| label | path of the target | a name? |
| --- | --- | --- |
| `Pod Lifecycle`, `session_store`, `会话存储` | any | yes |
| `Kubectl`, `pod labels` | `tools/kubectl`, `concepts/pod-labels` | yes: the words of the path |
| `faster queries`, `put their pieces together` | `queries`, `pieces` | no: a phrase in lower case |
| `see how it works`, `here`, `this page`, `the docs`, `Read more` | any | no: a reference or a clause |
| `labels` | `concepts/labels` | no: a common word in lower case |
| `Overview` | any | no: a heading of many pages |
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.extract.lexicon import LABELS, PRONOUNS, SMALL_WORDS, ZH_STOPS, word_set
from weft.extract.names import name_key, singular
from weft.extract.phrases import is_common, is_generic, is_identifier, is_proper, is_term, is_usable
from weft.extract.sentences import strip_markup
from weft.records import Document
from weft.text.links import note_name, without_folder
from weft.text.markdown.blocks import parse

MAX_LABEL_WORDS = 5
MAX_LABEL_CHARACTERS = 60

_POINTERS = word_set(
    "here there this that these those page pages doc docs document documents documentation guide guides tutorial "
    "tutorials article section sections chapter below above link links more next previous back home index readme "
    "see read learn click details example examples source code website site blog post reference introduction info "
    "information same first last both following previously list table contents part note notes step steps how what "
    "when why where who which is are was were be been can could should would will may must do does did has have had "
    "use using uses used get gets set sets make makes run runs create creates configure add change find check "
    "这里 此处 这篇 文档 指南 上一页 下一页 更多 详情 参考 阅读 教程 章节 查看"
)
"""Words that make a label a reference or a clause."""
_ENDS = (".", "!", "?", ":", ",", "。", "！", "？", "，", "…")


def read_label(label: str, *, target: Sequence[str]) -> str:
    """Return the name in the label of a link to a path; empty if the label is no name."""
    is_code = label.startswith("`") and label.endswith("`") and label.count("`") == 2
    text = strip_markup(label[: 4 * MAX_LABEL_CHARACTERS]).strip("`*_ \"“”'")
    words = text.split()
    if not words or len(words) > MAX_LABEL_WORDS or len(text) > MAX_LABEL_CHARACTERS or text.endswith(_ENDS):
        return ""
    if "://" in text or without_folder(text) != text or not is_usable(text) or not any(map(str.isalpha, text)):
        return ""
    folded = [word.lower().strip("()[]“”\"',;:") for word in words]
    if any(word in _POINTERS or word in PRONOUNS for word in folded) or is_generic(text) or is_common(text):
        return ""
    if not text.isascii() and ZH_STOPS.intersection(text):
        return ""
    if len(words) == 1:
        is_name = is_identifier(text) or (not text.isascii() and is_term(text))
        is_name = is_name or ((is_code or is_proper(text)) and _shares_word(folded, target))
    else:
        is_name = is_proper(text) or _is_path(folded, target)
    return text if is_name and folded[-1] not in LABELS else ""


def linked_keys(document: Document) -> frozenset[str]:
    """Return the keys of the labels and file names of the links from a page to others."""
    names = {link.label for link in document.links if link.kind != "target"}
    if document.form == "markdown":
        page = parse(document.text)
        for block in page.blocks:
            if block.is_prose and "[" in block.text:
                inline = page.inline(block)
                spans = [span for span in inline.spans if span.kind in ("link", "wikilink") and span.target[:1] != "#"]
                names |= {
                    name for span in spans for name in (inline.text[span.start : span.end], note_name(span.target))
                }
    return frozenset(map(name_key, names))


def _is_path(words: Sequence[str], target: Sequence[str]) -> bool:
    """Return True if a label consists of the words of the last part of a path."""
    path = target[-1].replace("_", "-").split("-") if target else []
    return sorted(map(singular, words)) == sorted(map(singular, path))


def _shares_word(words: Sequence[str], target: Sequence[str]) -> bool:
    """Return True if a label has a content word in common with the last part of a path."""
    known = {singular(part) for part in target[-1].replace("_", "-").split("-") if len(part) > 2} if target else set()
    return any(singular(word) in known for word in words if word not in SMALL_WORDS)
