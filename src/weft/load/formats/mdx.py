"""
Components of MDX: removed outside fenced code, so that the text remains. The number of lines does not change.

    import Tabs from '@theme/Tabs'          (empty)
    <Tabs groupId="os">                     (empty)
    <Card title="Install">Read.</Card>      Install Read.
    {/* a comment */}                       (empty)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_STATEMENT = re.compile(r"(?:import|export)\s")
_TAG = re.compile(r"</?[A-Z][\w.]{0,80}(?:\s[^<>]{0,1000})?/?>|\{/\*[^*]{0,1000}\*/\}")
_OPEN_TAG = re.compile(r"[ \t]*<[A-Z][\w.]{0,80}(?:\s[^<>]{0,1000})?$")
_LABEL = re.compile(r"\b(?:title|label|heading)=[\"']([^\"'<>{}]{1,200})[\"']")


def strip_components(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines without imports, exports and tags; titles and labels of components stay."""
    fence, in_statement, in_tag = "", False, False
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]) else fence
            yield line
        elif mark:
            fence = mark[1]
            yield line
        elif in_statement or _STATEMENT.match(line):  # a statement ends at an empty line
            in_statement = bool(line.strip())
            yield ""
        elif in_tag or _OPEN_TAG.match(line):
            head, end, rest = line.partition(">") if in_tag else (line, "", "")
            in_tag = not end
            yield " ".join(filter(None, [*_LABEL.findall(head), _TAG.sub(_label, rest).strip()]))
        else:
            plain = _TAG.sub(_label, line)
            yield plain if plain == line or plain.strip() else ""


def _label(match: re.Match[str]) -> str:
    found = _LABEL.search(match[0])
    return f"{found[1]} " if found else ""
