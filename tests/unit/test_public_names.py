"""Names that a package exports: `import *`, `__all__`, re-exports, aliases of imports."""

import pytest
from source_code import index_code, read_file, relations, stored_relations

INIT = "from ._client import *\nfrom ._models import *\nfrom .tools import shout\nfrom .db import *\n"
CLIENT = """from ._models import Reply

__all__ = ["Client", "fetch"]


class Base:
    def close(self):
        pass


class Client(Base):
    def get(self, url) -> Reply:
        return Reply(url)


def fetch(url):
    with Client() as client:
        return client.get(url)


def hidden():
    pass
"""
MODELS = "class Reply:\n    def text(self):\n        return ''\n\n\ndef _private():\n    pass\n"
TOOLS = "def shout():\n    pass\n\n\ndef repeat():\n    pass\n"
OTHER_TOOLS = "def shout():\n    pass\n"
TESTS = """import web
import web as w
from web import *
from web.db import Text
from pytest import raises


def test_fetch():
    assert web.fetch("x")


def test_alias():
    assert w.Client().get("x")


def test_with():
    with web.Client() as client:
        client.get("x")


def test_star(reply):
    assert fetch("x") or Reply("x")
    reply()
    len("x")


def test_error():
    with raises(web.Error):
        web.hidden()


def test_named():
    web.shout()
    web.repeat()
    Text()


def helper():
    web.fetch("x")
"""
PACKAGE = {
    "src/web/__init__.py": INIT,
    "src/web/_client.py": CLIENT,
    "src/web/_models.py": MODELS + "\n\nclass Error(Exception):\n    pass\n",
    "src/web/tools.py": TOOLS,
    "src/web/other_tools.py": OTHER_TOOLS,
    "src/web/db/__init__.py": "from .fields import *\n",
    "src/web/db/fields.py": "class Text:\n    pass\n",
    "tests/test_web.py": TESTS,
}


def index_package(store, files):
    index_code(store, files)
    return {(source.rpartition(".")[2], target) for source, _, target in stored_relations(store, "tests")}


def test_tests_lead_to_the_definitions_behind_the_public_names_of_a_package(database):
    """`import *`, `__all__`, aliases of imports, names passed to a call; a private name is not public."""
    assert index_package(database.store("default"), PACKAGE) == {
        ("test_web", "web"),
        ("test_fetch", "web._client.fetch"),
        ("test_alias", "web._client.Client"),
        ("test_alias", "web._client.Client.get"),
        ("test_with", "web._client.Client"),
        ("test_with", "web._client.Client.get"),
        ("test_star", "web._client.fetch"),
        ("test_star", "web._models.Reply"),
        ("test_error", "web._models.Error"),
        ("test_named", "web.tools.shout"),
        ("test_named", "web.tools.repeat"),
        ("test_named", "web.db.fields.Text"),
    }


def test_the_order_of_indexing_does_not_matter(database):
    """No row of one file depends on another file."""
    forward, backward = database.store("forward"), database.store("backward")
    index_package(forward, PACKAGE)
    for source in reversed(PACKAGE):
        index_code(backward, {source: PACKAGE[source]})

    assert stored_relations(forward) == stored_relations(backward)


def test_a_name_that_a_package_exports_counts_before_equal_names_of_other_modules(database):
    """Without the export, `web.shout` could be either definition."""
    store = database.store("default")
    index_package(store, PACKAGE)
    assert store.graph.find_entities(["code:web.shout"])["code:web.shout"].name == "web.tools.shout"

    index_code(store, {"src/web/__init__.py": INIT.replace("from .tools import shout\n", "")})
    assert not store.graph.find_entities(["code:web.shout"])


def test_a_deleted_definition_takes_its_public_name_along(database):
    """A stated relation about a name that no package has is not shown."""
    store = database.store("default")
    before = index_package(store, PACKAGE)
    gone = before - index_package(store, {"src/web/db/fields.py": "x = 1\n"})

    assert gone == {("test_named", "web.db.fields.Text")}
    assert index_package(store, {"src/web/db/fields.py": PACKAGE["src/web/db/fields.py"]}) == before


@pytest.mark.parametrize(
    "text, public",
    [
        ("__all__ = ['run']\ndef run(): pass\ndef stop(): pass\n", {"app.sub.run", "app.run"}),
        ("__all__: list[str] = [\n    'run',\n    'stop',\n]\ndef run(): pass\n", {"app.sub.run", "app.run"}),
        ("__all__ = ()\n__all__ += ('_run',)\ndef _run(): pass\n", {"app.sub._run", "app._run"}),
        ("__all__ = []\ndef run(): pass\n", set()),
        ("def run():\n    def inner(): pass\n\ndef _stop(): pass\n", {"app.sub.run", "app.run"}),
    ],
)
def test_public_names_of_a_module(text, public):
    """Those of `__all__`, or all without an underscore, in the packages around the module."""
    _, found = read_file("src/app/sub/core.py", text)
    names = {n.name for e in found for n in e.candidates if n.reason == "public name of its package"}
    assert names == public


def test_test_files_have_no_public_names():
    """Nobody imports a test from the package around it."""
    _, found = read_file("app/tests/test_core.py", "def test_run(): pass\n")
    assert not [n for e in found for n in e.candidates if n.reason == "public name of its package"]


def test_names_that_a_file_binds_are_not_looked_up_in_star_imports():
    """Parameters, local variables, own definitions and builtins."""
    text = "from lib import *\n\ndef own(): pass\n\ndef run(task):\n    task()\n    own()\n    print(task)\n    go()\n"
    assert relations(read_file("app/main.py", text)[1], "calls") == {
        ("app.main.run", "calls", "app.main.own"),
        ("app.main.run", "calls", "lib.go"),
    }
