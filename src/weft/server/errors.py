"""HTTP errors: one table from error class to status and code, one JSON shape."""

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
    AccessDenied,
    BadModelOutput,
    ConfigError,
    InputError,
    MissingExtra,
    ModelError,
    ModelUnavailable,
    NotFound,
    SchemaMismatch,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WeftError,
)

logger = logging.getLogger(__name__)

STATUS_BY_ERROR: Mapping[type[WeftError], tuple[int, str]] = {
    ConfigError: (422, "invalid_option"),
    InputError: (422, "invalid_input"),
    NotFound: (404, "not_found"),
    SchemaMismatch: (409, "schema_mismatch"),
    StoreUnavailable: (503, "store_unavailable"),
    StoreFull: (507, "store_full"),
    AccessDenied: (403, "store_denied"),
    StoreError: (500, "store_failed"),
    ModelUnavailable: (503, "model_unavailable"),
    BadModelOutput: (502, "model_failed"),
    ModelError: (502, "model_failed"),
    MissingExtra: (501, "missing_extra"),
    WeftError: (500, "failed"),
}
"""Status and code by class; subclasses come first."""

STATUS_DESCRIPTIONS: Mapping[int, str] = {
    400: "Malformed request.",
    401: "Missing or invalid API key.",
    403: "The key does not grant access, or a cross-origin request was refused.",
    404: "Not found in this namespace.",
    405: "Method not allowed.",
    408: "The request body arrived too slowly.",
    409: "The namespace was indexed with another embedder.",
    413: "The request body is too large.",
    415: "Unsupported content type or archive.",
    421: "Unknown host name.",
    422: "The request does not match the schema, or a value is invalid.",
    500: "Internal server error; see the log under the request id.",
    501: "An optional package is not installed on the server.",
    502: "A model failed.",
    503: "The server is busy or shutting down, or the store or a model is unavailable; retry.",
    504: "Timeout.",
    507: "The disk of the store is full; earlier writes are kept.",
}
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}


class ErrorDetail(BaseModel):
    """Error code, message and hint."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """JSON shape of every error."""

    error: ErrorDetail
    request_id: str


class Refused(HTTPException):
    """A refused request. As an `HTTPException`, it also passes through the framework's body parser."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(status, message)
        self.message = message
        self.code = code
        self.hint = hint or "/docs"


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for the errors of a route, including the errors that all routes share."""
    every = sorted({400, 403, 408, 413, 421, 422, 500, 503, 507, *statuses})
    return {status: {"model": ErrorBody, "description": STATUS_DESCRIPTIONS[status]} for status in every}


def error_response(request_id: str, error: Refused) -> JSONResponse:
    """Return an error as a JSON response."""
    detail = {"code": error.code, "message": error.message, "hint": error.hint}
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}.get(error.status_code)
    return JSONResponse({"error": detail, "request_id": request_id}, status_code=error.status_code, headers=headers)


def refusal(error: WeftError) -> Refused:
    """Return an error of Weft as an HTTP error. File names of the store stay in the log."""
    status, code = next(found for kind, found in STATUS_BY_ERROR.items() if isinstance(error, kind))
    if isinstance(error, StoreError) and not isinstance(error, (SchemaMismatch, AccessDenied)):
        logger.error("the store failed: %s", error)
        if isinstance(error, StoreFull):
            return Refused(status, code, "the store is full", hint="free disk space on the server, then retry")
        return Refused(status, code, "the store failed", hint="retry; if it fails again, read the log of the server")
    return Refused(status, code, str(error), hint=error.hint)


def add_handlers(app: FastAPI) -> None:
    """Install exception handlers that give every error the same JSON shape."""

    def respond(request: Request, error: Refused) -> JSONResponse:
        return error_response(request.scope.get("request_id", ""), error)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        return respond(request, cast("Refused", error))

    async def engine_error(request: Request, error: Exception) -> JSONResponse:
        return respond(request, refusal(cast("WeftError", error)))

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        return respond(request, Refused(422, "invalid_request", _first(cast("RequestValidationError", error))))

    async def plain(request: Request, error: Exception) -> JSONResponse:
        found = cast("HTTPException", error)
        code = _CODES.get(found.status_code, "refused")
        response = respond(request, Refused(found.status_code, code, str(found.detail)))
        response.headers.update(found.headers or {})
        if found.status_code == 405:
            response.headers["Allow"] = ", ".join(_methods(app, request.url.path))
        return response

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(WeftError, engine_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return the methods of all routes of a path; the framework reports only the first route."""
    paths = app.openapi()["paths"]
    fitting = (t for t in paths if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(t)), path))
    template = path if path in paths else next(fitting, "")
    return sorted(method.upper() for method in paths.get(template, ("get",)))


def _first(error: RequestValidationError) -> str:
    """Return location and message of the first validation error, without the value that was sent."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = f"{where}: {first['msg']}"
    return message.encode("utf-8", "replace").decode("utf-8")[:500]
