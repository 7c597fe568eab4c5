"""Questions for relations of source code."""

import pytest
from memory_store.store import MemoryDatabase
from source_code import PACKAGE, index_code

from weft.config import SearchOptions
from weft.search.question.read import read_question
from weft.search.run import find
from weft.search.search_context import SearchContext


@pytest.fixture(scope="module")
def store():
    store = MemoryDatabase().store("default")
    index_code(store, PACKAGE)
    return store


@pytest.mark.parametrize(
    ("question", "relation", "target"),
    [
        ("who calls Context.invoke?", "called_by", "app.core.Command.invoke"),
        ("谁调用 Context.invoke", "called_by", "app.core.Command.invoke"),
        ("what does Command.check call?", "calls", "app.types.ParamType"),
        ("subclasses of BaseCommand", "inherited_by", "app.core.Command"),
        ("who imports app.types", "imported_by", "app.core"),
        ("which tests cover app.command?", "tested_by", "tests.test_core.test_command"),
    ],
)
def test_the_passages_of_the_answer_carry_the_relation(store, question, relation, target):
    """The path leads from the named definition over the relation that the question asks for."""
    result = find(question, SearchContext(store=store, embedder=None, options=SearchOptions()))
    steps = [(step.type, step.target) for piece in result.evidence if piece.graph for step in piece.graph.path]

    assert (relation, target) in steps


def test_a_path_names_the_relation_of_the_question_before_a_stronger_one():
    """The method overrides the one that it calls; the question asks for the call."""
    store = MemoryDatabase().store("default")
    job = "from .base import Base\n\nclass Job(Base):\n    def run(self): super().run()\n"
    index_code(store, {"app/base.py": "class Base:\n    def run(self): pass\n", "app/job.py": job})
    result = find("who calls Base.run?", SearchContext(store=store, embedder=None, options=SearchOptions()))
    steps = [(step.type, step.target) for piece in result.evidence if piece.graph for step in piece.graph.path]

    assert ("called_by", "app.job.Job.run") in steps


def test_all_callers_in_one_file_come_back():
    """The bound on chunks of one document does not hold for a relation that the question asks for."""
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    lines = "".join(f"    total = combine_{n}(total, 'number {n} of the series')\n" for n in range(30))
    callers = [f"def {name}(total):\n{lines}    return parse_flags(total)\n\n\n" for name in names]
    store = MemoryDatabase().store("default")
    core, commands = "def parse_flags(line): ...\n", "from .core import parse_flags\n\n\n" + "".join(callers)
    index_code(store, {"app/__init__.py": "", "app/core.py": core, "app/commands.py": commands})
    result = find("who calls parse_flags?", SearchContext(store=store, embedder=None, options=SearchOptions()))
    targets = {piece.graph.path[0].target for piece in result.evidence if piece.graph}

    assert targets >= {f"app.commands.{name}" for name in names}


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("who calls echo", {"code:echo"}),
        ("what is an echo", set()),
        ("what is `echo` and make_str()?", {"code:echo", "code:make_str"}),
    ],
)
def test_a_plain_word_names_code_only_in_a_question_for_its_relations(question, keys):
    """Otherwise it must be written like code."""
    assert {key for key in read_question(question).exact_keys if key.startswith("code:")} == keys
