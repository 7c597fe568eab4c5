"""
Ids of papers in every spelling: arXiv, DOI, OpenAlex.

The canonical form is `arXiv:2501.03236` without a version (also `arXiv:math/0211159`), `doi:10.1145/…` in lower case
and `openalex:W123`. A DOI that arXiv itself gives (`10.48550/arXiv.2501.03236`) is that paper's arXiv id.
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
    rf"|arxiv\s{{0,3}}(?:id)?\s{{0,3}}[:：./-]?\s{{0,3}})?"
    rf"(?P<arxiv>{_NEW}|{_OLD})(?:v\d{{1,3}})?(?:\.pdf)?(?![\w/-]|\.\d)"
    rf")",
    re.IGNORECASE | re.ASCII,  # an id may stand right behind a Chinese character
)
_OF_ARXIV = re.compile(rf"10\.48550/arxiv\.({_NEW}|{_OLD})(?:v\d{{1,3}})?", re.IGNORECASE | re.ASCII)
_BARE_WORK = re.compile(r"w\d{6,15}", re.IGNORECASE | re.ASCII)
_PAIRS = {")": "(", "]": "["}
_CLOSING = ".,;:!?…*_~"

ORDER = ("arXiv:", "doi:", "openalex:")
"""Of several ids of a paper, whose kind comes first is the one it is kept under."""


def find_ids(text: str) -> list[FoundId]:
    """Return the ids in a running text, in their order; what follows as punctuation is no part of one."""
    found = []
    for match in _ID.finditer(text):
        if id := _canonical(match):
            end = match.start("doi") + len(_trim(match["doi"])) if match["doi"] else match.end()
            found.append(FoundId(id, match.start(), end))
    return found


def read_id(value: str) -> str:
    """Return the canonical id that a text consists of, whatever its spelling; empty if it is none."""
    value = value.strip().strip("<>\"'").rstrip(_CLOSING)
    if _BARE_WORK.fullmatch(value):
        return f"openalex:{value.upper()}"
    match = _ID.match(value)
    if match is None:
        return ""
    rest = value[match.end() :]
    return _canonical(match) if not rest or rest[0] in "?#" else ""


def sort_ids(ids: Iterable[str]) -> list[str]:
    """Return canonical ids, each once: first the one that a paper is kept under."""
    return sorted(set(ids), key=lambda id: (next((n for n, kind in enumerate(ORDER) if id.startswith(kind)), 9), id))


def id_key(id: str) -> str:
    """Return the key of a canonical id, with what stands in parentheses at its end."""
    return whole_key(id)


def _canonical(match: re.Match[str]) -> str:
    if match["doi"]:
        doi = _trim(match["doi"]).lower()
        if doi.endswith("/"):
            return ""
        own = _OF_ARXIV.fullmatch(doi)
        return f"arXiv:{_without_class(own[1])}" if own else f"doi:{doi}"
    if match["openalex"]:
        return f"openalex:{match['openalex'].upper()}"
    return f"arXiv:{_without_class(match['arxiv'])}"


def _without_class(id: str) -> str:
    """`math.GT/0309136` is `math/0309136`."""
    archive, slash, number = id.lower().partition("/")
    return f"{archive.partition('.')[0]}/{number}" if slash else archive


def _trim(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence around it; parentheses that it opens itself stay."""
    while doi:
        last = doi[-1]
        if last in _CLOSING or (last in _PAIRS and doi.count(last) > doi.count(_PAIRS[last])):
            doi = doi[:-1]
        else:
            break
    return doi
