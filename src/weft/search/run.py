"""
Read path: ranked and explained evidence for a question.

    text ─read─→ Question ─choose─→ Plan ─embed─→ Query ─ask channels─→ Draft ─join graph─→ Draft ─judge─→ Draft
         ─find neighbours─→ Draft ─select─→ Draft ─(rerank)─→ Draft ─build─→ Result

Every stage takes the draft of the answer and the `SearchContext`, and fills some fields of the draft. Between the
stages, `corrections.py` changes it. Each stage is timed under its own name.
"""

from __future__ import annotations

from dataclasses import replace

from weft.choices import GRAPH, KEYWORD, VECTOR
from weft.records import Query, Question, Result
from weft.search.channels import ask_channels
from weft.search.graph.join import join_graph
from weft.search.graph.page_neighbours import add_neighbours
from weft.search.judge import judge
from weft.search.question.choose_method import Plan, choose_method
from weft.search.question.embed import embed_question
from weft.search.question.read import read_question
from weft.search.question.respell import respell_names
from weft.search.relations.verdict import add_answer, ask_relations, confirm_relations
from weft.search.rerank import ask_reranker, read_pool, reselect
from weft.search.result import build_result
from weft.search.search_context import SearchContext
from weft.search.selection import read_candidates, select_hits
from weft.search.timeline import answer_period


def find(text: str, search: SearchContext) -> Result:
    """
    Return the evidence for a question, or the reason why there is not enough.

    A question about a time alone gets the exchanges of that time.
    A reranker changes the order but not the confidence. No read transaction is open during a call to the reranker.
    """
    store, reranker = search.store, search.reranker
    if (listed := answer_period(text, search)) is not None:
        return listed
    with search.stopwatch.stage("parse"), store.reading():
        asked = read_question(text)
        question = respell_names(asked, store)
    plan = choose_method(question, search)
    query = _embed(question, plan, search)
    with store.reading():
        draft = join_graph(ask_channels(query, plan, search), search)
        answer = None if draft.is_cited else ask_relations(question, plan, search)
        draft = read_candidates(judge(draft, search), search)
        draft = draft._replace(verdict=confirm_relations(draft.verdict, answer))
        draft = select_hits(add_neighbours(draft, search), search)
        if reranker is None:
            return replace(add_answer(build_result(draft, search), answer), query=asked.text)
        texts = read_pool(draft, search)
    opinion = ask_reranker(question, texts, search, reranker=reranker, is_cited=draft.is_cited)
    with store.reading():
        reopened = replace(search)  # the chunks of the first transaction may be outdated
        result = build_result(reselect(draft, opinion, reopened), reopened, opinion=opinion)
        return replace(add_answer(result, answer), query=asked.text)


def _embed(question: Question, plan: Plan, search: SearchContext) -> Query:
    with search.stopwatch.stage("embed"):
        return embed_question(
            question,
            embedder=search.embedder,
            wants_vector=VECTOR in plan.channels or (GRAPH in plan.channels and not plan.is_cited),
            wants_keyword=KEYWORD in plan.channels,
        )
