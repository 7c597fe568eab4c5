"""Writing verbs in random order, each one recorded in a journal before it starts and after it is acknowledged."""

import json
import os
import random
from contextlib import closing
from pathlib import Path

from store_state import (
    NAMESPACES,
    apply,
    changes,
    inspect,
    open_store,
    path,
    read_state,
    stated_facts,
    use_small_indexes,
)

from weft.admin.copy import copy_namespaces
from weft.admin.exchange_facts import export_facts, import_facts
from weft.admin.exchange_graphs import import_graph, remove_import
from weft.config import read_settings
from weft.engine.api_keys import Keyring
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound, SchemaMismatch
from weft.load.folder import source_of
from weft.records import Document, GivenFact
from weft.testing import FakeEmbedder

__all__ = ["inspect", "write"]

SOURCES = 24
NAMES = ("Kestrel", "Marlin", "Osprey", "Puffin", "Heron", "Plover", "Dunlin", "Avocet", "Gannet", "Curlew")
EMBEDDERS = {"fake/first": 16, "fake/second": 24}


class Writer:
    """Calls verbs on one store until it is killed."""

    def __init__(self, db, folder, seed):
        self.db, self.folder, self.chance = db, Path(folder), random.Random(seed)
        self.label = f"{seed}"
        self.made = 0
        self.database = open_store(db)
        self.keyring = Keyring(self.database)
        self.state = read_state(self.database)
        self.journal = os.open(self.folder / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def run(self, verbs):
        """Call so many verbs; every verb says what it may change before it starts."""
        self.write(start=self.state)
        for _ in range(verbs):
            verb = self.chance.choices(list(VERBS), list(VERBS.values()))[0]
            namespace = self.chance.choice(NAMESPACES)
            allowed, act, expected = verb(self, namespace)
            self.write(begin=verb.__name__, allowed=allowed)
            try:
                act()
            except (NotFound, InputError, SchemaMismatch) as error:
                expected = {}
                refusal = str(error)
            else:
                refusal = ""
            after = read_state(self.database)
            changed = changes(self.state, after)
            wrong = {at: [value, after.get(at)] for at, value in expected.items() if not matches(after.get(at), value)}
            self.write(end=verb.__name__, changed=changed, wrong=wrong, refusal=refusal)
            self.state = after

    def write(self, **record):
        os.write(self.journal, (json.dumps(record) + "\n").encode())

    def engine(self, namespace, *, other=False):
        """Return an engine with the embedder of the namespace, or with the other one."""
        active = self.state.get(path("embedder", namespace), "fake/first")
        name = next(name for name in EMBEDDERS if (name == active) != other)
        settings = read_settings({"store.db": self.db, "store.namespace": namespace}, environment={})
        embedder = FakeEmbedder(name=name, dimension=EMBEDDERS[name])
        return Engine(settings, database=self.database, embedder=embedder)

    def version(self):
        """Return a number that no other document, fact or key has."""
        self.made += 1
        return f"{self.label}.{self.made}"

    def text(self, number, version):
        """Return a document of some sections that name entities."""
        sections = []
        for part in range(self.chance.randrange(1, 5)):
            first, second = self.chance.sample(NAMES, 2)
            sections.append(
                f"## Part {part}\n\n{first} Service {version} depends on the {second} Service. Part {part}."
            )
        return f"# {NAMES[number % len(NAMES)]} Service\n\n" + "\n\n".join(sections) + "\n"

    def facts(self, namespace):
        """Return the facts of a namespace in a fixed order."""
        return sorted(stated_facts(self.database.store(namespace)), key=lambda fact: fact.value)

    def entity_names(self, namespace):
        found = self.database.store(namespace).graph.top_entities(limit=30)
        return sorted({entity.name for entity in found}) or ["Kestrel Service"]


def matches(value, beginning):
    return value is None if beginning is None else value is not None and value.startswith(beginning)


# ── documents ───────────────────────────────────────────────────────────────────────────────────


def add_documents(writer, namespace):
    """Index new and changed documents of the caller, several in one call."""
    numbers = writer.chance.sample(range(SOURCES), writer.chance.randrange(1, 7))
    versions = {f"memo:{number}": writer.version() for number in numbers}
    documents = [
        Document(source=source, title=source, text=writer.text(number, version), metadata={"version": version})
        for number, (source, version) in zip(numbers, versions.items(), strict=True)
    ]
    expected = {path("document", namespace, source): f"{version}/" for source, version in versions.items()}
    allowed = [[at, [value]] for at, value in expected.items()] + [[path("embedder", namespace), None]]
    return allowed, lambda: writer.engine(namespace).add(documents), expected


def index_folder(writer, namespace):
    """Index a folder of which some files are new, changed or deleted; with or without `prune`."""
    folder = writer.folder / "corpus" / namespace
    folder.mkdir(parents=True, exist_ok=True)
    for number in writer.chance.sample(range(SOURCES), 4):
        file = folder / f"{number}.md"
        if file.exists() and writer.chance.random() < 0.4:
            file.unlink()
        else:
            version = writer.version()
            staged = file.with_suffix(".part")
            staged.write_text(f"---\nversion: v{version}\n---\n{writer.text(number, version)}")
            staged.replace(file)  # a killed process leaves no half file
    engine = writer.engine(namespace)
    prefix = path("document", namespace, source_of(folder, base=engine.base))
    files = {
        source_of(file, base=engine.base): file.read_text().split("\n")[1].removeprefix("version: ")
        for file in folder.glob("*.md")
    }
    expected = {path("document", namespace, source): f"{version}/" for source, version in files.items()}
    prune = writer.chance.random() < 0.5
    allowed = [[at, [value]] for at, value in expected.items()]
    allowed += [[prefix, [None]]] if prune else []
    allowed += [[path("embedder", namespace), None]]
    return allowed, lambda: engine.index(folder, prune=prune), expected


def delete_documents(writer, namespace):
    prefix = path("document", namespace, "")
    known = sorted(at.removeprefix(prefix) for at in writer.state if at.startswith(prefix))
    chosen = writer.chance.sample(known, min(len(known), writer.chance.randrange(1, 6)))
    expected = {path("document", namespace, source): None for source in chosen}
    return [[at, [None]] for at in expected], lambda: writer.engine(namespace).delete(*chosen), expected


# ── facts ───────────────────────────────────────────────────────────────────────────────────────


def add_facts(writer, namespace):
    """Add some facts in one transaction."""
    made = [
        GivenFact(
            subject=f"{writer.chance.choice(NAMES)} Service",
            predicate=writer.chance.choice(["owner", "port", "region"]),
            value=f"value {writer.version()}",
        )
        for _ in range(writer.chance.randrange(1, 4))
    ]
    expected = {path("fact", namespace, fact.subject, fact.predicate, fact.value): "" for fact in made}
    # A new namespace records its embedder before the facts, whose entities are embedded.
    allowed = [[at, [""]] for at in expected] + [[path("embedder", namespace), None]]
    return allowed, lambda: writer.engine(namespace).memory.add_many(made), expected


def change_fact(writer, namespace):
    """Confirm, reject, supersede, expire or forget a fact."""
    facts = writer.facts(namespace)
    if not facts:
        return add_facts(writer, namespace)
    fact = writer.chance.choice(facts)
    memory = writer.engine(namespace).memory
    at, others = path("fact", namespace, fact.subject_name, fact.predicate, fact.value), path("fact", namespace, "")
    match writer.chance.choice(["confirm", "reject", "supersede", "expire", "forget", "forget many"]):
        case "confirm":
            # The fact that it supersedes changes too.
            return [[at, ["confirmed"]], [others, ["superseded"]]], lambda: memory.confirm(fact.id), {at: "confirmed"}
        case "reject":
            # The fact that it superseded is restored.
            allowed = [[at, ["rejected"]], [others, ["staged", "confirmed"]]]
            return allowed, lambda: memory.reject(fact.id, reason="wrong"), {at: "rejected"}
        case "supersede":
            value = f"value {writer.version()}"
            new = path("fact", namespace, fact.subject_name, fact.predicate, value)
            allowed = [[new, [""]], [path("embedder", namespace), None]]
            return allowed, lambda: memory.supersede(fact.id, value), {}
        case "expire":
            return [[at, [f"{fact.status} ended"]]], lambda: memory.expire(fact.id), {at: f"{fact.status} ended"}
        case "forget":
            return [[at, [None]]], lambda: memory.forget(fact.id), {at: None}
        case _:
            chosen = facts[:: writer.chance.randrange(1, 4)]
            gone = {path("fact", namespace, item.subject_name, item.predicate, item.value): None for item in chosen}
            return [[at, [None]] for at in gone], lambda: memory.forget(*(item.id for item in chosen)), gone


def restore_facts(writer, namespace):
    """Export the facts, forget one, and import the file."""
    engine, file = writer.engine(namespace), writer.folder / "facts.jsonl"
    facts = writer.facts(namespace)
    if not facts:
        return add_facts(writer, namespace)
    file.write_text("\n".join(export_facts(engine)) + "\n")
    fact = writer.chance.choice(facts)
    at = path("fact", namespace, fact.subject_name, fact.predicate, fact.value)

    def act():
        engine.memory.forget(fact.id)
        import_facts(engine, file)

    return [[at, None]], act, {at: fact.status}


# ── graph ───────────────────────────────────────────────────────────────────────────────────────


def edit_entity(writer, namespace):
    """Merge, unmerge, add an alias or rename."""
    entities = writer.engine(namespace).entities
    names = writer.entity_names(namespace)
    first, second = writer.chance.choice(names), writer.chance.choice(names)
    act = {
        "merge": lambda: entities.merge(first, second),
        "unmerge": lambda: entities.unmerge(first),
        "alias": lambda: entities.alias(first, f"Alias {writer.chance.randrange(9)}"),
        "rename": lambda: entities.rename(first, f"Name {writer.chance.randrange(9)}"),
    }[writer.chance.choice(["merge", "merge", "unmerge", "alias", "rename"])]
    return [[path("edit", namespace, ""), ["written", None]]], act, {}


def change_import(writer, namespace):
    """Import a graph, replace it, or remove it."""
    engine, name = writer.engine(namespace), f"graph{writer.chance.randrange(2)}"
    own = [
        [path("import", namespace, name), ["written", None]],
        [path("document", namespace, f"{name}"), None],
        [path("embedder", namespace), None],
    ]
    prefix = path("document", namespace, "")
    own += [[at, None] for at in writer.state if at.startswith(prefix) and name in at]
    if writer.chance.random() < 0.3:
        return own, lambda: remove_import(engine, name), {}
    file = writer.folder / f"{name}.jsonl"
    triples = [
        {"subject": f"{first} Service", "predicate": "uses", "object": f"{second} Service", "passage": writer.version()}
        for first, second in (writer.chance.sample(NAMES, 2) for _ in range(5))
    ]
    file.write_text("\n".join(map(json.dumps, triples)) + "\n")
    return own, lambda: import_graph(engine, file, name=name), {}


# ── store ───────────────────────────────────────────────────────────────────────────────────────


def reembed(writer, namespace):
    engine = writer.engine(namespace, other=True)
    name = next(name for name in EMBEDDERS if name != writer.state.get(path("embedder", namespace), "fake/first"))
    at = path("embedder", namespace)
    return [[at, [name]]], engine.reembed, {}


def change_key(writer, namespace):
    """Create, revoke or delete an API key."""
    keys = sorted(writer.keyring.all(), key=lambda key: key.name)
    kind = writer.chance.choice(["create", "revoke", "forget"]) if keys else "create"
    if kind == "create":
        name = f"key {writer.version()}"
        at = path("key", name)
        return [[at, ["valid"]]], lambda: writer.keyring.create(name, namespaces=[namespace]), {at: "valid"}
    key = writer.chance.choice(keys)
    at = path("key", key.name)
    if kind == "revoke":
        return [[at, ["revoked"]]], lambda: writer.keyring.revoke(key.id), {at: "revoked"}
    return [[at, [None]]], lambda: writer.keyring.forget(key.id), {at: None}


def drop_namespace(writer, namespace):
    """Drop the second namespace."""
    prefixes = [path(kind, "side", "") for kind in ("document", "fact", "edit", "import")] + [path("embedder", "side")]
    gone = {at: None for at in writer.state if at.startswith(tuple(prefixes))}
    return [[at, [None]] for at in gone], lambda: writer.database.drop("side"), gone


def maintain(writer, namespace):
    """Compact, repair or back up the store; the content stays."""
    target = writer.folder / "backup.db"
    target.unlink(missing_ok=True)
    act = {
        "compact": writer.database.compact,
        "repair": writer.database.repair,
        "backup": lambda: writer.database.backup(target),
    }[writer.chance.choice(["compact", "repair", "backup"])]
    return [], act, {}


def copy_store(writer, namespace):
    """Copy a namespace to a file; a copy under another embedder is made anew."""
    target = writer.folder / "copy.db"
    settings = read_settings({"store.db": writer.db, "store.namespace": namespace}, environment={})

    def act():
        known = [namespace] if namespace in writer.database.namespaces() else []
        if not known:
            return
        try:
            (receipt,) = copy_namespaces(writer.db, str(target), settings=settings, namespaces=known, prune=True)
        except SchemaMismatch:
            for suffix in ("", "-wal", "-shm"):
                target.with_name(target.name + suffix).unlink(missing_ok=True)
            return
        assert receipt.differences == (), receipt.differences

    return [], act, {}


def search(writer, namespace):
    """Ask a question, so that read indexes are used and extended."""
    engine = writer.engine(namespace)
    name = writer.chance.choice(NAMES)
    return [], lambda: (engine.query(f"{name} Service depends", gate=False), engine.memory.recall(name)), {}


VERBS = {
    add_documents: 6,
    index_folder: 4,
    delete_documents: 3,
    add_facts: 3,
    change_fact: 6,
    restore_facts: 1,
    edit_entity: 4,
    change_import: 2,
    reembed: 2,
    change_key: 2,
    drop_namespace: 1,
    maintain: 1,
    copy_store: 1,
    search: 3,
}
"""Verbs with their relative frequencies."""


def write(db, folder, seed, verbs=10_000):
    """Call random verbs on a store until killed."""
    use_small_indexes()
    os.chdir(folder)
    writer = Writer(db, folder, seed)
    with closing(writer.database):
        writer.run(verbs)


def read_journal(file):
    """Return (acknowledged state, verb in progress, what it may change, verbs done, complaints) of a journal."""
    state, begun, allowed, done, wrong = {}, "", [], [], []
    for line in Path(file).read_bytes().split(b"\n")[:-1] if Path(file).exists() else []:
        record = json.loads(line)
        if "start" in record:
            state = record["start"]
        elif "begin" in record:
            begun, allowed = record["begin"], record["allowed"]
        else:
            state = apply(state, record["changed"])
            done.append(record["end"])
            wrong += [f"{record['end']}: {record['wrong']}"] if record["wrong"] else []
            begun, allowed = "", []
    return state, begun, allowed, done, wrong
