"""HTTP client for JSON endpoints, with retries and exponential backoff."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.retry_after import requested_wait

if TYPE_CHECKING:
    import ssl

logger = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 60.0
"""Maximum seconds to wait before a retry. If the endpoint requests a longer wait, the call fails."""
MAX_MESSAGE_CHARACTERS = 300

_RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_NO_QUOTA = "insufficient_quota"
"""Error code of an exhausted quota. OpenAI sends it with status 429, but a retry cannot succeed."""


class RequestRefused(ModelUnavailable):
    """The endpoint responded with an error status."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Transport:
    """
    Posts JSON with an API key, by default as a bearer token, and returns the JSON of the response.

    The wait between attempts starts at 0.5 s and doubles. Jitter shortens it by up to half to spread the retries of
    several clients. A wait requested by the response headers takes precedence. Connections are reused and shared
    between threads. `on_failure` is called for each failed attempt with `rate limit`, `server`, `refused`, `timeout`,
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
        self._has_warned = False

    def __repr__(self) -> str:
        return f"Transport({self._url!r})"

    def post(self, body: object, *, sleep: Callable[[float], None] | None = None) -> object:
        """
        Return the response to `body`. Raises `ModelUnavailable`, or `BadModelOutput` if it is not JSON.

        `sleep` replaces the default sleep function; an exception raised by it ends the attempts.
        """
        failure = ModelUnavailable("no request was sent")
        for attempt in range(self._attempts):
            wait = FIRST_WAIT_SECONDS * 2**attempt * (1 - self._jitter() / 2)
            try:
                response = self._send(body)
            except ModelUnavailable as error:
                failure = error
            else:
                if response.status_code < 300:
                    return self._read_json(response)
                failure = self._status_error(response)
                self._on_failure(_kind(response.status_code))
                if response.status_code not in _RETRIED_STATUSES or _NO_QUOTA in response.text:
                    raise failure
                wait = requested_wait({name.lower(): value for name, value in response.headers.items()}) or wait
            if wait > self._max_wait_seconds:
                raise failure
            if attempt + 1 < self._attempts:
                self._log_retry(wait, failure, attempt=attempt)
                (sleep or self._sleep)(wait)
        raise failure

    @contextmanager
    def stream(self, body: object) -> Iterator[Iterator[str]]:
        """
        Open the response to `body` as an iterator of lines; one attempt, because someone is waiting.

        Raises `ModelUnavailable`, also if the connection breaks while it is read.
        """
        import httpx

        try:
            with self._get_client().stream("POST", self._url, json=body, headers=self._request_headers()) as response:
                if response.status_code >= 300:
                    response.read()
                    self._on_failure(_kind(response.status_code))
                    raise self._status_error(response)
                yield response.iter_lines()
        except (httpx.TransportError, httpx.DecodingError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error

    def _log_retry(self, seconds: float, failure: ModelUnavailable, *, attempt: int) -> None:
        """Log a retry. The second failed attempt is logged once as a warning, because a user may be waiting."""
        is_warning = attempt > 0 and not self._has_warned
        self._has_warned |= is_warning
        logger.log(logging.WARNING if is_warning else logging.INFO, "retrying in %.1f s: %s", seconds, failure)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _send(self, body: object) -> Any:
        """Return the response of any status. Raises `ModelUnavailable` if there is none."""
        import httpx

        try:
            return self._get_client().post(self._url, json=body, headers=self._request_headers())
        except (httpx.TransportError, httpx.DecodingError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error

    def _request_headers(self) -> dict[str, str]:
        prefix = "Bearer " if self._key_header == "Authorization" else ""
        return self._headers | ({self._key_header: f"{prefix}{self._api_key}"} if self._api_key else {})

    def _unreachable(self, error: Exception) -> ModelUnavailable:
        """Count a failure of the connection and return its error."""
        import httpx

        self._on_failure("timeout" if isinstance(error, httpx.TimeoutException) else "connection")
        reason = self._redact(f"{type(error).__name__}: {error}")
        hint = f"start the endpoint, or set `{self._setting}` to another address"
        return ModelUnavailable(f"cannot reach {self._url!r}: {reason}", hint=hint)

    def _get_client(self) -> Any:
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(timeout=self._timeout_seconds, verify=_certificates())
                # Close the connections even if the owner does not.
                weakref.finalize(self, self._client.close)
            return self._client

    def _read_json(self, response: Any) -> object:
        try:
            answer: object = response.json()
        except ValueError as error:
            self._on_failure("no json")
            start = self._redact(response.text[:80])
            hint = f"set `{self._setting}` to the address of the API, which usually ends with /v1"
            raise BadModelOutput(f"the response of {self._url!r} is not JSON: {start!r}", hint=hint) from error
        return answer

    def _status_error(self, response: Any) -> RequestRefused:
        return RequestRefused(
            f"{self._url!r} returned status {response.status_code}: {self._redact(_server_message(response))}",
            status=response.status_code,
            hint=self._status_hint(response.status_code, response.text),
        )

    def _status_hint(self, status: int, text: str) -> str:
        """Return the hint for an error status."""
        if status in (401, 403):
            return f"set {self._key_name} to a valid key" if self._api_key else f"set {self._key_name}; no key was sent"
        if status == 404:
            return f"correct the name of the model, or set `{self._setting}`, which usually ends with /v1"
        if _NO_QUOTA in text:
            return "raise the quota of the account, then run the command again; finished work is kept"
        if status in _RETRIED_STATUSES:
            return "run the command again in a few minutes; finished work is kept"
        return "correct the value that the message names"

    def _redact(self, text: str) -> str:
        """Return the text, truncated and without the API key, which some servers quote in errors."""
        return (text.replace(self._api_key, "***") if self._api_key else text)[:MAX_MESSAGE_CHARACTERS]


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, which all clients of a process share: to read them takes 50 ms."""
    import httpx

    found: ssl.SSLContext = httpx.create_ssl_context()
    return found


def _kind(status: int) -> str:
    if status == 429:
        return "rate limit"
    return "server" if status >= 500 else "refused"


def _server_message(response: Any) -> str:
    """Return the error message of the API, or the body of the response."""
    try:
        body = response.json()
    except ValueError:
        return " ".join(response.text.split())
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(message).split())
