"""Retries calls whose connection was lost before the commit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from weft.errors import StoreUnavailable

Class = TypeVar("Class", bound=type)


class ConnectionLost(StoreUnavailable):
    """The connection was lost before the commit, so the whole transaction can be repeated."""


def retry_once(owner: Class) -> Class:
    """
    Repeat every public method of a class once if its connection was lost.

    The error is raised at the end of the outermost transaction, so a nested method is never repeated on its own.
    """
    for name, method in list(vars(owner).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(owner, name, _retry_once(method))
    return owner


def _retry_once(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except ConnectionLost:
            return method(*arguments, **named)

    return run
