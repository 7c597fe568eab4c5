"""Facts stated again: supersession and contradictions."""

from datetime import datetime, timedelta, timezone

import pytest

from weft.config import MemoryOptions, Settings
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound
from weft.testing import FakeEmbedder


@pytest.fixture
def make_memory(database):
    def make(**options):
        return Engine(Settings(memory=MemoryOptions(**options)), database=database, embedder=FakeEmbedder()).memory

    return make


def drinks(memory):
    return sorted(piece.fact.value for piece in memory.recall("what does the user drink?").facts)


def test_a_known_value_supersedes_what_it_is_stated_in_the_place_of(make_memory):
    """Somebody mentioned coffee before it was said that it replaces tea; after that tea is not recalled."""
    memory = make_memory()
    tea = memory.confirm(memory.add("user", "drinks", "tea").fact.id)
    memory.add("user", "drinks", "coffee", source="conversation")
    done = memory.supersede(tea.id, "coffee")

    assert (done.outcome, done.fact.supersedes) == ("strengthened", tea.id)
    memory.confirm(done.fact.id)
    assert drinks(memory) == ["coffee"]
    assert memory.get(tea.id).status == "superseded"


def test_what_was_just_recalled_may_be_said_to_replace_something(make_memory):
    """It is not refused as an echo, because it names the fact to supersede."""
    memory = make_memory()
    tea = memory.add("user", "drinks", "tea").fact
    memory.add("user", "drinks", "coffee")

    assert drinks(memory) == ["coffee", "tea"]
    assert memory.add("user", "drinks", "coffee", source="conversation").outcome == "refused"
    assert memory.supersede(tea.id, "coffee", source="conversation").fact.supersedes == tea.id


def test_a_confirmed_value_cannot_be_confirmed_in_the_place_of_another(make_memory):
    """The error names the command, because the other fact would never be superseded. Ended facts are allowed."""
    memory = make_memory()
    tea, coffee = (memory.confirm(memory.add("user", "drinks", value).fact.id) for value in ("tea", "coffee"))
    with pytest.raises(InputError, match="both confirmed") as error:
        memory.supersede(tea.id, "coffee")

    assert "expire" in error.value.hint
    memory.reject(tea.id)
    assert memory.supersede(tea.id, "coffee").outcome == "known"
    assert memory.get(coffee.id) == coffee


def test_a_known_fact_in_the_place_of_itself_or_of_nothing(make_memory):
    """The first is no change, the second the error that it is for a new fact."""
    memory = make_memory()
    tea = memory.add("user", "drinks", "tea").fact

    assert memory.supersede(tea.id, "tea").fact == tea
    with pytest.raises(NotFound):
        memory.add("user", "drinks", "tea", supersedes="f0")


def test_what_contradicts_a_fact_is_said_each_time_it_is_stated(make_memory):
    """Other values of what has one, and denials; once they are over, nothing."""
    memory = make_memory(single_valued=("lives_in",))
    berlin = memory.confirm(memory.add("user", "lives_in", object="Berlin").fact.id)
    denied = memory.add("user", "not_lives_in", object="Lisbon").fact
    first = memory.add("user", "lives_in", object="Lisbon")
    again = memory.add("user", "lives_in", object="Lisbon")

    assert again.outcome == "known"
    assert {fact.id for fact in first.contradicts} == {fact.id for fact in again.contradicts} == {berlin.id, denied.id}
    memory.reject(denied.id)
    memory.confirm(first.fact.id)
    assert memory.add("user", "lives_in", object="Lisbon").contradicts == ()


def test_another_end_of_a_known_fact_is_refused_and_not_lost(make_memory):
    """The reason names the commands that end or continue a fact."""
    memory = make_memory()
    end = datetime.now(timezone.utc) + timedelta(days=30)
    open_ended = memory.add("user", "drinks", "tea").fact
    until = memory.add("user", "drinks", "coffee", valid_to=end).fact

    for value, other, known in (("tea", end, open_ended), ("coffee", end + timedelta(days=1), until)):
        done = memory.add("user", "drinks", value, valid_to=other)
        assert (done.outcome, done.fact) == ("refused", None)
        assert known.id in done.reason and "expire" in done.reason
        assert memory.get(known.id) == known
    assert memory.add("user", "drinks", "coffee", valid_to=end).outcome == "known"
    assert memory.add("user", "drinks", "coffee").outcome == "known"


def test_a_fact_goes_on_after_its_end_where_it_is_stated_from_there(make_memory):
    """The hint of a later `expire` describes this."""
    memory = make_memory()
    end = datetime.now(timezone.utc) + timedelta(days=30)
    coffee = memory.add("user", "drinks", "coffee", valid_to=end).fact
    with pytest.raises(InputError) as error:
        memory.expire(coffee.id, at=end + timedelta(days=1))

    assert error.value.hint == f"add the statement again with --valid-from {end.isoformat()}"
    assert memory.add("user", "drinks", "coffee", valid_from=end).outcome == "added"
    later = memory.recall("what does the user drink?", as_of=end + timedelta(days=60))
    assert [piece.fact.value for piece in later.facts] == ["coffee"]


def test_confirming_twice_says_that_it_is_done(make_memory):
    """The second call is an error whose hint names the command that shows the status."""
    memory = make_memory()
    tea = memory.confirm(memory.add("user", "drinks", "tea").fact.id)
    with pytest.raises(InputError, match="already confirmed") as error:
        memory.confirm(tea.id)

    assert error.value.hint == "run `weft fact list` to see the status of each fact"


@pytest.mark.parametrize("single_valued", [(), ("drinks",)])
def test_rejecting_a_fact_restores_what_it_superseded(make_memory, single_valued):
    """The old fact has its former status and end again, and its history says so."""
    memory = make_memory(single_valued=single_valued)
    end = datetime(2999, 1, 1, tzinfo=timezone.utc)
    tea = memory.confirm(memory.add("user", "drinks", "tea", valid_to=end).fact.id)
    coffee = memory.confirm(memory.supersede(tea.id, "coffee").fact.id)
    assert memory.get(tea.id).status == "superseded"
    memory.reject(coffee.id)

    assert (memory.get(tea.id).status, memory.get(tea.id).valid_to) == ("confirmed", end)
    assert drinks(memory) == ["tea"]
    last = memory.history(tea.id)[-1]
    assert (last.action, last.other) == ("restored", coffee.id)


def test_a_restored_fact_ends_where_a_later_value_begins(make_memory):
    """Rejecting that later value restores the fact completely."""
    memory = make_memory(single_valued=("drinks",))
    now = datetime.now(timezone.utc)
    tea = memory.confirm(memory.add("user", "drinks", "tea").fact.id)
    coffee = memory.confirm(memory.supersede(tea.id, "coffee").fact.id)
    memory.expire(coffee.id, at=now + timedelta(days=1))
    water = memory.confirm(memory.add("user", "drinks", "water", valid_from=now + timedelta(days=2)).fact.id)
    memory.reject(coffee.id)

    assert (memory.get(tea.id).status, memory.get(tea.id).valid_to) == ("superseded", water.valid_from)
    memory.reject(water.id)
    assert (memory.get(tea.id).status, memory.get(tea.id).valid_to) == ("confirmed", None)
