"""Factories of small real objects."""

from weft.admin.exchange_graphs import export_graph
from weft.config import SearchOptions, SplitOptions
from weft.index.run import index_documents
from weft.records import ChannelHit, Chunk, Document, DocumentInfo, Evidence, Filter, Query, StoredModel
from weft.search.cite import cite
from weft.search.draft import Draft
from weft.search.question.choose_method import Plan
from weft.search.question.read import read_question
from weft.search.run import find
from weft.search.search_context import SearchContext


def make_evidence(
    text, *, score=0.5, title="Title", heading=(), source="notes.md", number=0, channels=None, unit="line"
):
    """Return a piece of evidence that cites lines 3 to 9."""
    document = DocumentInfo(
        id="d" + "0" * 24, source=source, title=title, metadata={}, content_hash="", chunk_count=1, unit=unit
    )
    chunk = Chunk(
        id=f"c{number:024x}",
        document_id=document.id,
        ordinal=number,
        heading=heading,
        start_line=3,
        end_line=9,
        text=text,
    )
    channels = {"vector": ChannelHit(rank=1, score=score)} if channels is None else channels
    return Evidence(chunk=chunk, document=document, score=score, channels=channels, citation=cite(document, chunk))


def adopt(store, embedder):
    """Make an embedder the one that answers in a store."""
    card = embedder.card
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    return store


def fill(store, embedder, /, **texts):
    """Index each text under its name, which is its title too."""
    documents = [Document(source=name, title=name, text=text) for name, text in texts.items()]
    return index_documents(documents, store=store, embedder=embedder, options=SplitOptions())


def ask(store, embedder, text, *, where=None, **options):
    """Answer a question as the engine does."""
    search = SearchContext(store=store, embedder=embedder, options=SearchOptions(**options), where=where or Filter())
    return find(text, search)


def sources(result):
    return [piece.document.source for piece in result.evidence]


def stated(engine):
    """Return the relations of an engine's graph with their weights."""
    graph = export_graph(engine)
    return {(r.source, r.type, r.target): r.weight for r in graph.relations}


def make_draft(question="what is that", /, *, vector_weight=1.0, **fields):
    """Return the draft of a mixed answer to a question; fields that are not given are empty."""
    query = Query(question=read_question(question), terms=(), vector=None, vector_weight=vector_weight)
    return Draft(**{"query": query, "plan": Plan(method="mix"), **fields})
