"""
Names of a question that the namespace describes, but never together with what the question says of them.

| question | passages with the name | doubted |
| --- | --- | --- |
| `Why does kube-scheduler store its leader lease in Cassandra?` | three, of a database | yes: none is about leases |
| `Why does a CronJob need the Calico plugin to parse its schedule?` | five, of networks | yes |
| `Why can the same endpoint show up in more than one EndpointSlice?` | many with `endpoint` | no |
| `Why did the Huguenots leave?` | the best one, in other words | no |

`Why` and `How does` presuppose what they ask about. Other questions join facts of several passages: that of a film
says nothing of the birthplace of its director.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.rank.gate import doubt
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.text.analyzer import query_terms, terms

UNRELATED = "“{}” is described in {}, but no passage there is about the rest of the question"

MAX_READ_CHUNKS = 100
"""Maximum number of chunks with a name that are read; a name in more is a subject of the namespace."""

MIN_OTHER_TERMS = 3
"""Number of other content terms from which a question says enough of a name."""

MAX_SHARED_TERMS = 1
"""Number of these terms that a passage may contain by chance."""

_PRESUPPOSES = re.compile(
    r"^\s{0,9}(?:why|how (?:do|does|did|is|are|was|were|can|could|should|must|will|would)) |为什么|为何|怎样|怎么|如何",
    re.IGNORECASE,
)


def doubt_unrelated_names(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with low confidence if the question presupposes what no passage with a name of it says."""
    verdict, question = draft.verdict, draft.query.question
    if draft.is_cited or verdict.status != "ok" or not verdict.kept or not _PRESUPPOSES.search(question.text):
        return draft
    for name in question.all_names:
        own = query_terms(name)
        others = [term for term in question.content_terms if term not in own]
        if own and len(others) >= MIN_OTHER_TERMS and (found := _find_unrelated(own, others, draft, search)):
            return draft._replace(verdict=doubt(verdict, UNRELATED.format(name, found)))
    return draft


def _find_unrelated(own: Sequence[str], others: Sequence[str], draft: Draft, search: SearchContext) -> str:
    """Return the citation of a passage with a name if the best one lacks it, and none with it has two other terms."""
    (ids,) = search.store.find_chunks_with_terms([list(own)], limit=MAX_READ_CHUNKS)
    if not ids or draft.verdict.kept[0].chunk_id in ids:
        return ""
    for chunk in search.chunks.read(ids).values():
        if len(set(others).intersection(terms("\n".join((*chunk.heading, chunk.text))))) > MAX_SHARED_TERMS:
            return ""
    return search.chunks.cite(ids)[ids[0]]
