"""Token estimates of questions and replies, and the statistics of cached replies."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import apsw
import pytest

from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost, ReplyStatistics, UsageEstimate, iter_sample_sizes
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


def fill(file: ReplyCache, count: int) -> None:
    """Write replies whose questions have 50 tokens more than estimated, and whose length is 10 + 2 * the estimate."""
    for number in range(count):
        estimated_in, estimated_out = 500 + number, 100.0 + 7 * number
        cost = ReplyCost(
            estimated_in=estimated_in,
            estimated_out=estimated_out,
            tokens_in=estimated_in + 50,
            tokens_out=round(10 + 2 * estimated_out),
            seconds=2.0,
        )
        file.write(bytes([number]) * 32, {}, cost)


def test_usage_is_estimated_from_earlier_replies(tmp_path: Path) -> None:
    """By a line from 20 replies on, by a ratio from 5 on, not at all below."""
    further = {"calls": 10, "question": 6000.0, "reply": 2000.0}
    many, few, hardly = (ReplyCache(tmp_path / f"{count}.db", model="m") for count in (30, 8, 4))
    for file, count in ((many, 30), (few, 8), (hardly, 4)):
        fill(file, count)

    found, about = many.statistics().estimate(**further), few.statistics().estimate(**further)  # type: ignore[arg-type]
    assert found is not None
    assert (found.tokens_in, found.tokens_out) == pytest.approx((6500, 4100))
    assert found.seconds == pytest.approx(20)
    assert found.margin < 0.001
    assert about is not None
    assert about.tokens_out == pytest.approx(4160, abs=30)
    assert 0 < about.margin < 0.1
    assert hardly.statistics().estimate(**further) is None  # type: ignore[arg-type]


def test_a_file_and_its_rows_have_the_same_statistics(tmp_path: Path) -> None:
    """Summed by SQLite or in Python; the estimates are those of the call."""
    file = ReplyCache(tmp_path / "replies.db", model="m")
    fill(file, 25)
    guesses = {bytes([number]) * 32: (500 + number, 100.0 + 7 * number) for number in range(30)}
    costs = file.costs(guesses)

    assert len(costs) == 25
    assert ReplyStatistics.of(costs.values()) == file.statistics()


def test_replies_that_spread_more_make_the_margin_wider() -> None:
    """Fewer replies and passages unlike the sample widen it too."""

    def estimate(spread: int, *, replies: int = 60, reply: float = 28_000.0) -> UsageEstimate:
        rows = [
            ReplyCost(
                estimated_in=500, estimated_out=200.0 + n, tokens_in=500, tokens_out=300 + spread * (n % 3), seconds=1.0
            )
            for n in range(replies)
        ]
        found = ReplyStatistics.of(rows).estimate(calls=120, question=60_000.0, reply=reply)
        assert found is not None
        return found

    assert estimate(0).error == pytest.approx(0, abs=1)
    assert estimate(50).margin < estimate(100).margin
    assert estimate(50).error < estimate(50, replies=30).error
    assert estimate(50).error < estimate(50, reply=40_000.0).error


@pytest.mark.parametrize(
    "most, chunks, sizes",
    [(500, 1000, [60, 75, 93, 116, 145, 181, 226, 282, 352, 440, 500]), (500, 200, [60, 75, 93, 100]), (80, 50, [50])],
)
def test_a_sample_grows_to_half_of_what_there_is(most: int, chunks: int, sizes: list[int]) -> None:
    assert list(iter_sample_sizes(most, chunks=chunks)) == sizes


def test_an_estimate_is_precise_for_the_rest_or_for_the_total() -> None:
    """Within 8 % of the rest, or within 5 % of rest and sample together."""
    known = UsageEstimate(tokens_in=0.0, tokens_out=1000.0, seconds=0.0, error=79.0)
    unknown = UsageEstimate(tokens_in=0.0, tokens_out=1000.0, seconds=0.0, error=99.0)

    assert known.is_precise(sampled=0.0)
    assert [unknown.is_precise(sampled=tokens) for tokens in (0.0, 900.0, 1000.0)] == [False, False, True]


def test_replies_of_an_old_file_are_read_but_not_in_the_statistics(tmp_path: Path) -> None:
    """Paid replies are kept, but the file has no estimates."""
    path = tmp_path / "replies.db"
    old = apsw.Connection(str(path))
    columns = "prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds"
    old.execute(f"CREATE TABLE replies ({columns}, PRIMARY KEY (prompt, model, digest)) WITHOUT ROWID")
    old.execute("INSERT INTO replies VALUES ('', 'm', ?, '{\"entities\": []}', 5, 5, 5, 1.0)", (b"d" * 32,))
    old.close()
    file = ReplyCache(path, model="m")

    assert file.read([b"d" * 32]) == {b"d" * 32: {"entities": []}}
    fill(file, 6)
    assert file.statistics().replies == 6
