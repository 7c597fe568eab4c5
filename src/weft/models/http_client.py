"""One POST to an endpoint, tried again while that may help."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.retry_after import asked_wait

logger = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 60.0
"""Longest wait before another attempt. An endpoint that asks for more is given up."""
MAX_MESSAGE = 300

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_NO_QUOTA = "insufficient_quota"
"""OpenAI sends it with status 429, but waiting does not bring the money."""


class Refused(ModelUnavailable):
    """The endpoint answered with a status that is no success."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Transport:
    """
    Posts JSON with a key, by default as a bearer's, and gives the JSON of the answer.

    Waits double from half a second, each shortened by up to half at random, so that many clients do
    not come back at once. What the answer's headers ask for is obeyed. Connections are kept and shared between
    threads. `on_failure` is told of each attempt that failed: `rate limit`, `server`, `refused`, `timeout`,
    `connection` or `no json`.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str,
        attempts: int,
        timeout_seconds: float,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        setting: str = "models.base_url",
        key_name: str = "OPENAI_API_KEY",
        on_failure: Callable[[str], None] = lambda kind: None,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._url = url
        self._max_wait_seconds = max_wait_seconds
        self._key_header = key_header
        self._headers = dict(headers or {})
        self._setting = setting
        self._key_name = key_name
        self._on_failure = on_failure
        self._api_key = api_key
        self._attempts = attempts
        self._timeout_seconds = timeout_seconds
        self._sleep = sleep
        self._jitter = jitter
        self._lock = Lock()
        self._client: Any = None
        self._is_told = False

    def __repr__(self) -> str:
        return f"Transport({self._url!r})"

    def post(self, body: object, *, sleep: Callable[[float], None] | None = None) -> object:
        """
        Return the answer to `body`. Raises `ModelUnavailable`, or `BadModelOutput` for no JSON.

        `sleep` waits in the place of the usual one; what it raises ends the attempts.
        """
        failure = ModelUnavailable("no attempt was made")
        for attempt in range(self._attempts):
            wait = FIRST_WAIT_SECONDS * 2**attempt * (1 - self._jitter() / 2)
            try:
                response = self._send(body)
            except ModelUnavailable as error:
                failure = error
            else:
                if response.status_code < 300:
                    return self._read_json(response)
                failure = self._refusal(response)
                self._on_failure(_kind(response.status_code))
                if response.status_code not in _RETRIED or _NO_QUOTA in response.text:
                    raise failure
                wait = asked_wait({name.lower(): value for name, value in response.headers.items()}) or wait
            if wait > self._max_wait_seconds:
                raise failure
            if attempt + 1 < self._attempts:
                self._tell_waiting(wait, failure, is_again=attempt > 0)
                (sleep or self._sleep)(wait)
        raise failure

    def _tell_waiting(self, seconds: float, failure: ModelUnavailable, *, is_again: bool) -> None:
        """Where a second attempt fails too, say so aloud, once: somebody may sit before it."""
        is_loud = is_again and not self._is_told
        self._is_told |= is_loud
        logger.log(logging.WARNING if is_loud else logging.INFO, "trying again in %.1f s: %s", seconds, failure)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _send(self, body: object) -> Any:
        """Return the response, whatever its status. Raises `ModelUnavailable` when there is none."""
        import httpx

        prefix = "Bearer " if self._key_header == "Authorization" else ""
        headers = self._headers | ({self._key_header: f"{prefix}{self._api_key}"} if self._api_key else {})
        try:
            return self._get_client().post(self._url, json=body, headers=headers)
        except (httpx.TransportError, httpx.DecodingError, httpx.InvalidURL) as error:
            self._on_failure("timeout" if isinstance(error, httpx.TimeoutException) else "connection")
            reason = self._redact(f"{type(error).__name__}: {error}")
            raise ModelUnavailable(
                f"{self._url!r} cannot be reached: {reason}",
                hint=f"check the address and the network; `{self._setting}` sets another endpoint",
            ) from error

    def _get_client(self) -> Any:
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(timeout=self._timeout_seconds)
                # Whoever forgets to close us does not leave connections open.
                weakref.finalize(self, self._client.close)
            return self._client

    def _read_json(self, response: Any) -> object:
        try:
            answer: object = response.json()
        except ValueError as error:
            self._on_failure("no json")
            start = self._redact(response.text[:80])
            hint = f"is it the address of the API? `{self._setting}` usually ends with /v1"
            raise BadModelOutput(f"{self._url!r} answered with no JSON: {start!r}", hint=hint) from error
        return answer

    def _refusal(self, response: Any) -> Refused:
        return Refused(
            f"{self._url!r} refused with {response.status_code}: {self._redact(_server_message(response))}",
            status=response.status_code,
            hint=self._remedy(response.status_code, response.text),
        )

    def _remedy(self, status: int, text: str) -> str:
        """Return what helps against a refusal, where its status tells."""
        if status in (401, 403):
            return f"check the key in {self._key_name}" if self._api_key else f"no key was sent: set {self._key_name}"
        if status == 404:
            return f"check the name of the model, and `{self._setting}`, which usually ends with /v1"
        if _NO_QUOTA in text:
            return "the account has nothing left to spend; what was done is kept"
        return "try again later; what was done is kept" if status in _RETRIED else ""

    def _redact(self, text: str) -> str:
        """Return the text, shortened, without the key: some servers quote it in their refusal."""
        return (text.replace(self._api_key, "***") if self._api_key else text)[:MAX_MESSAGE]


def _kind(status: int) -> str:
    if status == 429:
        return "rate limit"
    return "server" if status >= 500 else "refused"


def _server_message(response: Any) -> str:
    """Return what the server says went wrong: the API's own message, or the body."""
    try:
        body = response.json()
    except ValueError:
        return " ".join(response.text.split())
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(message).split())
