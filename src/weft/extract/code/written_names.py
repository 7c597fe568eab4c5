"""
Names of source code as prose writes them, which may be those of definitions.

| written | name | also a name of prose? |
| --- | --- | --- |
| `` `httpx.AsyncClient` ``, `` `client.send()` ``, `` `.is_closed` ``, `` `useState` `` | without `()` and `.` | yes |
| `read_timeout`, `httpx.AsyncClient`, in plain text | the same | yes |
| `` `Client` ``, and `AsyncClient` in plain text | the same | no |
| `` `get` ``, `` `GET /users` ``, `` `a = 1` ``, `config.yaml` | none | |

A name stands for a definition if the source code of the corpus has exactly one with this name (`code_keys`).
"""

from __future__ import annotations

import re

from weft.extract.phrases import Name
from weft.extract.sentences import Sentence

REFERENCE_REASON = "name of a definition"

_NAME = re.compile(r"[A-Za-z_$][\w$]{0,80}(?:(?:\.|::)[A-Za-z_$][\w$]{0,80}){0,7}")
_FILE = re.compile(
    r"\.(?:py|sql|jsonl?|md|csv|tsv|ya?ml|toml|[jt]sx?|go|rs|java|cpp|h|sh|html|txt|xml|ini|cfg|lock|log)$"
)
_INNER_CAPITAL = re.compile(r"[a-z\d][A-Z]")


def written_code(name: Name, sentence: Sentence) -> str:
    """Return the name of a definition that a name in a sentence may be; empty if it is written unlike one."""
    if name.kind not in ("identifier", "phrase") or " " in name.text:
        return ""
    text = name.text.removesuffix("()").removeprefix(".").replace("#", ".")
    if not _NAME.fullmatch(text) or _FILE.search(text):
        return ""
    is_like_code = (
        name.text[0] == "."
        or "_" in text.strip("_")
        or "." in text
        or ":" in text
        or _INNER_CAPITAL.search(text) is not None
    )
    if is_like_code or sentence.text[name.start + len(name.text) :].startswith("()"):
        return text
    is_marked = any(mark.kind == "code" and mark.start == name.start for mark in sentence.marks)
    return text if is_marked and text[0].isupper() else ""
