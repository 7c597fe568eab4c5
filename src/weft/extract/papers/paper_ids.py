"""
Paper ids in all spellings: arXiv, DOI, OpenAlex.

| written | canonical id |
| --- | --- |
| `arXiv:2501.03236v2`, `https://arxiv.org/abs/2501.03236`, `/pdf/2501.03236v1.pdf` | `arXiv:2501.03236` |
| `math.GT/0309136` | `arXiv:math/0309136` |
| `https://doi.org/10.1145/ABC.1` | `doi:10.1145/abc.1` |
| `10.48550/arXiv.2501.03236` | `arXiv:2501.03236`, since arXiv issues this DOI |
| `https://openalex.org/W123` | `openalex:W123` |
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from weft.extract.names import whole_key
from weft.records import FoundId

_ARCHIVES = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga"
    "|econ|eess|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math|math-ph|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics"
    "|plasm-ph|q-alg|q-bio|q-fin|quant-ph|solv-int|stat|supr-con"
)
_NEW = r"\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}"
_OLD = rf"(?:{_ARCHIVES})(?:\.[a-z]{{2}})?/\d{{2}}(?:0[1-9]|1[0-2])\d{{3}}"
_DOI = r"10\.\d{4,9}(?:\.\d+)*/[^\s\"'<>{}|\\^`\x7f-\U0010ffff]{1,200}"
_WEB = r"(?:https?://)?(?:www\.|dx\.|export\.)?"
_ID = re.compile(
    rf"(?<![\w./-])(?:"
    rf"(?:{_WEB}doi\.org/|doi\s{{0,3}}[:：=]?\s{{0,3}}|info:doi/)?(?P<doi>{_DOI})"
    rf"|(?:{_WEB}openalex\.org/(?:works/)?|openalex\s{{0,3}}[:：]\s{{0,3}})(?P<openalex>w\d{{1,15}})(?!\w)"
    rf"|(?:{_WEB}(?:[a-z]{{1,20}}\.)?arxiv\.org/(?:abs|pdf|html|format|e-print|ps)/"
    rf"|/?(?:abs|pdf)/|arxiv\s{{0,3}}(?:id)?\s{{0,3}}[:：./-]?\s{{0,3}})?"
    rf"(?P<arxiv>{_NEW}|{_OLD})(?:v\d{{1,3}})?(?:\.pdf)?(?![\w/-]|\.\d)"
    rf")",
    re.IGNORECASE | re.ASCII,  # ASCII only: an id may directly follow a Chinese character
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.({_NEW}|{_OLD})(?:v\d{{1,3}})?", re.IGNORECASE | re.ASCII)
_BARE_WORK = re.compile(r"w\d{6,15}", re.IGNORECASE | re.ASCII)
_PAIRS = {")": "(", "]": "["}
_CLOSING = ".,;:!?…*_~"

ARXIV = "arXiv:"
ID_PREFIXES = (ARXIV, "doi:", "openalex:")
"""Id kinds by priority: a paper with several ids is stored under the first."""


def find_ids(text: str) -> list[FoundId]:
    """Return the ids in a text in order, without the punctuation after them."""
    found = []
    for match in _ID.finditer(text):
        if id := _canonical(match):
            end = match.start("doi") + len(_trim(match["doi"])) if match["doi"] else match.end()
            found.append(FoundId(id, match.start(), end))
    return found


def read_id(value: str) -> str:
    """Return the canonical id of a text that consists of an id in any spelling; else an empty text."""
    value = value.strip().strip("<>\"'").rstrip(_CLOSING)
    if _BARE_WORK.fullmatch(value):
        return f"openalex:{value.upper()}"
    match = _ID.match(value)
    if match is None:
        return ""
    rest = value[match.end() :]
    return _canonical(match) if not rest or rest[0] in "?#" else ""


def sort_ids(ids: Iterable[str]) -> list[str]:
    """Return the distinct ids sorted by priority, then alphabetically."""

    def priority(id: str) -> int:
        return next((number for number, prefix in enumerate(ID_PREFIXES) if id.startswith(prefix)), len(ID_PREFIXES))

    return sorted(set(ids), key=lambda id: (priority(id), id))


def id_key(id: str) -> str:
    """Return the key of a canonical id. A DOI may end in parentheses, which are kept."""
    return whole_key(id)


def _canonical(match: re.Match[str]) -> str:
    if match["doi"]:
        doi = _trim(match["doi"]).lower()
        if doi.endswith("/"):
            return ""
        own = _ARXIV_DOI.fullmatch(doi)
        return f"arXiv:{_without_class(own[1])}" if own else f"doi:{doi}"
    if match["openalex"]:
        return f"openalex:{match['openalex'].upper()}"
    return f"arXiv:{_without_class(match['arxiv'])}"


def _without_class(id: str) -> str:
    """Return an old arXiv id without its subject class: `math/0309136` of `math.GT/0309136`."""
    archive, slash, number = id.lower().partition("/")
    return f"{archive.partition('.')[0]}/{number}" if slash else archive


def _trim(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence after it. Balanced parentheses stay."""
    while doi:
        last = doi[-1]
        if last in _CLOSING or (last in _PAIRS and doi.count(last) > doi.count(_PAIRS[last])):
            doi = doi[:-1]
        else:
            break
    return doi
