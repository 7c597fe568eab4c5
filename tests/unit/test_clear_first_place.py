"""The graph adds below a clear first place of hybrid search, and replaces an unclear one."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.search.document_spread import MAX_RIVAL_SHARE
from weft.testing import FakeEmbedder

TITLES = ("Ochre Valve", "Basalt Pump", "Cedar Gear", "Denim Latch", "Ember Crane", "Fjord Hinge")
WORDS = "rust frost leak noise smoke grease spark dust".split()
ALIKE = list(HealthCheck)


@settings(max_examples=12, deadline=None, suppress_health_check=ALIKE)
@given(data=st.data())
def test_a_clear_first_place_of_hybrid_search_stays(tmp_path_factory, data):
    """The question names one thing and asks for another: `Which part stops the leak of Ochre Valve?`"""
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(TITLES), st.sampled_from(TITLES)), max_size=15))
    texts = {title: data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)) for title in TITLES}
    links = {title: " ".join(f"[[{end}]]" for one, end in pairs if one == title != end) for title in TITLES}
    named, asked = data.draw(st.sampled_from(TITLES)), data.draw(st.lists(st.sampled_from(WORDS), min_size=1))
    with open_engine(tmp_path_factory.mktemp("notes") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(
            [
                Document(
                    source=f"{title}.md",
                    title=title,
                    text=f"# {title}\n\nStops {' and '.join(texts[title])}. {links[title]}",
                    form="markdown",
                )
                for title in TITLES
            ]
        )
        question = f"Which part stops {' and '.join(asked)} of the {named}?"
        plain = engine.query(question, method="hybrid").evidence
        mixed = engine.query(question, method="mix").evidence

    others = [piece.score for piece in plain if piece.document.id != plain[0].document.id] if plain else []
    if plain and max(others, default=0.0) < MAX_RIVAL_SHARE * plain[0].score:
        assert mixed[0].chunk.id == plain[0].chunk.id
