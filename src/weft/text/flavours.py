r"""
Markup of Markdown flavours that is no text: removed from titles, headings and indexed texts.

    flavour      written                                        indexed
    Hugo         {{< glossary_tooltip text="pods" >}}           pods
                 ## {{% heading "whatsnext" %}}                 ## whatsnext
    VitePress    ::: tip Note                                   Note
                 ## Slots {#slots}                              ## Slots
    Obsidian     > [!warning]- Take care                        > Take care
    footnotes    harbour.[^3]                                   harbour.
                 [^3]: See the log.                             See the log.
    math         the angle $\alpha_{1}$ is small                the angle  is small
    links        ## [Pods](pods.md) and [[Nodes|a node]]        Pods and a node (titles and headings only)

Fenced code is unchanged. The text of a chunk keeps everything, so citations and quotations show the source. No rule may
harm source code, because the form of a chunk is not stored.
"""

from __future__ import annotations

import re

from weft.text.links import WIKILINK_PATTERN, link_label

_SIGNS = ("{{<", "{{%", ":::", "[!", "[^", "$", "{#", "{.", "{:")
"""A text without any of these has nothing to remove."""
_FENCES = ("```", "~~~")
_CALLOUT = re.compile(r"([ \t]{0,3}>[> \t]{0,8})\[![\w|-]{1,40}\][+-]?[ \t]*")
_NOTE = re.compile(r"[ \t]{0,3}\[\^[\w-]{1,40}\]:[ \t]*")
_INLINE = re.compile(
    r"\{\{[<%](?P<shortcode>[^{}]{0,600})[>%]\}\}"
    r"|(?P<note>(?<=[\w.,;:!?)”’。，；：！？）])\[\^[\w-]{1,40}\])"
    r"|\$\$(?P<block>[^$]{1,2000})\$\$"
    r"|(?<![\w$\\])\$(?=[^\s$\d])(?P<inline>[^$\n]{1,300})\$(?![\w$])"
)
_LINK = re.compile(rf"!?\[(?P<label>[^\[\]\n]{{1,300}})\]\([^()\n]{{0,500}}\)|{WIKILINK_PATTERN}")
_LATEX = re.compile(r"\\[a-zA-Z]|[\^_]\{|\\\\")
"""Dollar signs around other text are money or variables of a shell."""
_SHOWN = re.compile(r"\btext\s?=\s?\"([^\"]{1,200})\"")
_ARGUMENT = re.compile(r"\s{0,8}[\w-]{1,60}\s{1,8}\"([^\"]{1,200})\"")


def plain_text(text: str) -> str:
    """Return a text without the markup of Markdown flavours outside fenced code."""
    if not any(sign in text for sign in _SIGNS):
        return text
    parts: list[str] = []
    prose: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith(_FENCES)
        if is_code or is_fence:
            parts += [_INLINE.sub(_shown, "\n".join(prose))] if prose else []
            parts.append(line)
            prose, is_code = [], is_code ^ is_fence
        else:
            prose.append(_plain_line(line))
    parts += [_INLINE.sub(_shown, "\n".join(prose))] if prose else []
    return "\n".join(parts)


def plain_heading(heading: str) -> str:
    """Return a heading or a title without markup; shortcodes and links are replaced by their texts."""
    if "[" in heading:
        heading = _LINK.sub(lambda match: match["label"] or link_label(match["wiki"]), heading)
    if not any(sign in heading for sign in _SIGNS):
        return heading
    return _INLINE.sub(_shown, _name_shortcodes(strip_attributes(heading.strip()))).strip()


def strip_attributes(heading: str) -> str:
    """Return a heading without a closing attribute block: `Slots {#slots}` gives `Slots`, `f {x}` stays."""
    start = heading.rfind("{") if heading.endswith("}") else -1
    is_block = start > 0 and heading[start + 1 :].lstrip(": ").startswith(("#", "."))
    return heading[:start].rstrip() if is_block else heading


def _plain_line(line: str) -> str:
    if line.startswith("#"):
        return _name_shortcodes(strip_attributes(line.rstrip()))
    if line.lstrip().startswith(":::"):
        return _container_title(line.strip())
    return _NOTE.sub("", _CALLOUT.sub(r"\1", line, count=1), count=1)


def _container_title(line: str) -> str:
    """Return the title of a container: `::: tip Note`, `:::note[Note]`; empty for its last line."""
    kind, _, title = line.lstrip(":").lstrip().partition(" ")
    bracket = kind.find("[")
    title = f"{kind[bracket:]} {title}" if bracket >= 0 else title
    return title.partition("{")[0].strip("[] ")


def _name_shortcodes(heading: str) -> str:
    """Replace shortcodes with one argument by it, because the heading would be empty otherwise."""
    return _INLINE.sub(lambda match: _argument(match) or match[0], heading) if "{{" in heading else heading


def _argument(match: re.Match[str]) -> str:
    found = _ARGUMENT.match(match["shortcode"] or "")
    return found[1] if found else ""


def _shown(match: re.Match[str]) -> str:
    if (shortcode := match["shortcode"]) is not None:
        found = _SHOWN.search(shortcode)
        return found[1] if found else ""
    if match["note"]:
        return ""
    return "" if _LATEX.search(match["block"] or match["inline"] or "") else match[0]
