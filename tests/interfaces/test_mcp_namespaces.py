"""No tool, resource or prompt of a server reads or writes another namespace."""

import pytest
from mcp_driving import MCPError, connect, drive, fill, settings_for

from weft.engine.engine import Engine
from weft.tools.definitions import TOOLS
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

MARK = "zanzibar"
THEIRS = {
    "Zanzibar Vault": ([], "The zanzibar vault holds the zanzibar plans."),
    "Zanzibar Gate": (["Zanzibar Vault"], "Leads to [[Zanzibar Vault]]."),
}
OURS = {"Tea House": ([], "Green tea is served at noon.")}


@pytest.fixture
def shared(tmp_path):
    """File with two namespaces; returns the settings for the own namespace, and ids and names of the other one."""
    db = fill(fill(tmp_path / "weft.db", OURS), THEIRS, namespace="theirs")
    with Engine(settings_for(db, **{"store.namespace": "theirs"})) as engine:
        fact = engine.memory.add("Zanzibar Vault", "opened_by", value="zanzibar key").fact
        document, chunks = engine.get("docs/0.md")
        entity = engine.entities.get("Zanzibar Vault")
        names = [fact.id, document.id, chunks[0].id, entity.id, "Zanzibar Vault", "docs/1.md", "docs/1.md:1"]
    return settings_for(db), names


def fill_arguments(schema, value):
    """Return arguments for every property of a schema, made of one text wherever a text fits."""
    made = {}
    for name, field in schema["properties"].items():
        match field.get("type"):
            case "string" if name != "cursor":
                made[name] = value
            case "array" if field["items"].get("type") == "string":
                made[name] = [value]
            case "array":
                made[name] = [fill_arguments(field["items"], value)]
    return made


def variants(tool, value):
    """Yield ways to call a tool with a value: all arguments at once, and the required ones with one other at a time."""
    every = fill_arguments(tool.input_schema, value)
    needed = {name: every[name] for name in tool.required if name in every}
    yield every
    yield needed
    for name in every:
        yield {**needed, name: every[name]}


def holdings(settings):
    """Return what their namespace holds, to the last access."""
    with Engine(settings_for(settings.store.db, **{"store.namespace": "theirs"})) as engine:
        return engine.stats(), list(engine.memory.list()), [e.name for e in engine.entities.top(limit=100)]


@pytest.mark.parametrize("compat, tools", [(None, TOOLS), ("memory", MEMORY_TOOLS)])
def test_no_tool_reaches_another_namespace(shared, compat, tools):
    """Every tool that is listed is called with every id and name of theirs; a new tool is in the list by itself."""
    settings, names = shared
    before = holdings(settings)

    async def steps():
        answers = []
        async with connect(settings, compat=compat) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            for tool in tools:
                for value in names:
                    for arguments in variants(tool, value):
                        answers.append((arguments, await client.call_tool(tool.name, arguments)))
        return listed, answers

    listed, answers = drive(steps())

    assert listed == [tool.name for tool in tools]
    assert len(answers) > 3 * len(tools)
    for arguments, answer in answers:
        said = answer.model_dump_json().lower()
        for text in fill_texts(arguments):  # what was given may be repeated
            said = said.replace(text.lower(), "")
        assert "vault holds" not in said and "zanzibar key" not in said and "zanzibar gate" not in said
    assert holdings(settings) == before


def test_from_inside_the_same_calls_show_it(shared):
    """The test above can fail."""
    settings, names = shared
    theirs = settings_for(settings.store.db, **{"store.namespace": "theirs"})

    async def steps():
        async with connect(theirs) as client:
            found = [await client.call_tool("memory_get", {"id": name}) for name in names[1:3]]
            return [*found, await client.call_tool("entity_lookup", {"name": names[4]})]

    said = [answer.model_dump_json().lower() for answer in drive(steps())]

    assert "vault holds" in said[0] and "vault holds" in said[1]
    assert "zanzibar key" in said[2] and "zanzibar gate" in said[2]


def fill_texts(value):
    """Return all texts in arguments, longest first."""
    found = [value] if isinstance(value, str) else []
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found += fill_texts(inner)
    return sorted(found, key=len, reverse=True)


@pytest.mark.parametrize("tool", [*TOOLS, *MEMORY_TOOLS], ids=lambda tool: tool.name)
def test_no_tool_takes_a_namespace(shared, tool):
    """Neither definitions nor calls contain a namespace."""
    settings, _ = shared
    compat = "memory" if tool in MEMORY_TOOLS else None

    async def steps():
        async with connect(settings, compat=compat) as client:
            arguments = {**fill_arguments(tool.input_schema, "tea"), "namespace": "theirs"}
            return await client.call_tool(tool.name, arguments)

    answer = drive(steps())

    assert "namespace" not in str(tool.input_schema)
    assert answer.is_error
    assert "'namespace'" in answer.content[0].text


def test_no_resource_reaches_another_namespace(shared):
    """Resources of others are neither listed nor read."""
    settings, names = shared

    async def steps():
        read = []
        async with connect(settings) as client:
            listed = await client.list_resources()
            for name in names:
                for kind in ("document", "entity"):
                    try:
                        read.append(await client.read_resource(f"weft://{kind}/{name}"))
                    except MCPError as error:
                        read.append(error)
        return listed, read

    listed, read = drive(steps())

    assert "Tea House" in listed.model_dump_json()
    assert MARK not in listed.model_dump_json().lower()
    assert len(read) == 2 * len(names)
    assert all(isinstance(item, MCPError) for item in read)
