"""Errors at the HTTP door: one table from class to status and code, one shape for all of them."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from weft.errors import (
    BadModelOutput,
    ConfigError,
    InputError,
    MissingExtra,
    ModelError,
    ModelUnavailable,
    NotFound,
    SchemaMismatch,
    StoreError,
    StoreUnavailable,
    WeftError,
)

logger = logging.getLogger(__name__)

TABLE: Mapping[type[WeftError], tuple[int, str]] = {
    ConfigError: (422, "invalid_option"),
    InputError: (422, "invalid_input"),
    NotFound: (404, "not_found"),
    SchemaMismatch: (409, "schema_mismatch"),
    StoreUnavailable: (503, "store_unavailable"),
    StoreError: (500, "store_failed"),
    ModelUnavailable: (503, "model_unavailable"),
    BadModelOutput: (502, "model_failed"),
    ModelError: (502, "model_failed"),
    MissingExtra: (501, "missing_extra"),
    WeftError: (500, "failed"),
}
"""By class; a class comes before those it derives from."""

MEANINGS: Mapping[int, str] = {
    400: "The request cannot be read.",
    401: "There is no key, or it opens nothing.",
    403: "The key does not open this, or the request comes from a place that may not ask.",
    404: "It is not in this namespace.",
    405: "The path does not know this method.",
    408: "The request took too long to arrive.",
    409: "The namespace was indexed with another embedder.",
    413: "The request is too large.",
    415: "An archive, or a kind of content that is not read.",
    421: "The server is not asked by this name.",
    422: "The request does not fit the schema, or what it says cannot be used.",
    500: "The server failed; its log has more under the request id.",
    501: "An optional package is not installed at the server.",
    502: "A model failed.",
    503: "The server is busy or stopping, or the store or a model cannot be reached; try again.",
    504: "No answer was found in time.",
}
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}


class ErrorDetail(BaseModel):
    """What is wrong, for programs, for people, and what to do about it."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """What every error looks like."""

    error: ErrorDetail
    request_id: str


class Refused(HTTPException):
    """A request that the door itself turns down. The framework lets it through, also while a body is read."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(status, message)
        self.message = message
        self.code = code
        self.hint = hint or "/docs"


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what the schema says of the errors a route may answer with, beside those that every route has."""
    every = sorted({400, 403, 408, 413, 421, 422, 500, 503, *statuses})
    return {status: {"model": ErrorBody, "description": MEANINGS[status]} for status in every}


def error_response(request_id: str, error: Refused) -> JSONResponse:
    """Return an error as it goes over the wire."""
    detail = {"code": error.code, "message": error.message, "hint": error.hint}
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}.get(error.status_code)
    return JSONResponse({"error": detail, "request_id": request_id}, status_code=error.status_code, headers=headers)


def refusal(error: WeftError) -> Refused:
    """Return one of our errors as the door tells it. What a store says of its files stays in the log."""
    status, code = next(found for kind, found in TABLE.items() if isinstance(error, kind))
    if isinstance(error, StoreError) and not isinstance(error, SchemaMismatch):
        logger.error("the store failed: %s", error)
        return Refused(status, code, "the store failed", hint="try again; the server's log has more")
    return Refused(status, code, str(error), hint=error.hint)


def add_handlers(app: FastAPI) -> None:
    """Let every error of the application have one shape."""

    def answer(request: Request, error: Refused) -> JSONResponse:
        return error_response(request.scope.get("request_id", ""), error)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        return answer(request, cast("Refused", error))

    async def ours(request: Request, error: Exception) -> JSONResponse:
        return answer(request, refusal(cast("WeftError", error)))

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        return answer(request, Refused(422, "invalid_request", _first(cast("RequestValidationError", error))))

    async def plain(request: Request, error: Exception) -> JSONResponse:
        found = cast("HTTPException", error)
        code = _CODES.get(found.status_code, "refused")
        response = answer(request, Refused(found.status_code, code, str(found.detail)))
        response.headers.update(found.headers or {})
        if found.status_code == 405:
            response.headers["Allow"] = ", ".join(_methods(app, request.url.path))
        return response

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(WeftError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return what may be done at a path, over all routes that have it; the framework tells of the first alone."""
    paths = app.openapi()["paths"]
    fitting = (t for t in paths if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(t)), path))
    template = path if path in paths else next(fitting, "")
    return sorted(method.upper() for method in paths.get(template, ("get",)))


def _first(error: RequestValidationError) -> str:
    """Say where the first thing is that does not fit, without repeating what was sent."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = f"{where}: {first['msg']}"
    return message.encode("utf-8", "replace").decode("utf-8")[:500]
