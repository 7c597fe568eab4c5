"""Random damage of every kind of file: no process dies, and no index or cache changes an answer."""

import shutil
from collections import Counter

import pytest
from fault_settings import chance, count
from file_damage import damage
from file_probes import WAL_DOCUMENTS

DAMAGES = 300
INDEX_FILES = {
    "vectors": "weft.db.index/vectors-*.segment",
    "chunk ids": "weft.db.index/vectors-*.ids",
    "postings": "weft.db.index/keywords-*.segment",
    "entity vectors": "weft.db.index/entities-*.segment",
    "manifests": "weft.db.index/*.json",
}
MODEL_FILES = ("model.onnx", "tokenizer.json", "card.json")


@pytest.fixture(scope="module")
def intact(fork_server, tmp_path_factory):
    """Give a function that returns a folder with intact files, made once."""
    made = {}

    def make(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("intact")
            fork_server.value(f"file_probes:make_{kind}", folder=str(made[kind]))
        return made[kind]

    return make


def damaged(folder, work, pattern, random):
    """Copy a folder and damage one of the files that match; return what was done."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder, work)
    file = random.choice(sorted(work.glob(pattern)))
    return f"{damage(file, random)} of {file.name}"


@pytest.mark.parametrize("pattern", INDEX_FILES.values(), ids=INDEX_FILES)
def test_a_damaged_read_index_never_changes_an_answer(fork_server, intact, tmp_path, pattern):
    """Vectors, keywords and entities are found as by a scan of the store; mapped and resident."""
    random = chance("read index", pattern)
    for number in range(count(DAMAGES)):
        what = damaged(intact("store"), tmp_path / "work", pattern, random)
        resident = random.random() < 0.5
        ended = fork_server.call("file_probes:probe_indexes", folder=str(tmp_path / "work"), resident=resident)
        assert (ended.status, ended.timed_out) == (0, False), f"{number}: {what}, {resident=}\n{ended.errors}"


def test_a_damaged_database_is_answered_or_reported(fork_server, intact, tmp_path):
    """Reading, searching, writing, checking and repairing end with an answer or with an error of Weft."""
    random, outcomes = chance("database"), Counter()
    for number in range(count(DAMAGES)):
        what = damaged(intact("store"), tmp_path / "work", "weft.db", random)
        ended = fork_server.call("file_probes:probe_database", folder=str(tmp_path / "work"))
        assert (ended.status, ended.timed_out) == (0, False), f"{number}: {what}\n{ended.errors}"
        outcomes.update(ended.value)
    print(f"\ndatabase: {dict(outcomes)}")


def test_a_damaged_wal_loses_only_the_last_transactions(fork_server, intact, tmp_path):
    """The rest is a beginning of the history, and sound; or an error is reported."""
    random, outcomes = chance("wal"), Counter()
    expected = [f"{number:02}" for number in range(WAL_DOCUMENTS)]
    for number in range(count(DAMAGES)):
        what = damaged(intact("wal"), tmp_path / "work", "weft.db-wal", random)
        value, error = fork_server.value("file_probes:probe_wal", folder=str(tmp_path / "work"))
        outcomes[error] += 1
        if not error:
            sources, problems = value
            assert sources == expected[: len(sources)], f"{number}: {what}"
            assert problems == [], f"{number}: {what}"
    print(f"\nwal: {dict(outcomes)}")


@pytest.mark.parametrize(
    "kind, pattern",
    [
        ("vector_cache", "vectors.db"),
        ("reply_cache", "replies.db"),
        *(("model_cache", f"cache/models/*/{name}") for name in MODEL_FILES),
    ],
)
def test_a_damaged_cache_gives_the_same_answer_or_an_error(fork_server, intact, tmp_path, kind, pattern):
    """A cache entry with other content is never used."""
    random, outcomes = chance(kind, pattern), Counter()
    for number in range(count(DAMAGES)):
        what = damaged(intact(kind), tmp_path / "work", pattern, random)
        value, error = fork_server.value(f"file_probes:probe_{kind}", folder=str(tmp_path / "work"))
        assert error or all(value), f"{number}: {what} gave another answer"
        outcomes[error] += 1
    print(f"\n{kind} {pattern}: {dict(outcomes)}")
