"""The contract of stores (`weft.testing.store_contract`) for each kind of database, with random namespaces."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opening import open_empty

from weft.records import Filter
from weft.testing import store_contract
from weft.testing.store_contract import CALIBRATION, EVERYTHING, MODEL, found, keyword, make_batch, unit
from weft.text.analyzer import query_terms

__all__ = ["CALIBRATION", "EVERYTHING", "MODEL", "StoreContract", "found", "keyword", "make_batch", "unit"]


class StoreContract(store_contract.StoreContract):
    kind = ""
    """Of the database; each adapter's class says which."""

    @pytest.fixture
    def database(self, request):
        database = open_empty(self.kind, request)
        yield database
        assert database.check() == []
        database.close()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_another_namespace_never_appears(self, database, data):
        """Searches by word, vector, id, prefix or filter return only documents of the own namespace."""
        self.look_for_others(database, data)

    def look_for_others(self, database, data):
        words = st.sampled_from(["alpha", "beta", "gamma", "密钥", "common", "x-1"])
        text = st.lists(words, min_size=1, max_size=4).map(" ".join)
        for name in ("mine", "theirs"):
            database.drop(name)
            store = database.store(name)
            store.write_model(MODEL)
            for number, content in enumerate(data.draw(st.lists(text, min_size=1, max_size=4))):
                store.write(make_batch(f"f{number}", [f"{content} {name}"], namespace=name))
        mine, theirs = database.store("mine"), database.store("theirs")
        foreign = [c.id for d in theirs.find_documents(EVERYTHING) for c in theirs.find_chunks(d.id)]
        where = data.draw(st.sampled_from([EVERYTHING, Filter(source_prefix="f"), Filter(documents=tuple(foreign))]))
        rankings = [
            mine.search_keyword(query_terms(data.draw(text) + " theirs"), limit=50, where=where),
            mine.search_vector(unit(1, 2, 3), limit=50, where=where),
        ]
        for ranking in rankings:
            assert all(text.endswith("mine") for text in found(ranking, mine))
        assert mine.chunks(foreign) == []
        assert mine.documents([d.id for d in theirs.find_documents(EVERYTHING)]) == []
        assert mine.delete([d.id for d in theirs.find_documents(EVERYTHING)]) == 0
        assert all(mine.find_chunks(d.id) == [] for d in theirs.find_documents(EVERYTHING))
