"""Writers and readers that use one store at once until a deadline."""

import json
import os
import random
import time
import traceback
from contextlib import closing
from pathlib import Path

from store_state import open_store, use_small_indexes
from store_writer import EMBEDDERS, NAMES

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound, SchemaMismatch
from weft.records import Document
from weft.testing import FakeEmbedder

ROLES = ("write",) * 4 + ("read",) * 4 + ("switch",)
SOURCES_PER_WRITER = 40
SECONDS_PER_SWITCH = 20
"""Pause between two switches of the embedder."""


def open_client(database, db):
    """Return an engine with the embedder that the namespace has now."""
    active = next((model.name for model in database.store("default").models() if model.active), "fake/first")
    settings = read_settings({"store.db": db}, environment={})
    return Engine(settings, database=database, embedder=FakeEmbedder(name=active, dimension=EMBEDDERS[active]))


def write(db, number, seed, until, result):
    """Index, change and delete documents and facts of its own; write the final sources and the number of facts."""
    use_small_indexes()
    chance, documents, facts, calls = random.Random(seed), {}, set(), 0
    with closing(open_store(db)) as database:
        engine = open_client(database, db)
        while time.time() < until:
            calls += 1
            source = f"memo:{number}/{chance.randrange(SOURCES_PER_WRITER)}"
            act = chance.choices(["add", "delete", "fact", "forget"], [6, 2, 2, 1])[0]
            try:
                if act == "add":
                    first, second = chance.sample(NAMES, 2)
                    text = f"# {first} Service\n\nThe {first} Service depends on the {second} Service. Call {calls}.\n"
                    engine.add([Document(source=source, title=source, text=text, metadata={"version": calls})])
                    documents[source] = calls
                elif act == "delete" and source in documents:
                    engine.delete(source)
                    del documents[source]
                elif act == "fact":
                    fact = engine.memory.add(f"{chance.choice(NAMES)} Service", "port", f"{number}/{calls}").fact
                    facts.add(fact.id)
                elif act == "forget" and facts:
                    chosen = chance.choice(sorted(facts))
                    engine.memory.forget(chosen)
                    facts.remove(chosen)
            except SchemaMismatch:  # the embedder was switched meanwhile
                engine = open_client(database, db)
    Path(result).write_text(json.dumps({"documents": documents, "facts": sorted(facts), "calls": calls}))


def read(db, number, seed, until, result):
    """Search, recall and list; every citation that is found can be read."""
    use_small_indexes()
    chance, calls, switched = random.Random(seed), 0, 0
    with closing(open_store(db)) as database:
        engine = open_client(database, db)
        while time.time() < until:
            calls += 1
            name = chance.choice(NAMES)
            try:
                found = engine.query(f"what does the {name} Service depend on?", gate=False)
                for piece in found.evidence:
                    assert piece.chunk.text and piece.document.source.startswith("memo:")
                engine.memory.recall(f"{name} Service")
                engine.stats()
            except SchemaMismatch:
                engine, switched = open_client(database, db), switched + 1
    Path(result).write_text(json.dumps({"calls": calls, "switched": switched}))


def switch(db, number, seed, until, result):
    """Switch the namespace to the other embedder again and again."""
    use_small_indexes()
    switches = 0
    with closing(open_store(db)) as database:
        while time.time() + SECONDS_PER_SWITCH < until:
            time.sleep(SECONDS_PER_SWITCH)
            active = next((model.name for model in database.store("default").models() if model.active), "")
            name = next(name for name in EMBEDDERS if name != active)
            settings = read_settings({"store.db": db}, environment={})
            embedder = FakeEmbedder(name=name, dimension=EMBEDDERS[name])
            try:
                Engine(settings, database=database, embedder=embedder).reembed()
                switches += 1
            except (InputError, NotFound):  # nothing is stored yet
                continue
    Path(result).write_text(json.dumps({"calls": switches}))


def run_roles(db, seeds, seconds, folder):
    """Run every role in a process of its own; return their exit codes."""
    until, children = time.time() + seconds, []
    for number, (role, seed) in enumerate(zip(ROLES, seeds, strict=True)):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                globals()[role](db, number, seed, until, Path(folder, f"{number}.json"))
                code = 0
            except BaseException:  # noqa: BLE001 (reported by the parent)
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
