"""Questions that presuppose what no passage says of a name."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.testing import FakeEmbedder

TEXTS = {
    "Scheduler": "The Scheduler holds a leader lease. One replica renews the lease, the others wait for it.",
    "Cassandra": "A Cassandra ring has three seeds. Its gossip needs port 7000.",
    "Teleport": "Teleport 把内容移动到页面的另一个位置。",
    "Angular": "Angular 是另一个框架，迁移的人会认出指令。",
}
PAGES = [
    Document(source=f"{title.lower()}.md", title=title, text=f"# {title}\n\n{text}") for title, text in TEXTS.items()
]

SAID = "no passage there is about the rest of the question"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with open_engine(tmp_path_factory.mktemp("shared") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(PAGES)
        yield engine


@pytest.mark.parametrize("method", ["auto", "hybrid", "keyword"])
@pytest.mark.parametrize(
    "question",
    [
        "Why does the Scheduler store its leader lease in Cassandra?",
        "How does Cassandra renew the leader lease of the Scheduler?",
        "Teleport 怎样把内容移动到 Angular 的位置",
    ],
)
def test_a_name_that_no_passage_connects_with_the_question_is_reported(engine, question, method):
    """The best passages stay, and the reason cites a passage with the name."""
    result = engine.query(question, method=method)

    assert result.status == "low_confidence" and result.evidence
    (note,) = (note for note in result.notes if SAID in note)
    assert "cassandra.md:" in note or "angular.md:" in note


@pytest.mark.parametrize(
    "question",
    [
        "Why does the Scheduler hold a leader lease?",
        "How does the gossip of Cassandra use its port and seeds?",
        "Who renews the lease that the Scheduler holds beside Cassandra?",
        "Why Cassandra?",
    ],
)
def test_other_questions_stay_as_sure_as_they_are(engine, question):
    """They presuppose nothing, say too little, or a passage says enough of the name."""
    assert not any(SAID in note for note in engine.query(question).notes)
