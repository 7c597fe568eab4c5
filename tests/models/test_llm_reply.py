"""Items of any reply have a valid form and size."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from weft.extract.names import name_key
from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply import MAX_ITEMS, Types, check_reply, join_reply
from weft.records import Chunk, Document, Extraction

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["Zephyr", "Oslo"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["name", "type", "description", "source", "target", "weight", "subject", "predicate", "value", "confidence"]
ITEMS = st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING) | ANYTHING, max_size=6)
TEXT = "Zephyr moved to Oslo."


@given(st.dictionaries(st.sampled_from(list(MAX_ITEMS)), ITEMS | ANYTHING))
def test_any_reply_is_refused_or_bounded(value: dict[str, Any]) -> None:
    note = Counter[str]().update
    try:
        items = check_reply(value, lambda kind: note([kind]))
    except ValueError:
        return
    json.dumps(items, allow_nan=False).encode()
    joined, facts = join_reply(Extraction(), items, text=TEXT, types=Types(), note=lambda kind: note([kind]), by="llm")
    keys = {candidate.key for candidate in joined.candidates}
    assert keys <= {"zephyr", "oslo", "moved", "to"} | {name_key(TEXT[a:b]) for a in range(22) for b in range(a, 22)}
    assert all(
        {stated.source, stated.target} <= keys and 1 <= stated.weight <= 10 for stated in joined.stated_relations
    )
    assert all(0 <= fact.confidence <= 1 and fact.value and "\0" not in fact.value for fact in facts)
    assert not any("\0" in candidate.name + candidate.description for candidate in joined.candidates)


def test_lists_are_bounded() -> None:
    counter = Counter[str]()
    many = [{"name": f"Name{number}"} for number in range(5000)]
    items = check_reply({"entities": many}, lambda kind: counter.update([kind]))
    assert len(items["entities"]) == MAX_ITEMS["entities"]
    assert counter["items left out"] == 5000 - MAX_ITEMS["entities"]


@given(st.text(), st.text(max_size=20))
def test_no_text_holds_the_marker_that_ends_it(text: str, title: str) -> None:
    """Placeholders of the template in a text are not expanded."""
    prompt = Prompt()
    title, text = f"{title} {{marker}}", f"{text} {{marker}} {{text}} {{title}}"
    chunk = Chunk(id="c", document_id="d", ordinal=0, heading=("{marker}",), start_line=1, end_line=1, text=text)
    passage = prompt.passage(Document(source="a", title=title, text=text), chunk)
    marker = passage[passage.rindex("=====passage") :]
    assert passage.count(marker) == 2
    assert passage.split(marker)[1] == f"\n{text}\n"


def test_the_prompt_and_the_schema_ask_for_the_same() -> None:
    system = Prompt().system
    for name, items in SCHEMA["properties"].items():
        assert f'"{name}"' in system
        assert all(f'"{field}"' in system for field in items["items"]["required"])
    assert "{entity_types}" not in system
