r"""
Markdown flavours: what each adds to CommonMark, and what is removed of it.

The parser recognises all of them in every page, because a page does not say for which site it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it.rules_block import StateBlock


@dataclass(frozen=True, slots=True)
class Flavour:
    """A dialect of Markdown."""

    name: str
    recognises: str
    removes: str
    """Markup that no title, name or indexed text keeps."""
    users: str
    """Projects that write it."""


FLAVOURS = (
    Flavour("CommonMark", "headings, lists, quotes, code, links, HTML", "comments, link definitions", "any README"),
    Flavour("GitHub", "tables, task lists, alerts, footnotes", "`[!NOTE]`, `[x]`, `[^1]`", "repositories on GitHub"),
    Flavour(
        "Python-Markdown",
        "attribute lists, `!!!`, `???`, `===`, `///`, snippets, icons",
        "`{ #id }`, `!!! note`, `/// tip`, `--8<--`, `{* file.py *}`, `:material-check:`",
        "documentation of Python packages (MkDocs Material)",
    ),
    Flavour("Hugo", "shortcodes, heading ids", "`{{< note >}}`, `{{% heading %}}`", "Kubernetes, blogs"),
    Flavour("Docusaurus", "MDX: imports, components, `:::`", "`import`, `<Tabs>`, `{/* … */}`", "React libraries"),
    Flavour("VitePress", "`:::`, `{#id}`, snippets, Vue components", "`::: tip`, `<<< @/a.js`, `[[toc]]`", "Vue, Vite"),
    Flavour(
        "Obsidian",
        "wikilinks, embeds, callouts, block ids, comments, properties",
        "`![[page]]`, `> [!note]-`, `^block-id`, `%%comment%%`",
        "personal notes",
    ),
    Flavour("Jekyll", "Liquid, kramdown attributes", "`{% include %}`, `{{ site.url }}`, `{: .class}`", "GitHub Pages"),
    Flavour(
        "MyST", "directives, roles, targets", "```` ```{note} ````, `` {ref}`a` ``, `(label)=`", "Sphinx, Jupyter Book"
    ),
)

# ── inline ──────────────────────────────────────────────────────────────────────────────────────

SHORTCODE = r"\{\{[<%](?P<shortcode>[^{}]{0,600})[>%]\}\}"
NOTE = r"\[\^[^\[\]\s]{1,60}\]"
MATH = r"\$\$[^$]{1,2000}\$\$|\$(?=[^\s$\d])[^$]{1,300}(?<=\S)\$(?![\w$])|\\\([^()]{1,300}\\\)"
LATEX = re.compile(r"\\[a-zA-Z]|[\^_]\{|\\\\")
"""Dollar signs around other text are money or variables of a shell."""
ATTRIBUTES = r"\{:?[ \t]{0,4}[#.][^{}\n]{0,200}\}|\{:[ \t]?[a-z][^{}\n]{0,200}\}"
TEMPLATE = r"\{\{[^{}]{0,600}\}\}|\{%[^{}]{0,600}%\}|\{/?\*[^*{}]{0,1000}\*/?\}"
ICON = r":(?:material|octicons|fontawesome|simple)-[\w-]{1,80}:"
COMMENT = r"%%[^%]{1,1000}%%"
HIGHLIGHT = r"(?<![\w=])==(?=[^\s=])|(?<=[^\s=])==(?![\w=])"
SHORTCODE_TEXT = re.compile(r"(?:\btext|^\s{0,8}figure\s.{0,400}?\scaption)\s?=\s?\"([^\"]{1,600})\"")
SHORTCODE_ARGUMENT = re.compile(r"\s{0,8}[\w-]{1,60}\s{1,8}\"([^\"]{1,200})\"")
SHORTCODE_TERM = re.compile(r"\bterm(?:_id)?\s?=\s?\"([^\"]{1,200})\"")

# ── blocks ──────────────────────────────────────────────────────────────────────────────────────

DIRECTIVE = re.compile(
    r"(?P<colons>:{3,})[ \t]{0,4}(?P<container>.{0,300})$"
    r"|(?P<slashes>/{3,})(?:[ \t]{1,4}(?P<block>[a-z][^|]{0,100}(?:\|.{0,200})?))?$"
    r"|(?P<body>!!!|\?\?\?\+?|={3}[!+]?)[ \t]{1,4}(?P<title>(?:[\w\"'-]).{0,300})$"
    r"|(?P<insertion>\{\*.{1,300}\*\}|-{1,4}8<-{1,4}.{0,300}|<<< ?[@./].{1,300}|\[\[_?toc_?\]\]|\[toc\]"
    r"|\([\w:-]{1,100}\)="
    r"|<!--.{0,300}--8<--.{0,300}|%%|\{:.{1,200}\}|import\s[^'\"]{1,300}\sfrom\s['\"][^'\"]{1,300}['\"];?"
    r"|import\s['\"][^'\"]{1,300}['\"];?|\\newpage)$",
    re.IGNORECASE,
)
"""One line of markup. `body` is followed by indented lines."""
CODE_TAG = re.compile(
    r"\{%-?\s{0,4}(highlight|raw)\b[^{}]{0,200}%\}$|\{\{[<%]\s{0,4}(highlight|mermaid)\b[^{}]{0,200}[>%]\}\}$"
)
"""First line of code between template tags."""
PROSE_DIRECTIVE = re.compile(
    r"\{(?:note|warning|tip|important|caution|danger|hint|attention|error|seealso|admonition|dropdown|topic|sidebar|margin"
    r"|epigraph|tab-item|tab-set|card|grid|versionadded|versionchanged|deprecated|[a-z-]{0,30}admonition)\}"
)
"""Info string of a fence of MyST that contains Markdown; all other fences contain code."""
_CODE_REFERENCE = re.compile(r":::[ \t]{1,4}[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,8}$")
_STARTS = frozenset(":/!?={-<[(%i\\")
_ITEM_OPTION = re.compile(r"[ \t]{0,12}:[\w-]{1,40}:|[ \t]{0,12}---[ \t]*$|[ \t]{0,12}[\w-]{1,40}: ")


def directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a line that is markup of a flavour, and the indented body of an admonition or tab."""
    at = state.bMarks[start] + state.tShift[start]
    if at >= state.eMarks[start] or state.src[at] not in _STARTS or state.is_code_block(start):
        return False
    line = state.src[at : state.eMarks[start]].rstrip()
    found = DIRECTIVE.match(line)
    if found is None:
        return _template_code(state, start, end, line, silent)
    if silent:
        return not line.startswith(("import", "(", "=", "/", "["))
    opening = state.push("directive_open", "", 1)
    opening.info = directive_title(found)
    opening.markup = line
    opening.map = [start, start + 1]
    following = start + 1
    if found["body"]:
        following = _body_end(state, following, end)
        indent, parent, state.blkIndent = state.blkIndent, state.parentType, state.blkIndent + 4
        state.parentType = "blockquote"  # any block may end a paragraph
        state.md.block.tokenize(state, start + 1, following)
        state.blkIndent, state.parentType = indent, parent
        opening.meta = {"body": following}
    elif found["insertion"] and (close := _end_mark(found["insertion"])):
        following = next((i + 1 for i in range(following, end) if _line(state, i).strip() == close), following)
        opening.map = [start, following]
    state.push("directive_close", "", -1)
    state.line = following
    return True


def directive_title(found: re.Match[str]) -> str:
    """
    Return the title that a directive shows.

    | line | title |
    | --- | --- |
    | `::: tip Note`, `:::note[Note]`, `/// tip | Note`, `!!! tip "Note"`, `=== "Note"` | `Note` |
    | `::: tip`, `:::`, `!!! note`, `--8<-- "a.md"` | |
    """
    if (written := found["container"] or "").strip():
        kind, _, title = written.partition(" ")
        bracket = kind.find("[")
        title = f"{kind[bracket:]} {title}" if bracket >= 0 else title
        return title.partition("{")[0].strip("[] ")
    if block := found["block"]:
        return block.partition("|")[2].strip()
    if title := found["title"]:
        quote = title.find('"')
        return title[quote:].strip('" ') if quote >= 0 else ""
    return ""


def is_code_reference(line: str) -> bool:
    """Return True if a container inserts a definition of source code: `::: app.http.Server` (mkdocstrings)."""
    return _CODE_REFERENCE.match(line) is not None


def _end_mark(insertion: str) -> str:
    """Return the line that ends a block of insertions or a comment; empty if the mark stands alone."""
    bare = insertion.strip()
    return bare if bare == "%%" or (bare.strip("-") == "8<") else ""


def _line(state: StateBlock, index: int) -> str:
    return state.src[state.bMarks[index] : state.eMarks[index]]


def _body_end(state: StateBlock, line: int, end: int) -> int:
    """Return the line after the body of an admonition, which is indented by four."""
    last = line
    while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent + 4):
        line += 1
        last = last if state.isEmpty(line - 1) else line
    return last


def _template_code(state: StateBlock, start: int, end: int, line: str, silent: bool) -> bool:
    """Read code between template tags: `{% highlight ruby %}` to `{% endhighlight %}`."""
    found = CODE_TAG.match(line) if line.startswith("{") else None
    if found is None or state.env.get(unclosed := f"{found[1] or found[2]} {end}"):
        return False
    closing = re.compile(rf"\{{\{{?[%<]-?\s{{0,4}}(?:end|/\s{{0,4}}){found[1] or found[2]}\b")
    last = next((i for i in range(start + 1, end) if closing.match(_line(state, i).strip())), -1)
    if last < 0:
        state.env[unclosed] = True  # another search up to this line would find nothing either
        return False
    if not silent:
        token = state.push("fence", "code", 0)
        token.info, token.map = found[1] or found[2], [start, last + 1]
        token.content = state.getLines(start + 1, last, state.sCount[start], True)
        state.line = last + 1
    return True


def prose_fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a fence of MyST that contains Markdown."""
    at = state.bMarks[start] + state.tShift[start]
    mark = state.src[at : at + 3]
    if mark not in ("```", "~~~") or state.is_code_block(start):
        return False
    line = state.src[at : state.eMarks[start]]
    info = line.lstrip(mark[0])
    if not PROSE_DIRECTIVE.match(info):
        return False
    if silent:
        return True
    fence = line[: len(line) - len(info)]
    last = next((i for i in range(start + 1, end) if _closes(_line(state, i).strip(), fence)), end)
    first = start + 1
    while first < last and _ITEM_OPTION.match(_line(state, first)):
        first += 1
    opening = state.push("directive_open", "", 1)
    opening.info, opening.markup, opening.map = info.partition("}")[2].strip(), line, [start, first]
    opening.meta = {"closing": last}
    state.md.block.tokenize(state, first, last)
    state.push("directive_close", "", -1)
    state.line = min(end, last + 1)
    return True


def _closes(line: str, fence: str) -> bool:
    return line.startswith(fence) and not line.strip(fence[0])
