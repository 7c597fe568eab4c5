"""What is guessed of questions and replies, and what is learnt from replies that came."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import apsw
import pytest

from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply_cache import ReplyFile
from weft.models.llm.statistics import Expected, Habits, Paid, iter_sizes
from weft.text.tokens import guess_model_tokens

PROSE = (
    "The quick brown fox jumps over the lazy dog. It was seen near the old mill, where nobody had expected it to be."
)
CODE = """def find_names(text: str) -> list[str]:
    return [word for word in text.split() if word[0].isupper()]
"""


@pytest.mark.parametrize(
    "text, counts",
    [
        (PROSE, (26, 26, 26, 26)),
        (CODE, (29, 29, 29, 33)),
        ("支付网关超时怎么处理？先检查密钥，然后重试。", (22, 16, 22, 20)),
        (Prompt().system, (360, 360, 372, 364)),
        (json.dumps(SCHEMA), (265, 265, 271, 262)),
    ],
)
def test_tokens_are_guessed_as_models_count_them(text: str, counts: tuple[int, ...]) -> None:
    """Counted with the vocabularies of GPT-4, GPT-4o, Mistral Nemo and Claude 2: in the middle of them."""
    assert guess_model_tokens(text) == pytest.approx(mean(counts), rel=0.1)


def test_no_text_has_no_tokens() -> None:
    assert guess_model_tokens("") == 0


def fill(file: ReplyFile, count: int) -> None:
    """Keep replies of a model that counts 50 tokens more than guessed, and replies 10 and twice what is expected."""
    for number in range(count):
        guessed, expected = 500 + number, 100.0 + 7 * number
        tokens_out = round(10 + 2 * expected)
        paid = Paid(guessed=guessed, expected=expected, tokens_in=guessed + 50, tokens_out=tokens_out, seconds=2.0)
        file.write(bytes([number]) * 32, {}, paid)


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


def test_a_file_and_its_rows_tell_the_same_habits(tmp_path: Path) -> None:
    """Summed by the database or here; what is guessed is that of now."""
    file = ReplyFile(tmp_path / "replies.db", model="m")
    fill(file, 25)
    guesses = {bytes([number]) * 32: (500 + number, 100.0 + 7 * number) for number in range(30)}
    paid = file.paid(guesses)

    assert len(paid) == 25
    assert Habits.of(paid.values()) == file.habits()


def test_replies_that_spread_more_make_the_margin_wider() -> None:
    """So do fewer of them, and passages that are unlike those asked about."""

    def expect(spread: int, *, replies: int = 60, reply: float = 28_000.0) -> Expected:
        rows = [
            Paid(guessed=500, expected=200.0 + n, tokens_in=500, tokens_out=300 + spread * (n % 3), seconds=1.0)
            for n in range(replies)
        ]
        found = Habits.of(rows).expect(calls=120, question=60_000.0, reply=reply)
        assert found is not None
        return found

    assert expect(0).error == pytest.approx(0, abs=1)
    assert expect(50).margin < expect(100).margin
    assert expect(50).error < expect(50, replies=30).error
    assert expect(50).error < expect(50, reply=40_000.0).error


@pytest.mark.parametrize(
    "most, chunks, sizes",
    [(500, 1000, [60, 75, 93, 116, 145, 181, 226, 282, 352, 440, 500]), (500, 200, [60, 75, 93, 100]), (80, 50, [50])],
)
def test_a_sample_grows_to_half_of_what_there_is(most: int, chunks: int, sizes: list[int]) -> None:
    assert list(iter_sizes(most, chunks=chunks)) == sizes


def test_enough_is_known_where_the_rest_or_the_whole_is() -> None:
    """Within 8 %, or within 5 % with what was paid for the sample."""
    known = Expected(tokens_in=0.0, tokens_out=1000.0, seconds=0.0, error=79.0)
    unknown = Expected(tokens_in=0.0, tokens_out=1000.0, seconds=0.0, error=99.0)

    assert known.is_sure(paid=0.0)
    assert [unknown.is_sure(paid=paid) for paid in (0.0, 900.0, 1000.0)] == [False, False, True]


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
