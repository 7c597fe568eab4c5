"""The contract of stores (`weft.testing.store_contract`) for each kind of database, with random namespaces."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opening import open_empty

from weft.records import Filter
from weft.testing import store_contract
from weft.testing.store_contract import CALIBRATION, EVERYTHING, MODEL, at, found, keyword, make_batch, unit
from weft.text.analyzer import count_terms, query_terms
from weft.text.ids import chunk_id, document_id
from weft.text.split import indexed_text

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

    def test_the_latest_chunks_are_those_that_pass_a_filter(self, store):
        """By start time; chunks of the same time by id. Chunks without a time are left out."""
        times_by_name = {"talk": [10, 30, 20], "chat": [30, 25, None]}
        for name, times in times_by_name.items():
            batch = make_batch(name, [f"{name} {time}" for time in times], metadata={"project": name})
            chunks = [
                replace(item, chunk=replace(item.chunk, start_time=time, end_time=time))
                for item, time in zip(batch.chunks, times, strict=True)
            ]
            assert store.passages.have_times() == (name == "chat")
            store.write(replace(batch, chunks=tuple(chunks)))
        assert store.passages.have_times()

        def recent(limit=9, **where):
            return [chunk.text for chunk in store.passages.latest(Filter(**where), limit=limit)]

        both = [
            chunk.text for chunk in sorted(store.passages.latest(Filter(after=at(30)), limit=9), key=lambda c: c.id)
        ]
        assert sorted(both) == ["chat 30", "talk 30"]
        assert recent() == [*both, "chat 25", "talk 20", "talk 10"]
        assert recent(limit=3) == [*both, "chat 25"]
        assert recent(after=at(20), before=at(30)) == ["chat 25", "talk 20"]
        assert recent(metadata=(("project", "talk"),)) == ["talk 30", "talk 20", "talk 10"]
        assert recent(metadata_excluded=(("project", "talk"),)) == ["chat 30", "chat 25"]
        assert recent(source_prefix="cha", documents=(document_id("default", "chat"),)) == ["chat 30", "chat 25"]
        assert recent(limit=0) == []

    def test_a_part_of_a_long_answer_knows_its_opening_chunk(self, store):
        """The last chunk without a heading before it, in its own document; openings and pages are left out."""
        headings = [("A",), (), ("B",), ("B",), (), ("C",)]
        for name, time in (("talk", 10), ("page", None)):
            batch = make_batch(name, [f"{name} {number}" for number in range(6)])
            chunks = []
            for item, heading in zip(batch.chunks, headings, strict=True):
                text = indexed_text(name, heading, item.chunk.text)
                id = chunk_id(item.chunk.document_id, text, 0)
                chunk = replace(item.chunk, id=id, start_time=time, end_time=time, heading=heading)
                chunks.append(replace(item, chunk=chunk, terms=count_terms(text)))
            store.write(replace(batch, chunks=tuple(chunks)))
        talk = store.find_chunks(document_id("default", "talk"))
        asked = [*talk, *store.find_chunks(document_id("default", "page"))]

        found = store.passages.openings([*(chunk.id for chunk in asked), "unknown"])

        assert found == {talk[2].id: talk[1], talk[3].id: talk[1], talk[5].id: talk[4]}
        answers = store.passages.answers([*(chunk.id for chunk in asked), "unknown"])
        assert answers == {talk[1].id: talk[2], talk[4].id: talk[5]}

    @settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
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
