"""Small projects in several languages, with the relations that lead from file to file."""

import pytest
from source_code import stored_relations

from weft.config import LoadOptions, SplitOptions
from weft.extract.rules import RuleExtractor
from weft.index.run import index_documents
from weft.load.formats.code import load_code
from weft.text.code.project_paths import find_paths, resolve_path

TYPESCRIPT = {
    "web/tsconfig.json": '{\n  // paths\n  "compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"],}},\n}\n',
    "web/src/shapes/index.ts": (
        "export * from './circle';\nexport { area as surface } from './area';\nexport * as tools from './tools';\n"
    ),
    "web/src/shapes/circle.ts": "export class Circle {\n  grow() {}\n}\nfunction hidden() {}\n",
    "web/src/shapes/area.ts": "export function area() {}\n",
    "web/src/shapes/tools.ts": "export function round() {}\n",
    "web/src/main.ts": (
        "import { Circle, surface, tools } from '@app/shapes';\nimport { round } from './shapes/tools';\n"
        "import chalk from 'chalk';\n"
        "export function draw(): void {\n  const circle = new Circle();\n  circle.grow();\n  surface();\n"
        "  tools.round();\n  round();\n  chalk();\n}\n"
    ),
    "web/test/main.test.ts": "import { draw } from '@app/main';\ntest('draw', () => { draw(); });\n",
}
RUST = {
    "core/Cargo.toml": '[package]\nedition = "2021"\nname = "disk-store"\n\n[dependencies]\nname = "other"\n',
    "core/src/lib.rs": "mod graph;\npub mod store;\npub use graph::Node;\npub use store::*;\n",
    "core/src/graph.rs": (
        "pub struct Node;\nimpl Node {\n    pub fn new() -> Node { Node }\n}\npub fn walk() { crate::open(); }\n"
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    use super::walk as go;\n"
        "    fn test_walk() { walk(); go(); }\n}\n"
    ),
    "core/src/store.rs": "use crate::Node;\npub fn open() { Node::new(); }\n",
    "core/tests/disk.rs": "use disk_store::{open, Node};\nfn reads() { open(); Node::new(); }\n",
}
JAVA = {
    "src/org/store/Disk.java": "package org.store;\npublic class Disk {\n  public void read() {}\n}\n",
    "src/org/store/Files.java": "package org.store;\npublic class Files {\n  public static void open() {}\n}\n",
    "src/org/app/Base.java": "package org.app;\npublic class Base {\n  void stop() {}\n}\n",
    "src/org/app/Main.java": (
        "package org.app;\nimport java.util.*;\nimport org.store.*;\nclass Main extends Base {\n"
        "  void run(Disk disk) { disk.read(); Files.open(); new Disk(); new Base(); }\n}\n"
    ),
    "src/org/app/DiskTest.java": (
        "package org.app;\nimport org.store.*;\nclass DiskTest {\n"
        "  void reads() { Disk disk = new Disk(); disk.read(); }\n}\n"
    ),
}
GO = {
    "go.mod": "module example.com/app\n\ngo 1.22\n",
    "store/disk.go": "package store\ntype Disk struct{}\nfunc Open() *Disk { return &Disk{} }\n",
    "store/sync.go": "package store\nfunc Sync() { Open() }\n",
    "store/disk_test.go": 'package store\nimport "testing"\nfunc TestOpen(t *testing.T) { Open() }\n',
    "main.go": (
        'package main\nimport (\n\t"fmt"\n\tst "example.com/app/store"\n)\n'
        "func main() { st.Open(); fmt.Println(st.Sync) }\n"
    ),
    "dots.go": 'package main\nimport . "example.com/app/store"\nfunc dots() { Sync() }\n',
}
C = {
    "include/disk/list.h": "int list_add(int n);\n",
    "src/list.c": '#include "disk/list.h"\nint list_add(int n) { return n; }\n',
    "src/main.cpp": "#include <disk/list.h>\n#include <vector>\nvoid run() { list_add(1); }\n",
    "tests/test_list.c": '#include "../include/disk/list.h"\nvoid test_add(void) { list_add(2); }\n',
}


def index_project(store, folder, files, is_absolute=False):
    """Write the files of a project, load and index them, by their paths in the project or by absolute ones."""
    documents = []
    for source, text in files.items():
        path = folder / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for source in files:
        if not source.endswith((".json", ".toml", ".mod")):
            name = str(folder / source) if is_absolute else source
            documents += load_code(folder / source, source=name, options=LoadOptions())
    index_documents(documents, store=store, embedder=None, options=SplitOptions(), extractor=RuleExtractor())
    return stored_relations(store, "calls", "tests", "imports", "inherits", "defines")


def calls(found, *types):
    return {(source, target) for source, type, target in found if type in (types or ("calls",))}


def test_a_typescript_project(database, tmp_path):
    """`export *`, a renamed export, a namespace, an index file and the paths of `tsconfig.json`."""
    found = index_project(database.store("default"), tmp_path, TYPESCRIPT)

    assert calls(found) == {
        ("web/src/main.draw", "web/src/shapes/circle.Circle"),
        ("web/src/main.draw", "web/src/shapes/circle.Circle.grow"),
        ("web/src/main.draw", "web/src/shapes/area.area"),
        ("web/src/main.draw", "web/src/shapes/tools.round"),
        ("web/test/main.test", "web/src/main.draw"),
    }
    assert calls(found, "tests") == {
        ("web/test/main.test", "web/src/main.draw"),
        ("web/test/main.test", "web/src/main"),
    }
    assert {("web/src/shapes", "web/src/shapes/circle"), ("web/src/main", "web/src/shapes")} <= calls(found, "imports")


def test_a_rust_project(database, tmp_path):
    """`mod`, `pub use` by name and with a star, `super` in an inline module, the name of the package in tests."""
    found = index_project(database.store("default"), tmp_path, RUST)

    assert calls(found) == {
        ("core/src/graph.walk", "core/src/store.open"),
        ("core/src/graph.tests.test_walk", "core/src/graph.walk"),
        ("core/src/store.open", "core/src/graph.Node.new"),
        ("core/tests/disk.reads", "core/src/store.open"),
        ("core/tests/disk.reads", "core/src/graph.Node.new"),
    }
    assert calls(found, "tests") == {
        ("core/tests/disk.reads", "core/src/store.open"),
        ("core/tests/disk.reads", "core/src/graph.Node.new"),
    }
    assert ("core/src", "core/src/graph") in calls(found, "imports")


def test_a_java_project(database, tmp_path):
    """A name may be of the own package or of one that is imported with a star."""
    found = index_project(database.store("default"), tmp_path, JAVA)

    assert calls(found) == {
        ("org.app.Main.run", "org.store.Disk"),
        ("org.app.Main.run", "org.store.Disk.read"),
        ("org.app.Main.run", "org.store.Files.open"),
        ("org.app.Main.run", "org.app.Base"),
        ("org.app.DiskTest.reads", "org.store.Disk"),
        ("org.app.DiskTest.reads", "org.store.Disk.read"),
    }
    assert calls(found, "tests") == {pair for pair in calls(found) if pair[0] == "org.app.DiskTest.reads"}
    assert calls(found, "inherits") == {("org.app.Main", "org.app.Base")}


def test_a_go_project(database, tmp_path):
    """Packages by the path of the module, with an alias and with a dot; tests in the package."""
    found = index_project(database.store("default"), tmp_path, GO)

    assert calls(found) == {
        ("example.com/app.main", "example.com/app/store.Open"),
        ("example.com/app.dots", "example.com/app/store.Sync"),
        ("example.com/app/store.Sync", "example.com/app/store.Open"),
        ("example.com/app/store.TestOpen", "example.com/app/store.Open"),
    }
    assert calls(found, "tests") == {("example.com/app/store.TestOpen", "example.com/app/store.Open")}


def test_a_c_project(database, tmp_path):
    """Headers by a relative path and below an include path; functions by their names."""
    found = index_project(database.store("default"), tmp_path, C)

    assert calls(found) == {("run", "list_add"), ("test_add", "list_add")}
    assert calls(found, "tests") == {("test_add", "list_add"), ("tests/test_list", "include/disk/list")}
    assert calls(found, "imports") == {
        ("src/list", "include/disk/list"),
        ("src/main", "include/disk/list"),
        ("tests/test_list", "include/disk/list"),
    }


def test_paths_of_a_project():
    """Comments and further commas of a settings file are no problem; the nearest file counts."""
    files = {
        1: {"tsconfig.json": '{"compilerOptions": {"paths": {"~": ["./lib/main"], "@/*": ["./lib/*", "x/*"],}}}'},
        2: {"tsconfig.json": '{"compilerOptions": {"baseUrl": "other"}}'},
    }
    entries = find_paths(["a", "b"], language="typescript", read=lambda level, name: files.get(level, {}).get(name, ""))

    assert entries == ["~=a/lib/main", "@/*=a/lib/*"]
    assert resolve_path("@/util/x", entries) == "a/lib/util/x"
    assert resolve_path("~", entries) == "a/lib/main"
    assert resolve_path("react", entries) == ""
    assert find_paths(["a"], language="go", read=lambda level, name: "x") == []


WORKSPACE = {
    "package.json": '{"name": "shop", "workspaces": ["packages/*"]}',
    "packages/ui/package.json": '{"name": "@shop/ui", "dependencies": {"react": "^18.0.0"}}',
    "packages/ui/src/index.ts": "export * from './button';\nexport { default as hue } from './hue';\n",
    "packages/ui/src/button.ts": "export class Button {\n  press() {}\n}\n",
    "packages/ui/src/hue.ts": "export default () => ({ red: 1 });\n",
    "packages/ui/src/tests/shared.ts": "export function render() {}\n",
    "packages/ui/src/tests/button.test.ts": (
        "import { Button } from '@shop/ui';\nimport { render } from './shared';\n"
        "test('press', () => { render(); new Button(); });\n"
    ),
    "packages/site/package.json": '{"name": "site", "dependencies": {"@shop/ui": "workspace:*", "chalk": "1"}}',
    "packages/site/src/page.ts": (
        "import { Button } from '@shop/ui';\nimport { Button as Other } from '@shop/ui/button';\n"
        "import chalk from 'chalk';\n"
        "export function draw() {\n  const button = new Button();\n  button.press();\n  new Other();\n  chalk();\n}\n"
    ),
}


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_workspace_of_npm(database, tmp_path, is_absolute):
    """Packages by their names, from others and from within. Absolute paths begin at the root of the project."""
    found = index_project(database.store("default"), tmp_path, WORKSPACE, is_absolute=is_absolute)

    assert calls(found) == {
        ("packages/site/src/page.draw", "packages/ui/src/button.Button"),
        ("packages/site/src/page.draw", "packages/ui/src/button.Button.press"),
        ("packages/ui/src/tests/button.test", "packages/ui/src/button.Button"),
        ("packages/ui/src/tests/button.test", "packages/ui/src/tests/shared.render"),
    }
    assert calls(found, "tests") == {("packages/ui/src/tests/button.test", "packages/ui/src/button.Button")}


def test_files_of_equal_names_are_modules_of_their_own(database, tmp_path):
    """With absolute paths and without a project file too."""
    store = database.store("default")
    index_project(
        store, tmp_path, {"a/mod.ts": "export function f() {}\n", "b/mod.ts": "export function f() {}\n"}, True
    )

    names = [entity.name for entity in store.graph.entities_after("", limit=100)]
    assert len([name for name in names if name.endswith("/mod.f")]) == 2


GO_HELPERS = {
    "go.mod": "module example.com/app\n",
    "disk.go": "package app\ntype Disk struct{}\nfunc Open() *Disk { return &Disk{} }\nfunc parse() {}\n",
    "util_test.go": (
        "package app\ntype fake struct{}\nfunc (f fake) read() { Open() }\nfunc check(d *Disk) { parse() }\n"
        "func (d *Disk) peek() {}\n"
    ),
    "disk_test.go": (
        "package app\nfunc TestOpen(t *testing.T) {\n\tcheck(Open())\n\tparse()\n\tf := fake{}\n\tf.read()\n}\n"
    ),
}


def test_helpers_of_go_tests_are_not_under_test(database, tmp_path):
    """They share the package with the code, also where another test file defines them."""
    found = index_project(database.store("default"), tmp_path, GO_HELPERS)

    assert calls(found, "tests") == {
        ("example.com/app.TestOpen", "example.com/app.Open"),
        ("example.com/app.TestOpen", "example.com/app.parse"),
    }
    assert {
        ("example.com/app.TestOpen", "example.com/app_test.check"),
        ("example.com/app_test.check", "example.com/app.parse"),
        ("example.com/app_test.fake.read", "example.com/app.Open"),
    } <= calls(found)
    assert ("example.com/app.Disk", "example.com/app.Disk.peek") in calls(found, "defines")


def test_what_tests_share_is_not_under_test(database, tmp_path):
    """A module `tests` of the library itself may be."""
    files = {
        "src/app/__init__.py": "x = 1\n",
        "src/app/tests.py": "def is_even(n):\n    pass\n",
        "tests/__init__.py": "x = 1\n",
        "tests/helpers.py": "def make():\n    pass\n",
        "tests/test_app.py": (
            "from app.tests import is_even\nfrom tests.helpers import make\n\ndef test_even():\n    is_even(make())\n"
        ),
    }
    found = index_project(database.store("default"), tmp_path, files)

    assert calls(found, "tests") == {("tests.test_app.test_even", "app.tests.is_even")}
