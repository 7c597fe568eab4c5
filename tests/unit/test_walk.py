"""Walk: names that carry activation, preferably those with a defining chunk."""

from itertools import pairwise

import pytest

from weft.config import GraphOptions
from weft.records import Entity, Known, Links, Mention, Relation
from weft.search.graph.relations import Relations
from weft.search.graph.walk import MAX_EXPANDED_CHUNKS, RELATION_SHARE, WEAK_ENTITY_FACTOR, walk
from weft.search.question.entities import Seed, recognise_names
from weft.search.question.read import read_question


def mention(entity, chunk, *, about=False, **more):
    return Mention(entity_id=f"e{entity}", chunk_id=f"c{chunk}", count=1, about=about, chunks=2, **more)


class Mentioned:
    """A graph of mentions alone, in which every entity is named by its key."""

    def __init__(self, *mentions, spread=None, relations=()):
        self.mentions = mentions
        self.spread = spread or {}
        self.relations = relations

    def size(self):
        return 100

    def find_entities(self, keys):
        known = {m.entity_id[1:] for m in self.mentions}
        return {key: self.entity(key) for key in keys if key in known}

    def find_known(self, keys, *, max_defining):
        return {
            key: Known(entity.id, entity.strong, entity.chunks, sum(m.about for m in self.mentions_of([entity.id])))
            for key, entity in self.find_entities(keys).items()
        }

    def find_key_prefixes(self, pairs):
        return set()

    def entity(self, key):
        return Entity(id=f"e{key}", key=key, name=key, chunks=self.spread.get(key, 1))

    def mentions_of(self, ids, *, limit=20):
        return [m for m in self.mentions if m.entity_id in ids]

    def mentions_in(self, ids, *, about=False):
        return [m for m in self.mentions if m.chunk_id in ids and (m.about or not about)]

    def links_of(self, ids, **_):
        relations = [r for r in self.relations if {r.source_id, r.target_id} & set(ids)]
        return Links(self.mentions_of(ids), relations, {id: id[1:] for id in ids}, {}, [])


HOME = (mention("film", "film", about=True), mention("director", "film"), mention("director", "home", about=True))


def scores(*mentions, **options):
    graph = Mentioned(*mentions)
    seed = Seed(entity=graph.entity("film"), weight=1.0, words=1, how="named")
    hits, _ = walk([seed], relations=Relations(graph=graph), options=GraphOptions(prune=0.0, **options))
    return {hit.chunk_id: hit.score for hit in hits}


@pytest.mark.parametrize(
    ("chunks", "leads_on"), [(MAX_EXPANDED_CHUNKS, True), (MAX_EXPANDED_CHUNKS + 1, False), (40, False)]
)
def test_many_chunks_with_the_same_activation_are_found_but_lead_nowhere(chunks, leads_on):
    """To look where each of them leads is what a walk would spend its time on."""
    holding = [mention(name, n, elsewhere=True) for n in range(chunks) for name in ("film", "director")]
    found = scores(*holding, mention("director", "home", about=True))

    assert len(found) == chunks + leads_on
    assert ("chome" in found) == leads_on


@pytest.mark.parametrize(
    ("least", "found"),
    [
        (0.0, {"cfilm", "cone", "ctwo", "cmany", "chome"}),
        (0.3, {"cfilm", "cone", "ctwo", "cmany", "chome"}),
        (0.31, {"cfilm", "ctwo", "cmany"}),
        (0.4, {"cfilm", "ctwo", "cmany"}),
        (0.5, {"cfilm", "cmany"}),
        (0.6, {"cfilm", "cmany"}),
        (0.7, {"cfilm"}),
        (1.0, {"cfilm"}),
    ],
)
def test_mentions_that_are_too_weak_are_not_followed(least, found):
    """A chunk about it weighs 10; one that names it once 3, twice 4, four times and more 6."""
    named = [mention("film", place)._replace(count=n) for place, n in (("one", 1), ("two", 2), ("many", 9))]

    assert scores(*HOME, *named, min_graph_score=least).keys() == found


def test_what_a_chunk_names_too_rarely_does_not_lead_on():
    """The director is named once beside the film, and then three times."""
    often = (HOME[0], HOME[1]._replace(count=3), HOME[2])

    assert "chome" not in scores(*HOME, min_graph_score=0.5)
    assert "chome" in scores(*often, min_graph_score=0.5)
    assert "chome" not in scores(*often, min_graph_score=0.6)


def test_at_its_default_the_least_score_changes_nothing():
    """This includes mentions that an import states without a count."""
    uncounted = (HOME[0], HOME[1]._replace(count=0), HOME[2])
    for mentions in (HOME, uncounted):
        assert scores(*mentions) == scores(*mentions, min_graph_score=0.0)


def test_names_that_stand_in_one_chunk_alone_take_nothing_from_the_others():
    """However many a reader finds in a chunk, what it leads on to stays as it was."""
    dead_ends = [mention(f"name{n}", "film", elsewhere=False, has_defining_chunk=False) for n in range(9)]

    assert scores(*HOME, *dead_ends) == scores(*HOME)
    assert scores(*HOME, *(end._replace(elsewhere=True) for end in dead_ends))["chome"] < scores(*HOME)["chome"]


def test_a_name_no_chunk_is_about_gets_a_smaller_share():
    """Both stand beside the film; the director has a page, the cast is only named elsewhere."""
    cast = (mention("cast", "film", has_defining_chunk=False), mention("cast", "other", has_defining_chunk=False))
    found = scores(*HOME, *cast)
    equal = scores(*HOME, *(m._replace(has_defining_chunk=True) for m in cast))

    assert found["chome"] > equal["chome"]
    assert found["cother"] / found["chome"] < equal["cother"] / equal["chome"]
    assert WEAK_ENTITY_FACTOR < 1


@pytest.mark.parametrize(("chunks", "share"), [(1, 1.0), (3, 1.0), (30, 0.1)])
def test_a_name_without_a_home_starts_a_walk_by_how_few_chunks_hold_it(chunks, share):
    """One mentioning passage is a start, thirty are not. With a defining chunk, the number does not matter."""
    homeless, housed = (
        recognise_names(read_question("where is Silverton?"), graph=Mentioned(m, spread={"silverton": chunks}))[0]
        for m in (mention("silverton", "one"), mention("silverton", "one", about=True))
    )

    assert (homeless.defining_chunks, housed.defining_chunks) == (0, 1)
    assert homeless.weight == pytest.approx(share * housed.weight)


def test_no_node_gives_away_more_than_it_has():
    """Relations of an entity count once, also where the other end is looked up later."""
    names = ("film", "director", "city", "country")
    related = [Relation(source_id=f"e{a}", target_id=f"e{b}", type="of", weight=8.0) for a, b in pairwise(names)]
    graph = Mentioned(*HOME, *(mention(name, name, about=True) for name in names), relations=related)
    seed = Seed(entity=graph.entity("film"), weight=1.0, words=1, how="named")
    _, state = walk([seed], relations=Relations(graph=graph), options=GraphOptions(prune=0.0))

    given = {node: sum(share for _, share in edges) for node, edges in state.edges.items()}
    assert {"efilm", "edirector", "ecity"} <= given.keys()
    assert all(share <= 1 + 1e-9 for share in given.values())
    over = {node: sum(share for to, share in edges if to[0] == "e") for node, edges in state.edges.items()}
    assert over["efilm"] == over["edirector"] == pytest.approx(RELATION_SHARE)
