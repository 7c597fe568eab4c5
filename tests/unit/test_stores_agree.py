"""Equal behaviour of the in-memory store and a file."""

from making import adopt, fill


def test_a_namespace_that_was_only_looked_at_is_none(database, embedder):
    """Dropping it drops nothing; one that was written to is dropped once."""
    assert database.store("looked").stats().documents == 0
    assert not database.drop("looked")
    fill(adopt(database.store("written"), embedder), embedder, a="text")
    assert database.drop("written")
    assert not database.drop("written")
    assert database.namespaces() == []


def test_both_stores_rank_alike(database, embedder, tmp_path):
    """The same documents and questions give the same hits and scores."""
    from memory_store.store import MemoryDatabase

    from weft.records import Filter
    from weft.text.analyzer import query_terms

    texts = {f"d{n}": f"common words {'rare ' * (n % 3)} number {n} {'long ' * n}" for n in range(30)}
    rankings = []
    for store in (database.store("default"), MemoryDatabase().store("default")):
        fill(adopt(store, embedder), embedder, **texts)
        vector = embedder.embed(["rare number 7"])[0]
        words = store.search_keyword(query_terms("rare number 7"), limit=20, where=Filter())
        rankings.append((store.search_vector(vector, limit=20, where=Filter()), words))

    for first, second in zip(*rankings, strict=True):
        assert [hit.chunk_id for hit in first.hits] == [hit.chunk_id for hit in second.hits]
        assert all(abs(a.score - b.score) < 1e-5 for a, b in zip(first.hits, second.hits, strict=True))
        assert abs(first.mean - second.mean) < 1e-5
        assert abs(first.ceiling - second.ceiling) < 1e-9
