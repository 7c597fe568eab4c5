"""Chunks in scripts that the embedder does not support are not ranked as close."""

from dataclasses import replace

import numpy as np
import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.search.writing_systems import is_supported
from weft.testing import FakeEmbedder

HELMETS = "Helmets are worn in all halls. The safety officer is on the second floor."
LEAVE = "يحق لكل موظف ثلاثون يوما من الإجازة السنوية. يجب تقديم الطلب قبل أسبوعين."


class Latin(FakeEmbedder):
    """Knows Latin letters alone, and puts all other texts right beside every question."""

    @property
    def card(self):
        return replace(super().card, scripts=frozenset({"latin"}), floor=0.1)

    def embed(self, texts, *, kind="document"):
        vectors = super().embed(texts, kind=kind)
        for at, text in enumerate(texts):
            if not is_supported(text, card=self.card) or kind == "query":
                vectors[at] = np.eye(vectors.shape[1])[0]
        return vectors


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "x.db", embedder=Latin()) as engine:
        engine.add(
            [
                Document(source="helmets", title="", text=HELMETS),
                Document(source="leave", title="", text=LEAVE),
                Document(source="both", title="", text=f"{LEAVE} ID-77 {LEAVE}"),
            ]
        )
        yield engine


def found(engine, question, **options):
    return [piece.document.source for piece in engine.query(question, **options).evidence]


@pytest.mark.parametrize("method", ["mix", "hybrid"])
def test_what_only_a_meaningless_vector_found_is_not_shown(engine, method):
    """It has the highest cosine of all, and neither makes an answer nor stands in one."""
    assert found(engine, "who is the safety officer?", method=method) == ["helmets"]
    assert found(engine, "who is the safety officer?", method=method, gate=False) == ["helmets"]


def test_what_words_found_is_shown_whatever_its_script(engine):
    """An identifier is the same in every language."""
    assert found(engine, "ID-77") == ["both"]


def test_a_question_in_such_a_script_is_answered_as_before(engine):
    """Vectors have weight 0 for such a question."""
    assert found(engine, "ثلاثون يوما من الإجازة")[0] in ("leave", "both")


def test_a_model_of_all_scripts_reads_everything():
    """Plain ASCII every model reads."""
    latin, every = Latin().card, FakeEmbedder().card

    assert is_supported("12 + 5", card=latin)
    assert is_supported(HELMETS, card=latin)
    assert not is_supported(LEAVE, card=latin)
    assert is_supported(LEAVE, card=replace(every, scripts=frozenset({"*"})))
