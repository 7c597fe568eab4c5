"""Chinese namespaces with the real models: they get the model for Chinese, and English ones beside them do not."""

import pytest

from weft.config import read_settings
from weft.engine import namespaces
from weft.engine.namespaces import Engines
from weft.engine.opening.open_engine import open_engine

pytestmark = pytest.mark.model

CHINESE = {
    "list.md": "# 列表渲染\n\n为每个元素提供唯一的 key，这样框架可以跟踪节点并重用现有元素，而不会打乱次序。",
    "refs.md": "# 模板引用\n\n在挂载之后，可以通过引用直接访问底层的节点，例如让输入框获得焦点。",
    "court.md": "# 宫廷\n\n君主由一名来自莱顿的医生照料。",
    "pay.md": "# 支付\n\n网关在三次重试之后放弃请求，并把订单放进队列，直到银行恢复服务。",
}
ENGLISH = {
    "bank.md": "# Bank\n\nThe gateway retries a request three times and then puts the order into a queue.",
    "king.md": "# Court\n\nThe monarch was cared for by a doctor from Leiden.",
}
PARAPHRASE = ("哪个大夫给国王看过病？", "court.md")
"""A question without a pair of characters of its answer, and the document that answers it."""


def write(folder, files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def is_loaded(engine):
    return engine.embedder._inner._loaded is not None


@pytest.mark.usefixtures("chinese_model")
def test_a_chinese_folder_gets_the_chinese_model_and_an_english_one_keeps_the_default(tmp_path):
    """In one file; the paraphrase shares no terms with its answer, so only the vectors can find it."""
    chinese, english = write(tmp_path / "zh", CHINESE), write(tmp_path / "en", ENGLISH)
    names = {}
    for namespace, folder in (("zh", chinese), ("en", english)):
        with open_engine(tmp_path / "weft.db", namespace=namespace) as engine:
            notes = engine.index(folder).notes
            names[namespace] = engine.embedder.card.name
            assert any(note.startswith("chose local/bge-small-zh") for note in notes) == (namespace == "zh")
    with open_engine(tmp_path / "weft.db", namespace="zh") as engine:
        first = engine.query(PARAPHRASE[0], method="vector", gate=False).evidence[0]
        assert not engine.query(PARAPHRASE[0], method="keyword", gate=False).evidence

    assert names == {"zh": "local/bge-small-zh", "en": "local/granite-30m"}
    assert first.document.source.endswith(PARAPHRASE[1])


@pytest.mark.usefixtures("chinese_model")
def test_a_server_loads_each_embedder_on_first_use_and_releases_the_oldest(tmp_path, monkeypatch):
    """With room for one, each question loads its own again and gets the same answer."""
    monkeypatch.setattr(namespaces, "MAX_LOADED_MODELS", 1)
    server = Engines(read_settings({"store.db": str(tmp_path / "weft.db")}))
    questions = {"zh": (CHINESE, PARAPHRASE[0]), "en": (ENGLISH, "Which physician treated the king?")}
    answers = []
    for namespace, (files, _) in questions.items():
        server.engine(namespace).index(write(tmp_path / namespace, files))
    for namespace in ("zh", "en", "zh", "en"):
        server.engine(namespace).embedder_slot.load()  # cached vectors need no weights
        result = server.engine(namespace).query(questions[namespace][1], method="vector", gate=False)
        answers.append((namespace, result.evidence[0].document.source, result.evidence[0].score))
        assert [name for name in questions if is_loaded(server.engine(name))] == [namespace]
    server.close()

    assert answers[:2] == answers[2:]
    assert answers[1][1].endswith("king.md")
