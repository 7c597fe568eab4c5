"""Facts that match the words of a question come first, however many others exist."""

from datetime import datetime, timedelta, timezone

import pytest

from weft.config import MemoryOptions, Settings
from weft.engine.engine import Engine
from weft.records import Fact, GivenFact
from weft.search.facts.match import fact_terms, match, pick
from weft.search.question.read import read_question

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


@pytest.fixture
def make_engine(database, embedder):
    def make(facts, **options):
        settings = Settings(memory=MemoryOptions(**options))
        engine = Engine(settings, database=database, embedder=embedder, clock=lambda: NOW)
        engine.memory.add_many(facts)
        return engine

    return make


def fact(predicate, value, *, id="1", subject="user"):
    return Fact(id=id, subject=subject, subject_name=subject, predicate=predicate, value=value, created=NOW)


def told(found):
    return [f"{piece.fact.subject_name} {piece.fact.predicate} {piece.fact.value}" for piece in found.facts]


@pytest.mark.parametrize(
    "text, names, expected",
    [
        ("Which database does Kiln Log use?", ["Kiln Log"], {"databas", "use"}),
        ("What do you know about me?", ["user"], set()),
        ("What is JACQ?", ["JACQ"], set()),
        ("我喜欢喝什么茶", [], {"喜欢", "欢喝"}),
    ],
)
def test_what_is_asked_is_what_names_and_question_words_leave(text, names, expected):
    """English words by their stems, Chinese ones by pairs of characters that say something."""
    assert fact_terms(read_question(text), names=names) >= expected
    assert not fact_terms(read_question(text), names=names) & {"what", "which", "kiln", "log", "jacq", "me", "什么"}


def test_a_fact_matches_by_predicate_and_value():
    """Each term counts once."""
    asked = fact_terms(read_question("Which glaze do I fire in the kiln?"), names=[])

    assert match(fact("fires", "the glaze in a kiln, a kiln with gas"), asked) == 3
    assert match(fact("drinks", "tea"), asked) == 0
    assert match(fact("fires", "the glaze"), frozenset()) == 0


def test_the_best_of_each_subject_are_picked():
    """Among those that match alike the first stay."""
    facts = [fact("likes", name, id=name) for name in ("tea", "rye bread", "cheese")]
    facts.append(fact("sells", "bread", id="shop", subject="shop"))

    picked = pick(facts, wanted=frozenset({"bread"}), limit=2)
    assert [(item.id, count) for item, count in picked] == [("rye bread", 1), ("tea", 0), ("shop", 1)]


def test_of_many_facts_about_the_user_the_one_asked_for_comes_first(make_engine):
    """It would not be among the ten surest of sixty."""
    many = [GivenFact(subject="user", predicate=f"habit_{n}", value=f"number {n}") for n in range(60)]
    engine = make_engine([*many, GivenFact(subject="user", predicate="blood_type", value="A", confidence=0.5)])

    assert told(engine.memory.recall("What is my blood type?"))[0] == "user blood_type A"
    assert engine.memory.recall("How do volcanoes erupt?").status == "no_match"


def test_what_an_asked_for_fact_leads_to_is_recalled_before_what_nobody_asked_for(make_engine):
    """Thirty nearer facts do not stand in the way of the second hop. Without vectors, words alone decide."""
    near = [
        GivenFact(subject=subject, predicate=f"detail_{n}", value=f"number {n}")
        for subject in ("user", "Fold Bike")
        for n in range(20)
    ]
    engine = make_engine(
        [
            *near,
            GivenFact(subject="Fold Bike", predicate="serviced_by", object="Spoke Shop", confidence=0.6),
            GivenFact(subject="Spoke Shop", predicate="located_in", value="a side street", confidence=0.6),
        ],
    )
    engine.embedder_slot.replace(None)
    found = engine.memory.recall("Where is the Fold Bike serviced?")

    assert told(found)[0] == "Fold Bike serviced_by Spoke Shop"
    led = {piece.fact.value: piece for piece in found.facts}["a side street"]
    others = [piece for piece in found.facts if piece.fact.subject == "user"]
    assert (led.hop, led.match, found.facts[0].match) == (2, 0.5, 1.0)
    assert all(led.score > piece.score for piece in others)


@pytest.mark.parametrize("question", ["Kiln Log 的数据存在哪里？", "Where is the stuff of Kiln Log kept?"])
def test_old_facts_of_a_named_entity_come_before_new_ones_of_others_without_vectors(database, question):
    """A word of the name, such as `Kiln`, does not bring in other entities."""
    now = [NOW - timedelta(weeks=60)]
    engine = Engine(Settings(), database=database, embedder=None, clock=lambda: now[0])
    engine.embedder_slot.replace(None)
    engine.memory.add_many([GivenFact(subject="Kiln Log", predicate=f"part_{n}", value="said") for n in range(8)])
    now[0] = NOW
    engine.memory.add_many(
        [
            GivenFact(subject="user", predicate="leads", object="Harbour Atlas", source="user_edit"),
            GivenFact(subject="Harbour Atlas", predicate="launch_date", value="October", source="user_edit"),
            GivenFact(subject="Garden Shed Kiln", predicate="needs", value="a permit", source="user_edit"),
        ]
    )
    found = engine.memory.recall(question)

    assert [piece.fact.subject_name for piece in found.facts[:8]] == ["Kiln Log"] * 8
    assert [anchor.entity.name for anchor in found.anchors] == ["Kiln Log", "user"]


def test_a_thing_of_which_nothing_was_known_at_the_time_gives_no_match(make_engine):
    """Its name alone does not bring back what is known of the user."""
    engine = make_engine(
        [
            GivenFact(subject="user", predicate="prefers", value="dark mode", valid_from=NOW - timedelta(days=90)),
            GivenFact(subject="Harbour Atlas", predicate="type", value="nautical map"),
        ]
    )

    assert engine.memory.recall("What is Harbour Atlas?").status == "ok"
    past = engine.memory.recall("What is Harbour Atlas?", as_of=NOW - timedelta(days=30))
    assert (past.status, past.facts) == ("no_match", ())


def test_words_can_be_left_aside(make_engine):
    """Then the ten facts of highest confidence of each entity are recalled."""
    many = [GivenFact(subject="user", predicate=f"habit_{n}", value=f"number {n}") for n in range(60)]
    unsure = GivenFact(subject="user", predicate="blood_type", value="A", confidence=0.5)
    engine = make_engine([*many, unsure], rank="score")

    found = told(engine.memory.recall("What do you know about me?"))
    assert len(found) == 10
    assert "user blood_type A" not in told(engine.memory.recall("What is my blood type, by habit?"))


@pytest.mark.parametrize("budget", [60, 120])
def test_facts_about_the_user_leave_room_for_the_facts_asked_for(make_engine, budget):
    """Facts about the named entity come first; facts about the user fill the rest of the budget."""
    weak = [GivenFact(subject="user", predicate=f"habit_{n}", value=f"number {n}", confidence=0.3) for n in range(12)]
    about = [
        GivenFact(subject="Kiln Log", predicate="stores", value="firing curves"),
        GivenFact(subject="Kiln Log", predicate="runs_on", value="a tablet"),
    ]
    engine = make_engine([*weak, *about])
    text = engine.memory.context(engine.memory.recall("What is Kiln Log?"), budget=budget).text

    assert text.startswith("### 💡 CONTEXT: Kiln Log\n- stores: firing curves\n- runs_on: a tablet\n")
    assert "### 👤 USER CONTEXT\n- habit_" in text
    own = engine.memory.context(engine.memory.recall("What is my habit number 7?"), budget=budget).text
    assert own.startswith("### 👤 USER CONTEXT\n- habit_7: number 7\n")


@pytest.mark.parametrize(
    ("question", "value"), [("我住在哪里？", "成都"), ("我养了什么宠物？", "一只猫"), ("我开什么车", "卡车")]
)
def test_a_chinese_question_about_oneself_shares_a_verb_with_its_fact(make_engine, question, value):
    """The pronoun and particles around the verb do not count."""
    facts = [("住在", "成都"), ("养了", "一只猫"), ("开", "卡车"), ("会说", "法语")]
    engine = make_engine([GivenFact(subject="user", predicate=one, value=two) for one, two in facts])

    assert engine.memory.recall(question).facts[0].fact.value == value


def test_a_verb_alone_matches_only_in_the_first_person():
    """`做` is in most questions how to do something."""
    assert "做" not in fact_terms(read_question("怎么做面包"), names=[])
