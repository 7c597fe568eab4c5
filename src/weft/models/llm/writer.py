"""Writer of answers: requests a few cited sentences from a language model and streams them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.models.base import ChatReply
from weft.models.llm.passage_requests import PassageRequests
from weft.text.tokens import guess_model_tokens


class LlmWriter(PassageRequests):
    """Writes an answer from passages with one request."""

    VERSION = "answer-1"
    MAX_REPLY_TOKENS = 500
    PURPOSE = "written answers"

    def write(self, query: str, texts: Sequence[str]) -> Iterator[str]:
        """Yield the answer in pieces. Raises `ModelUnavailable`, also if a limit is reached, or `BadModelOutput`."""
        user, text = self._prompt.user(query, texts), ""
        with self._request(user, on_end=self.write_receipt) as request:
            stream = self._chat.stream(system=self._prompt.system, user=user)
            try:
                while request.reply is None:
                    try:
                        piece = next(stream)
                    except StopIteration as end:
                        request.reply = end.value
                    else:
                        text += piece
                        yield piece
            finally:
                stream.close()
                if request.reply is None and text:  # abandoned, but paid for
                    tokens_out = guess_model_tokens(text)
                    request.reply = ChatReply(
                        text=text, tokens_in=request.tokens_in, tokens_out=tokens_out, is_guessed=True
                    )
