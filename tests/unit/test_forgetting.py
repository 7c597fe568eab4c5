"""Forgotten facts are absent from answers, caches, exports and the file, whatever their history."""

from datetime import datetime, timedelta, timezone

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.admin.exchange_facts import export_facts
from weft.admin.exchange_graphs import export_graph
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound
from weft.facts import lifecycle
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
ADD = st.tuples(
    st.just("add"),
    st.sampled_from(["lives in", "prefers"]),
    st.sampled_from(["value", "object", "subject", "document"]),
)
LATER = st.tuples(
    st.sampled_from(["confirm", "reject", "expire", "supersede", "forget", "recall", "again"]),
    st.integers(0, 9),
    st.sampled_from(["value", "object"]),
)
STEPS = st.lists(st.one_of(ADD, LATER), min_size=2, max_size=14)


class Life:
    """Plays steps on an engine. Each fact carries a word that stands nowhere else."""

    def __init__(self, path):
        self.now = NOW
        given = {"store.db": str(path), "memory.single_valued": ["lives in"], "graph.extractor": "none"}
        chosen = read_settings(given, environment={}, folder=path.parent)
        self.engine = Engine(chosen, embedder=FakeEmbedder(), clock=lambda: self.now)
        self.memory = self.engine.memory
        self.words: dict[str, set[str]] = {}
        """The words that a fact carries, by its id."""
        self.used: list[str] = []

    @property
    def forgotten(self):
        """The words that no fact carries any more."""
        return set(self.used) - set().union(*self.words.values())

    def play(self, step):
        verb, first, kind = step
        self.now += DAY
        facts = list(self.memory.list())
        try:
            if verb == "add":
                self._add(first, kind)
            elif verb == "recall":
                self._recall()
            elif facts:
                self._change(verb, facts[first % len(facts)], kind)
        except (InputError, NotFound):
            return

    def _word(self):
        self.used.append(f"zqword{len(self.used):03}x")
        return self.used[-1]

    def _note(self, done, *words):
        if done.outcome == "added":
            self.words[done.fact.id] = {word for word in words if word.startswith("zq")}

    def _add(self, predicate, kind):
        word = self._word()
        if kind == "document":
            text = f"# User\n\n- {predicate}: {word}\n\nA note.\n"
            self.engine.add_text(text, source=f"note{word}", title="User")
            self.engine.delete(f"text:note{word}")
            return
        if kind == "subject":
            done = self.memory.add(word, predicate, "tea")
        elif kind == "object":
            done = self.memory.add("user", predicate, object=word, note=f"about {word}")
        else:
            done = self.memory.add("user", predicate, word, description="who asks")
        self._note(done, word)

    def _change(self, verb, fact, kind):
        match verb:
            case "confirm":
                self.memory.confirm(fact.id)
            case "reject":
                self.memory.reject(fact.id, reason=f"no {fact.value}")
            case "expire":
                self.memory.expire(fact.id)
            case "again":
                what = {"object" if fact.object else "value": fact.value}
                done = self.memory.add(fact.subject_name, fact.predicate, source="user_edit", **what)
                self._note(done, *self.words[fact.id])
            case "supersede":
                word = self._word()
                done = self.memory.supersede(fact.id, **{kind: word})
                self._note(done, word, fact.subject_name)
            case "forget":
                assert self.memory.forget(fact.id) == 1
                del self.words[fact.id]

    def _recall(self):
        for word in sorted(set().union(*self.words.values())):
            self.memory.recall(f"what of {word}?")
        self.memory.recall("what do I prefer?")

    def said(self):
        """Return all that leaves the engine, and what it keeps to answer again."""
        kept = [fact.id for fact in self.memory.list()]
        return "\n".join(
            [
                str(vars(self.engine._recalls)),
                str(list(self.memory.list())),
                str([self.memory.history(id) for id in kept]),
                *export_facts(self.engine),
                *export_facts(self.engine, form="memory"),
                str(export_graph(self.engine, facts=True)),
                str([self.memory.recall(word).facts for word in self.forgotten]),
                str(self.memory.audit()),
            ]
        )


def check_lives(life_, words):
    """Check single-valued predicates, complete histories and valid references."""
    memory, now = life_.memory, life_.now
    facts = {fact.id: fact for fact in memory.list()}
    assert facts.keys() == words.keys()
    for fact in facts.values():
        actions = [event.action for event in memory.history(fact.id)]
        assert actions[0] == "added" and (fact.status == "staged" or fact.status in actions)
        assert not fact.supersedes or fact.supersedes in facts
        assert all(not event.other or event.other in facts for event in memory.history(fact.id))
    for at in {now, *(lifecycle.valid_since(fact) for fact in facts.values())}:
        for subject in {fact.subject for fact in facts.values()}:
            homes = [f for f in facts.values() if (f.subject, f.predicate) == (subject, "lives_in")]
            assert sum(f.status == "confirmed" and lifecycle.holds(f, at=at) for f in homes) <= 1


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, recalled_last=st.booleans())
def test_what_is_forgotten_is_nowhere(tmp_path_factory, steps, recalled_last):
    """Any sequence of add, confirm, reject, supersede, expire, forget, of facts by hand and of documents."""
    folder = tmp_path_factory.mktemp("life")
    played = Life(folder / "weft.db")
    for step in steps:
        played.play(step)
    if recalled_last:
        played._recall()
        for fact in list(played.memory.list())[:1]:
            played._change("forget", fact, "value")

    check_lives(played, played.words)
    assert played.engine.database.check() == []
    said = played.said()
    assert not [word for word in played.forgotten if word in said]
    played.engine.database.compact()
    played.engine.close()
    held = b"".join(path.read_bytes() for path in folder.iterdir())
    assert not [word for word in played.forgotten if word.encode() in held]
    assert all(word.encode() in held for words in played.words.values() for word in words)
