"""What is guessed of questions and replies, and what is learnt from replies that came."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from weft.models.llm_prompt import SCHEMA, Prompt
from weft.models.reply_file import Kept, ReplyFile
from weft.text.tokens import guess_model_tokens

PROSE = (
    "The quick brown fox jumps over the lazy dog. It was seen near the old mill, where nobody had expected it to be."
)
CODE = """def find_names(text: str) -> list[str]:
    return [word for word in text.split() if word[0].isupper()]
"""


@pytest.mark.parametrize(
    "text, counted",
    [
        (PROSE, 26),
        (CODE, 29),
        ("支付网关超时怎么处理？先检查密钥，然后重试。", 22),
        (Prompt().system, 360),
        (json.dumps(SCHEMA), 265),
    ],
)
def test_tokens_are_guessed_as_a_model_counts_them(text: str, counted: int) -> None:
    """Counted with the vocabulary of GPT-4."""
    assert guess_model_tokens(text) == pytest.approx(counted, rel=0.12)


def test_no_text_has_no_tokens() -> None:
    assert guess_model_tokens("") == 0


def fill(file: ReplyFile, count: int) -> None:
    """Keep replies of a model that counts 50 tokens more than guessed, and replies 10 and twice what is expected."""
    for number in range(count):
        guessed, expected = 500 + number, 100.0 + 7 * number
        tokens_out = round(10 + 2 * expected)
        kept = Kept(
            items={}, guessed=guessed, expected=expected, tokens_in=guessed + 50, tokens_out=tokens_out, seconds=2.0
        )
        file.write(bytes([number]) * 32, kept)


def test_what_comes_is_foretold_by_what_came(tmp_path: Path) -> None:
    """By a line where there are enough replies, by their share where there are few, not at all by four."""
    expect = {"calls": 10, "question": 6000.0, "reply": 2000.0}
    many, few, hardly = (ReplyFile(tmp_path / f"{count}.db", model="m") for count in (30, 8, 4))
    for file, count in ((many, 30), (few, 8), (hardly, 4)):
        fill(file, count)

    found, about = many.habits().expect(**expect), few.habits().expect(**expect)  # type: ignore[arg-type]
    assert found is not None
    assert (found.tokens_in, found.tokens_out) == pytest.approx((6500, 4100))
    assert found.seconds == pytest.approx(20)
    assert found.margin < 0.001
    assert about is not None
    assert about.tokens_out == pytest.approx(4160, abs=30)
    assert 0 < about.margin < 0.1
    assert hardly.habits().expect(**expect) is None  # type: ignore[arg-type]


def test_a_file_of_before_is_read_and_its_replies_are_no_habits(tmp_path: Path) -> None:
    """Nothing that was paid for is lost; what was expected then is not known."""
    path = tmp_path / "replies.db"
    old = apsw.Connection(str(path))
    columns = "prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds"
    old.execute(f"CREATE TABLE replies ({columns}, PRIMARY KEY (prompt, model, digest)) WITHOUT ROWID")
    old.execute("INSERT INTO replies VALUES ('', 'm', ?, '{\"entities\": []}', 5, 5, 5, 1.0)", (b"d" * 32,))
    old.close()
    file = ReplyFile(path, model="m")

    assert file.read([b"d" * 32]) == {b"d" * 32: {"entities": []}}
    fill(file, 6)
    assert file.habits().replies == 6
