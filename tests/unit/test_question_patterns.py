"""Patterns of questions over real repositories in which the graph once took a right first place."""

import pytest
from source_code import make_code

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.testing import FakeEmbedder

PAGES = {
    "docs/pull.md": "# Pull Queue\n\nA worker asks for jobs. Its weakness: a slow worker starves the others. "
    "See [[Lease]] and [[Worker Pool]].",
    "docs/lease.md": "# Lease\n\nA lease fixes the weakness of a slow worker: jobs return to the queue after a minute.",
    "docs/pool.md": "# Worker Pool\n\nThe [[Pull Queue]] feeds a pool. The pool of the Pull Queue grows by load.",
    "docs/metrics.md": "# Metrics\n\nThe [[Pull Queue]] counts jobs, and the [[Worker Pool]] counts workers.",
    "docs/environment.md": "# Environment\n\nVariables of the shell. See [[Metrics]] and [[Settings]].",
    "docs/settings.md": "# Settings\n\nThe [[Environment]] overrides settings of a file.",
    "docs/sandbox.md": "# Sandboxes\n\nHow to keep the tools of one project apart from those of another: install each "
    "project into a folder of its own.",
}
CODE = {
    "relay/backoff.py": 'class Backoff:\n    """Computes the delay between attempts."""\n\n'
    "    def next_delay(self, attempt):\n        return min(60, 2**attempt)\n",
    "relay/client.py": "from relay.backoff import Backoff\n\n\nclass Client:\n    def send(self, message):\n"
    "        backoff = Backoff()\n        for attempt in range(5):\n"
    "            self.wait(backoff.next_delay(attempt))\n\n    def wait(self, delay):\n        pass\n",
    "relay/worker.py": "from relay.backoff import Backoff\nfrom relay.client import Client\n\n\ndef run(queue):\n"
    "    backoff = Backoff()\n    client = Client()\n    for message in queue:\n        client.send(message)\n"
    "        client.wait(backoff.next_delay(0))\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with open_engine(tmp_path_factory.mktemp("foreign") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(
            [
                Document(source=source, title=text[2:].partition("\n")[0], text=text, form="markdown")
                for source, text in PAGES.items()
            ]
        )
        engine.add([make_code(source, text) for source, text in CODE.items()])
        yield engine


@pytest.mark.parametrize("method", ["auto", "hybrid"])
@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("Which page fixes the weakness of the Pull Queue, a slow worker?", "docs/lease.md"),
        ("how to keep the tools of a project apart from the environment of another", "docs/sandbox.md"),
        ("Which class computes the delay between attempts, Backoff?", "relay/backoff.py"),
    ],
)
def test_the_first_place_is_right(engine, method, question, source):
    """A thing named in passing, a paraphrase with one word of a title, and a definition with its uses."""
    assert engine.query(question, method=method).evidence[0].document.source == source


@pytest.mark.parametrize("top_k", [1, 2, 5])
@pytest.mark.parametrize("question", ["Pull Queue", "What does the Pull Queue link to?", "Pull Queue vs Worker Pool"])
def test_top_k_is_the_number_of_passages(engine, question, top_k):
    """Neighbours are in a list of their own and repeat no passage."""
    result = engine.query(question, top_k=top_k)
    shown = [piece.chunk.id for piece in (*result.evidence, *result.connected)]

    assert len(result.evidence) <= top_k
    assert len(shown) == len(set(shown))
    assert "Worker Pool" in {piece.document.title for piece in (*result.evidence, *result.connected)}


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("Which pages link to Pull Queue?", {"docs/pool.md", "docs/metrics.md"}),
        ("Who calls Backoff.next_delay?", {"relay/client.py", "relay/worker.py"}),
        ("Where is Backoff defined?", {"relay/backoff.py"}),
        ("Which modules import relay/backoff.py?", {"relay/client.py", "relay/worker.py"}),
    ],
)
def test_the_list_of_a_relation_is_complete(engine, question, sources):
    """Backlinks and callers came at rank 7, or never."""
    found = engine.query(question).relations

    assert found.total == len(sources)
    assert {item.citation.partition(":")[0] for item in found.items} == sources
