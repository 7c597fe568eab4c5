"""Extractions of small texts."""

from weft.extract.rules import RuleExtractor
from weft.records import Chunk, Document


def make_chunk(text, *, ordinal=0, heading=()):
    return Chunk(
        id=f"c{ordinal}", document_id="d", ordinal=ordinal, heading=heading, start_line=1, end_line=1, text=text
    )


def extract_all(*texts, title="Session Store", form="markdown", heading=(), metadata=None):
    """Return the extraction of each text as one chunk of one document."""
    document = Document(source="x", title=title, text="\n".join(texts), form=form, metadata=metadata or {})
    chunks = [make_chunk(text, ordinal=place, heading=heading) for place, text in enumerate(texts)]
    return RuleExtractor().extract(document, chunks)


def extract(text, **options):
    """Return the extraction of a document with one chunk."""
    return extract_all(text, **options)[0]


def names(extraction, *kinds):
    """Return the proposed names of these kinds, in order."""
    return [n.name for n in extraction.candidates if n.kind in kinds]


def find(extraction, key, kind):
    """Return one candidate."""
    return next(n for n in extraction.candidates if (n.key, n.kind) == (key, kind))


def aliases(extraction):
    """Return (name, key it stands for) of all aliases."""
    return [(n.name, n.alias_of) for n in extraction.candidates if n.alias_of]


def stated_relations(extraction, *, least=0.0):
    """Return (source, type, target) of the stated relations with at least this weight."""
    return [(c.source, c.type, c.target) for c in extraction.stated_relations if c.weight >= least]
