"""Test scenarios of the reference memory server as one sequence of calls, with its answers."""

import json
from pathlib import Path

RECORDED = Path(__file__).parent / "reference_memory.json"
"""Its answers to `STEPS`, in their order; `test_mcp_reference.py` compares them with the server itself."""

ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme Corp", "likes programming"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["works at TechCo"]}
ACME = {"name": "Acme Corp", "entityType": "company", "observations": ["tech company"]}
ZHANG = {"name": "张伟", "entityType": "人", "observations": ["喜欢喝茶"]}
WORKS = {"from": "Alice", "to": "Acme Corp", "relationType": "works_at"}
COMPETES = {"from": "Bob", "to": "Acme Corp", "relationType": "competitor"}
KNOWS = {"from": "Alice", "to": "Bob", "relationType": "knows"}
TOGETHER = {**KNOWS, "relationType": "works_with"}


def observed(name, *contents):
    return {"observations": [{"entityName": name, "contents": list(contents)}]}


def unsaid(name, *texts):
    return {"deletions": [{"entityName": name, "observations": list(texts)}]}


STEPS = [
    ("read_graph", {}),
    ("search_nodes", {"query": "Alice"}),
    ("create_entities", {"entities": []}),
    ("create_relations", {"relations": []}),
    ("create_entities", {"entities": [ALICE, BOB]}),
    ("create_entities", {"entities": [ALICE, ACME]}),  # the one that is there is left out
    ("create_entities", {"entities": [ZHANG]}),
    ("create_relations", {"relations": [WORKS, COMPETES]}),
    ("create_relations", {"relations": [WORKS, KNOWS]}),
    ("read_graph", {}),
    ("add_observations", observed("Alice", "likes coffee", "has a dog")),
    ("add_observations", observed("Alice", "likes coffee", "has a cat")),
    ("add_observations", observed("Alice", "has a cat")),
    ("add_observations", observed("NonExistent", "new observation")),
    *(
        ("search_nodes", {"query": query})
        for query in ("Alice", "ALICE", "company", "programming", "Acme", "喝茶", "NonExistent", "")
    ),
    *(
        ("open_nodes", {"names": names})
        for names in (["Alice", "Bob"], ["Acme Corp"], ["张伟"], ["NonExistent"], ["Bob", "NonExistent"], [])
    ),
    ("delete_observations", unsaid("Alice", "likes coffee", "has a cat")),
    ("delete_observations", unsaid("Alice", "never said")),
    ("delete_observations", unsaid("NonExistent", "some observation")),
    ("open_nodes", {"names": ["Alice"]}),
    ("create_relations", {"relations": [TOGETHER]}),
    ("delete_relations", {"relations": [KNOWS]}),
    ("delete_relations", {"relations": [KNOWS]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Acme Corp"]}),  # takes its relations with it
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["NonExistent"]}),
    ("create_relations", {"relations": [{"from": "Bob", "to": "Initech", "relationType": "applies_to"}]}),
    ("create_entities", {"entities": [{"name": "Initech", "entityType": "company", "observations": []}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Alice", "Bob", "Initech", "张伟"]}),
    ("read_graph", {}),
]


async def drive_scenario(client):
    """Make all calls; return each answer as it is recorded: its first text, its values, whether it is an error."""
    answers = []
    for name, arguments in STEPS:
        answer = await client.call_tool(name, arguments)
        assert all(part.type == "text" for part in answer.content)
        answers.append(
            {
                "tool": name,
                "arguments": arguments,
                "text": answer.content[0].text,
                "values": answer.structured_content,
                "error": bool(answer.is_error),
            }
        )
    return answers


def by_name(answer):
    """Return an answer with the entities of a graph by name, in text and values; the order is not promised."""

    def ordered(value):
        if not (isinstance(value, dict) and value.keys() == {"entities", "relations"}):
            return value
        return {**value, "entities": sorted(value["entities"], key=lambda entity: entity["name"])}

    text = answer["text"]
    if text[:1] in "[{":
        shown = json.loads(text)
        assert text == json.dumps(shown, ensure_ascii=False, indent=2)
        text = ordered(shown)
    return {**answer, "text": text, "values": ordered(answer["values"])}
