"""Small package of source code, and its graph."""

from weft.config import SplitOptions
from weft.extract.rules import RuleExtractor
from weft.index.run import index_documents
from weft.records import Document
from weft.text.split import split

CORE = '''"""The core of the package."""

import os
from .types import ParamType


class Context:
    """State of one run."""

    def invoke(self, callback):
        return callback()


class BaseCommand:
    def invoke(self, ctx):
        raise NotImplementedError


class Command(BaseCommand):
    # Runs the callback.
    def invoke(self, ctx: Context, name=None):
        result = [part for part in os.sep]
        self.check(ctx)
        return ctx.invoke(name)

    def check(self, ctx):
        return ParamType().convert(ctx)


def command(name, check=print):
    check(name)

    def decorator(function):
        return Command(function)

    return decorator
'''
TYPES = "class ParamType:\n    def convert(self, value):\n        return str(value)\n"
INIT = "from .core import Command as Command\nfrom .core import command\nfrom .types import ParamType\n"
TESTS = """import app


def test_command():
    assert app.command("x")


def helper():
    return app.Command("x")
"""
PACKAGE = {
    "src/app/__init__.py": INIT,
    "src/app/core.py": CORE,
    "src/app/types.py": TYPES,
    "tests/test_core.py": TESTS,
}


def make_code(source, text, language="python", **metadata):
    """Return a source file as a document."""
    return Document(
        source=source,
        title=source.rpartition("/")[2],
        text=text,
        form="code",
        metadata={"language": language, **metadata},
    )


def read_file(source, text, language="python", options=None):
    """Return the chunks of a source file and their extractions."""
    document = make_code(source, text, language)
    chunks = split(document, document_id="d", options=options or SplitOptions())
    return chunks, RuleExtractor().extract(document, chunks)


def entities(extractions):
    """Return the types of the defined entities by qualified name."""
    return {n.name: n.type for extraction in extractions for n in extraction.candidates if not n.alias_of}


def relations(extractions, *types):
    """Return (source, type, target) of the stated relations of some types, without the prefix of the keys."""
    return {
        (
            stated.source.removeprefix("code:"),
            stated.type,
            stated.target.removeprefix("code:"),
        )
        for extraction in extractions
        for stated in extraction.stated_relations
        if not types or stated.type in types
    }


def index_code(store, files, *, language="python"):
    """Index source files into a store."""
    documents = [make_code(source, text, language) for source, text in files.items()]
    return index_documents(documents, store=store, embedder=None, options=SplitOptions(), extractor=RuleExtractor())


def stored_relations(store, *types):
    """Return (source, type, target) of the stored relations of some types, by the names of the entities."""
    found = store.graph.entities_after("", limit=1000)
    names = {entity.id: entity.name for entity in found}
    every = store.graph.relations_of(list(names), limit=1000)
    return {(names[r.source_id], r.type, names[r.target_id]) for r in every if not types or r.type in types}
