"""
Questions of one common word, or of an affirmation: they ask for nothing, so no answer to them is certain.

| question | namespace | doubted |
| --- | --- | --- |
| `yes`, `ok, thanks`, `好的` | any | yes |
| `file` | a documentation tree with hundreds of files | yes |
| `file` | the same with a page or heading `File` | no |
| `eviction` | three chunks contain it | no |
"""

from __future__ import annotations

from weft.extract.lexicon import word_set
from weft.rank.gate import doubt
from weft.records import Question
from weft.search.confidence import is_heading
from weft.search.draft import Draft
from weft.search.search_context import SearchContext

AFFIRMATIONS = word_set(
    "yes yeah yep no nope ok okay sure fine great good nice cool right correct done thanks thank you thx please hello "
    "hi hey bye well indeed exactly agreed maybe is 好的 好 是 是的 对 不 不是 谢谢 可以 行 嗯 你好"
)
"""Words of replies that ask for nothing."""

COMMON_WORD_SHARE = 50
"""A word in one of this many chunks is common."""

MIN_COMMON_CHUNKS = 10
"""Number of chunks from which a word can be common."""

BARE = "the question is one common word"


def doubt_bare_words(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with low confidence if the question is one common word or a bare affirmation."""
    verdict, question = draft.verdict, draft.query.question
    if draft.is_cited or verdict.status != "ok" or len(question.words) > 3:
        return draft
    if is_heading(verdict.kept, question, search) or not (_is_affirmation(question) or _is_common(question, search)):
        return draft
    return draft._replace(verdict=doubt(verdict, BARE))


def _is_affirmation(question: Question) -> bool:
    return all(word.text in AFFIRMATIONS for word in question.words)


def _is_common(question: Question, search: SearchContext) -> bool:
    if len(question.words) != 1 or len(question.content_terms) != 1 or question.words[0].is_name_like:
        return False
    limit = max(MIN_COMMON_CHUNKS, search.store.graph.size() // COMMON_WORD_SHARE)
    return search.store.find_chunks_with_terms([question.content_terms], limit=limit) == [None]
