"""
Names and ids of a question that occur in no chunk. The results then concern other things.

| question | namespace | absent |
| --- | --- | --- |
| `Why does kube-scheduler use the Raft leader election of Kafka?` | Kubernetes documentation | `Kafka`, `Raft` |
| `Does it run on the Nintendo Switch?` | a text with `switch` | `Nintendo Switch`: one of its words is missing |
| `What is ADR-0099?` | records up to `ADR-0016` | `ADR-0099` |
| ``How do I run `weft frobnicate`?`` | documentation of Weft | `weft frobnicate` |
| ``Where is `open_damper`?`` | "the damper opens" | `open_damper`: its parts are apart |
| `What does --force do?` | "by force", but no option | `--force` |
| `Where is the PodSecurityPolicy set?` | a chunk with `pod security policy` | none |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weft.extract.code.code_keys import code_key
from weft.extract.names import name_key
from weft.extract.papers.paper_ids import ARXIV, id_key
from weft.rank.gate import Verdict, doubt
from weft.records import Question, WrittenName
from weft.search.draft import Draft
from weft.search.question.content_terms import STOP_WORDS
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms, terms
from weft.text.normalise import is_unspaced, scripts

ABSENT = "no chunk contains {}"

MAX_READ_CHUNKS = 30
"""Maximum number of chunks with the words of a name that are read; with more chunks it counts as present."""

_QUOTES = ("`", '"', "'")
_PARAMETER_SIGNS = ("=", " =", ":", " :")
"""Signs after a parameter in code: a command line may be made from it."""

MAX_SHOWN_NAMES = 3
"""Maximum number of absent names in a note."""

MIN_SCRIPT_SHARE = 0.1
"""Share of the best chunk's letters in the script of a name. Below it the name may be written in another script."""


def doubt_absent_names(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with low confidence if the question names something that occurs nowhere."""
    verdict, question = draft.verdict, draft.query.question
    if draft.is_cited or not verdict.kept:
        return draft
    absent = [
        *_find_absent_ids(question, store=search.store),
        *_find_absent_papers(question, store=search.store),
        *(name.text for name in question.written_names if _is_unwritten(name, verdict, search)),
        *_find_absent_names(verdict, question, search),
    ]
    if not absent:
        return draft
    shown = " or ".join(f"“{name}”" for name in list(dict.fromkeys(absent))[:MAX_SHOWN_NAMES])
    return draft._replace(verdict=doubt(verdict, ABSENT.format(shown)))


def _find_absent_ids(question: Question, *, store: StoreReader) -> list[str]:
    return [
        numbered.text
        for numbered in question.numbered_ids
        if all(_is_missing(query_terms(spelling), store=store) for spelling in numbered.spellings)
        and not _is_known(numbered.spellings, store=store)
    ]


def _find_absent_papers(question: Question, *, store: StoreReader) -> list[str]:
    """Return the ids of papers that are not in the graph and that no chunk contains."""
    known = store.graph.find_known([id_key(paper.id) for paper in question.paper_ids], max_defining=1)
    numbers = {paper.id: paper.id.removeprefix(ARXIV) for paper in question.paper_ids if id_key(paper.id) not in known}
    return [id for id, number in numbers.items() if _is_missing(query_terms(number), store=store)]


def _find_absent_names(verdict: Verdict, question: Question, search: SearchContext) -> Iterator[str]:
    """Yield names with a word that occurs nowhere; names in a script that the best chunk does not use are left out."""
    ids = {numbered.text for numbered in question.numbered_ids}
    words = {word: query_terms(word)[:1] for name in question.all_names for word in name.split()}
    wanted = [term for whole in words.values() for term in whole]
    found = search.store.keyword_statistics(wanted).counts if wanted else {}
    unwritten = {word for word, whole in words.items() if not all(map(found.get, whole))}
    for name in question.all_names:
        rare = [word for word in name.split() if word in unwritten]
        if not rare or name in ids or not _is_own_script(name, verdict, search):
            continue
        absent = [word for word in rare if _is_absent(word, store=search.store)]
        if absent and not _is_known([name, *absent], store=search.store):
            yield name


def _is_own_script(name: str, verdict: Verdict, search: SearchContext) -> bool:
    """Return True if the best chunk uses the scripts of a name."""
    chunk = next(iter(search.chunks.read([verdict.kept[0].chunk_id]).values()), None)
    written = scripts(chunk.text) if chunk else {}
    return all(written.get(script, 0.0) >= MIN_SCRIPT_SHARE for script in scripts(name))


def _is_unwritten(name: WrittenName, verdict: Verdict, search: SearchContext) -> bool:
    """
    Return True if a marked name occurs nowhere. Inflected words and other letter case count as occurrences.

    | kind | occurs if |
    | --- | --- |
    | `quoted`, `command` | one chunk contains all words |
    | `code` | each part of a path occurs; the words of `open_damper` or `openDamper` follow each other |
    | `option` | one chunk contains it as an option or as a parameter |
    """
    store = search.store
    match name.kind:
        case "code":
            is_unwritten = any(
                len(word) > 2 and (_is_absent(word, store=store) or _is_apart(word, search)) for word in name.words
            )
        case "option":
            return not _has_option(name, search)  # an entity of this name is no option
        case _:
            found = dict.fromkeys(term for word in name.words for term in _plain_terms(word))
            is_unwritten = bool(found) and _is_missing(list(found), store=store)
    if not is_unwritten or (name.kind == "quoted" and not _is_own_script(name.text, verdict, search)):
        return False
    defined = [code_key(name.words[-1])] if name.kind == "command" else []  # by a function of this name
    return not _is_known([name.text], store=store, defined=defined)


def _has_option(name: WrittenName, search: SearchContext) -> bool:
    """Return True if a chunk contains an option or a parameter of its name, or if many chunks contain its words."""
    found = [term for word in name.words for term in _plain_terms(word)]
    (ids,) = search.store.find_chunks_with_terms([found], limit=MAX_READ_CHUNKS) if found else (None,)
    if not ids:
        return ids is None
    spelling = "-".join(name.words).lower()
    quoted = (f"{quote}{spelling}{quote}" for quote in _QUOTES)
    signs = [f"-{spelling}", *(f"{spelling}{sign}" for sign in _PARAMETER_SIGNS), *quoted]
    texts = [chunk.text.lower().replace("_", "-") for chunk in search.chunks.read(ids).values()]
    return any(sign in text for text in texts for sign in signs)


def _is_apart(word: str, search: SearchContext) -> bool:
    """Return True if no chunk contains a word of code, nor its parts one after the other."""
    whole, parts = _split_word(word)
    if len(parts) < 2 or any(not _is_missing([term], store=search.store) for term in whole):
        return False
    (ids,) = search.store.find_chunks_with_terms([parts], limit=MAX_READ_CHUNKS)
    return ids is not None and not any(
        terms_of[at : at + len(parts)] == parts
        for chunk in search.chunks.read(ids).values()
        for terms_of in [terms(chunk.text)]
        for at in range(len(terms_of))
    )


def _plain_terms(word: str) -> list[str]:
    """Return the terms of the parts of a word, or of the word if it is plain; none for a stop word."""
    if word.lower() in STOP_WORDS:
        return []
    found = query_terms(word)
    return [term for term in found if term.isalnum()] or found


def _is_absent(word: str, *, store: StoreReader) -> bool:
    """Return True if no chunk contains a word of a name, neither as one term nor as its parts."""
    found = query_terms(word)
    if not found or word.lower() in STOP_WORDS or not any(map(str.isalpha, word)):
        return False
    if is_unspaced(word):
        return all(_is_missing([term], store=store) for term in found)
    whole, parts = _split_word(word)
    is_unwritten = all(_is_missing([term], store=store) for term in whole)
    return is_unwritten and (len(parts) < 2 or _is_missing(parts, store=store))


def _split_word(word: str) -> tuple[set[str], list[str]]:
    """Return the terms of a word as a whole, with its stem, and those of its parts."""
    found = query_terms(word)
    whole = {*found[:1], *(query_terms(word.lower()) if word.isalpha() else ())}  # `CamelCase`, and its stem
    return whole, [term for term in found if term not in whole]


def _is_missing(terms: list[str], *, store: StoreReader) -> bool:
    """Return True if no chunk contains all of these terms."""
    return store.find_chunks_with_terms([terms], limit=1) == [[]]


def _is_known(names: Iterable[str], *, store: StoreReader, defined: Sequence[str] = ()) -> bool:
    """Return True if an entity has one of these names, such as an alias that no text contains."""
    keys = [key for name in names for key in (name_key(name), code_key(name.removesuffix("()")))]
    return bool(store.graph.find_known([*keys, *defined], max_defining=1))
