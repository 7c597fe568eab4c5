"""Entities and relations of parsed source code."""

import pytest
from source_code import CORE, INIT, PACKAGE, TESTS, entities, index_code, read_file, relations, stored_relations

from weft.extract.rules import RuleExtractor


def test_modules_classes_functions_and_methods_are_entities():
    """Local names, parameters, literals, builtins and nested functions are none; case is kept."""
    _, found = read_file("src/app/core.py", CORE)

    assert entities(found) == {
        "app.core": "module",
        "app.core.Context": "class",
        "app.core.Context.invoke": "method",
        "app.core.BaseCommand": "class",
        "app.core.BaseCommand.invoke": "method",
        "app.core.Command": "class",
        "app.core.Command.invoke": "method",
        "app.core.Command.check": "method",
        "app.core.command": "function",
    }


def test_relations_of_a_python_file_are_resolved_by_its_imports_and_annotations():
    """The parameter `check` hides nothing else, and the builtin `str` is no target."""
    _, found = read_file("src/app/core.py", CORE)

    assert relations(found, "calls") == {
        ("app.core.Command.invoke", "calls", "app.core.Command.check"),
        ("app.core.Command.invoke", "calls", "app.core.Context.invoke"),
        ("app.core.Command.check", "calls", "app.types.ParamType"),
        ("app.core.Command.check", "calls", "app.types.ParamType.convert"),
        ("app.core.command", "calls", "app.core.Command"),
    }
    assert relations(found, "inherits", "overrides") == {
        ("app.core.Command", "inherits", "app.core.BaseCommand"),
        ("app.core.Command.invoke", "overrides", "app.core.BaseCommand.invoke"),
    }
    assert relations(found, "imports") == {
        ("app.core", "imports", "app.types"),
        ("app.core", "imports", "app.types.ParamType"),
    }
    assert ("app.core.Command", "defines", "app.core.Command.check") in relations(found, "defines")


def test_a_relation_has_the_line_that_states_it_in_its_chunk():
    """The description is the source line, and the chunk contains it."""
    chunks, found = read_file("src/app/core.py", CORE)
    stated = [
        (chunk.text, stated.description)
        for chunk, extraction in zip(chunks, found, strict=True)
        for stated in extraction.stated_relations
        if stated.type == "calls" and stated.target == "code:app.core.Context.invoke"
    ]

    assert [description for _, description in stated] == ["return ctx.invoke(name)"]
    assert all(description in text for text, description in stated)


def test_an_uncertain_name_makes_no_relation():
    """A local name, a name with two types and a name that is not bound resolve to nothing."""
    text = """from lib.core import run, Task

def start(run, task: Task):
    run()
    task = make()
    task.go()
    unknown()
"""
    assert relations(read_file("app/main.py", text)[1], "calls") == set()


def test_a_test_function_tests_what_it_calls():
    """A helper in a test file tests nothing by itself."""
    _, found = read_file("tests/test_core.py", TESTS)

    assert relations(found, "tests") == {("tests.test_core.test_command", "tests", "app.command")}


def test_files_may_be_indexed_in_any_order(database):
    """Names that a package exports stand for their definitions, whichever file comes first."""
    forward, backward = database.store("forward"), database.store("backward")
    index_code(forward, PACKAGE)
    for source in reversed(PACKAGE):
        index_code(backward, {source: PACKAGE[source]})

    assert stored_relations(forward) == stored_relations(backward)
    assert ("tests.test_core.test_command", "tests", "app.core.command") in stored_relations(forward, "tests")
    assert ("tests.test_core.helper", "calls", "app.core.Command") in stored_relations(forward, "calls")


def test_a_short_name_stands_for_the_only_definition_that_has_it(database):
    """`Command` and `command` differ; `invoke` is ambiguous and no entity."""
    store = database.store("default")
    index_code(store, PACKAGE)
    keys = ["code:Command", "code:command", "code:Command.invoke", "code:invoke", "code:app.Command"]

    assert {key: entity.name for key, entity in store.graph.find_entities(keys).items()} == {
        "code:Command": "app.core.Command",
        "code:command": "app.core.command",
        "code:Command.invoke": "app.core.Command.invoke",
        "code:app.Command": "app.core.Command",
    }


def test_a_deleted_definition_takes_its_relations_along(database):
    """A stated relation about a name that no file defines is not shown, and is shown again when one does."""
    store = database.store("default")
    index_code(store, PACKAGE)
    before = stored_relations(store)
    index_code(store, {"src/app/types.py": "x = 1\n"})

    gone = before - stored_relations(store)
    assert ("app.core.Command.check", "calls", "app.types.ParamType.convert") in gone
    assert not store.graph.find_entities(["code:app.types.ParamType.convert", "code:ParamType.convert"])
    index_code(store, {"src/app/types.py": PACKAGE["src/app/types.py"]})
    assert stored_relations(store) == before


@pytest.mark.parametrize(
    ("source", "language", "text", "expected"),
    [
        (
            "src/app/main.ts",
            "typescript",
            "import { parse } from './util';\nexport class Job extends Task {\n  run() { parse(); this.stop(); }\n"
            "  stop() {}\n}\n",
            {
                ("src/app/main.Job.run", "calls", "src/app/util.parse"),
                ("src/app/main.Job.run", "calls", "src/app/main.Job.stop"),
            },
        ),
        (
            "lib/index.js",
            "javascript",
            "const { run } = require('./run.js');\nfunction start(stop) { run(); stop(); }\n",
            {("lib.start", "calls", "lib/run.run")},
        ),
        (
            "store/read.go",
            "go",
            'package store\nimport "example.com/app/log"\ntype Disk struct{}\n'
            "func (d *Disk) Read() { d.open(); log.Print(); helper() }\nfunc (d *Disk) open() {}\n",
            {
                ("store.Disk.Read", "calls", "store.Disk.open"),
                ("store.Disk.Read", "calls", "example.com/app/log.Print"),
                ("store.Disk.Read", "calls", "store.helper"),
            },
        ),
        (
            "src/graph/walk.rs",
            "rust",
            "use crate::store::{Disk, open};\nstruct Walk;\nimpl Walk {\n    fn go(&self) { self.step(); open(); }\n"
            "    fn step(&self) { Disk::read(); }\n}\n",
            {
                ("src/graph/walk.Walk.go", "calls", "src/graph/walk.Walk.step"),
                ("src/graph/walk.Walk.go", "calls", "src/store.open"),
                ("src/graph/walk.Walk.step", "calls", "src/store.Disk.read"),
            },
        ),
        (
            "src/App.java",
            "java",
            "package com.example;\nimport org.lib.Disk;\nclass App extends Base {\n"
            "  void run(Disk disk) { disk.read(); stop(); }\n  void stop() { new Job(); }\n}\n",
            {
                ("com.example.App.run", "calls", "org.lib.Disk.read"),
                ("com.example.App.run", "calls", "com.example.App.stop"),
                ("com.example.App.stop", "calls", "com.example.Job"),
            },
        ),
        (
            "lib/list.c",
            "c",
            "static void grow(int n) { }\nvoid list_add(void (*free)(int)) { grow(1); list_check(); free(2); }\n",
            {("list_add", "calls", "lib/list.grow"), ("list_add", "calls", "list_check")},
        ),
        (
            "lib/node.cpp",
            "cpp",
            "namespace tree {\nclass Node : public Base {\n  void add() { this->grow(); }\n  void grow();\n};\n"
            "void Node::grow() { make(); }\nvoid make() {}\n}\n",
            {("tree::Node::add", "calls", "tree::Node::grow"), ("tree::Node::grow", "calls", "tree::make")},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" not in value and "\n" not in value else "",
)
def test_calls_of_other_languages(source, language, text, expected):
    """Imports, methods of the own class and definitions of the same file or package."""
    assert relations(read_file(source, text, language)[1], "calls") == expected


def test_a_language_without_a_grammar_is_read_by_the_rules():
    """Ruby has none here; the identifiers of its headings are proposed as before."""
    chunks, found = read_file("app/job.rb", "class Job\n  def run\n  end\nend\n", "ruby")

    assert [n.kind for n in found[0].candidates if n.name == "Job"] == ["identifier"]
    assert len(chunks) == 1


def test_back_ticked_words_of_source_code_are_no_entities():
    """The rules for prose do not run on parsed source code."""
    text = 'def run(name):\n    """Return `name` as `str`. See `cls` and `Run Queue`."""\n    return name\n'

    assert set(entities(read_file("app/run.py", text)[1])) == {"app.run", "app.run.run"}


def test_an_export_in_a_package_is_an_alias():
    """`app.Command` stands for `app.core.Command`; a name of another package does not become one."""
    _, found = read_file("src/app/__init__.py", INIT + "from other import Thing\n")
    exported = {n.name: n.alias_of for n in found[0].candidates if n.reason == "exported under another name"}

    assert exported == {
        "app.Command": "code:app.core.Command",
        "app.command": "code:app.core.command",
        "app.ParamType": "code:app.types.ParamType",
    }
    assert RuleExtractor().name.startswith("rules-")
