"""A small library of papers for these tests, as a loader of research findings gives it."""

from weft.records import Claim, Document, Extraction, Nomination
from weft.text.names import name_key
from weft.text.paper_ids import id_key


def paper(number, title, *, year=None, authors=(), ids=(), cites=(), introduces=(), text=""):
    """Return a paper; `cites` are titles or ids, of papers that need not be there."""
    key = name_key(title)
    nominations = [Nomination(key=key, name=title, kind="given", type="paper", about=True)]
    nominations += [
        Nomination(key=id_key(id), name=id, kind="given", type="paper", about=True, alias_of=key, reason="its id")
        for id in ids
    ]
    claims = []
    for type, kind, names in (
        ("written_by", "person", authors),
        ("cites", "paper", cites),
        ("introduces", "concept", introduces),
    ):
        for name in names:
            other = id_key(name) if ":" in name else name_key(name)
            nominations.append(Nomination(key=other, name=name, kind="given", type=kind))
            claims.append(Claim(source=key, target=other, type=type, weight=10.0))
    metadata = {"type": "paper", "authors": list(authors), "ids": list(ids)} | ({"year": year} if year else {})
    return Document(
        source=f"findings.json#p{number}",
        title=title,
        text=text or f"Abstract number {number}.",
        metadata=metadata,
        given=Extraction(nominations=tuple(nominations), claims=tuple(claims)),
    )


MAGMA = "MAGMA: A Multi-Graph Memory Architecture for Agents"
"""The paper most questions of these tests are about."""

LIBRARY = (
    paper(
        1,
        MAGMA,
        year=2025,
        authors=("Ada Lovelace", "Turing, A."),
        ids=("arXiv:2501.03236",),
        cites=("Paging in Small Memories", "arXiv:1706.03762", "A Paper Nobody Has"),
        introduces=("semantic memory", "graph memory"),
    ),
    paper(
        2,
        "Paging in Small Memories",
        year=1969,
        authors=("Turing, A.",),
        ids=("doi:10.1145/363011.363155",),
        introduces=("paging",),
    ),
    paper(3, "Forgetting on Purpose", year=2025, authors=("Ada Lovelace",), cites=("arXiv:2501.03236",)),
    paper(
        4,
        "Long Conversations without Loss",
        year=2026,
        cites=("arXiv:2501.03236", "Paging in Small Memories", "Attention and Its Costs"),
        introduces=("semantic memory",),
    ),
    paper(5, "A Survey of Agent Memory", year=2026, authors=("Hopper, G.",), cites=("Forgetting on Purpose",)),
    paper(6, "Attention and Its Costs", authors=("Hopper, G.",), ids=("arXiv:1706.03762",)),
)
