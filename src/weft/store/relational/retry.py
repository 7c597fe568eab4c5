"""What is done about a connection that is lost: the same once more where that is safe."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from weft.errors import StoreUnavailable

Class = TypeVar("Class", bound=type)


class ConnectionLost(StoreUnavailable):
    """The connection was lost before anything was committed: the whole transaction can be done again."""


def once_more(owner: Class) -> Class:
    """
    Let every public method of a class run once more where its connection was lost.

    The error arises where the outermost transaction ends, so a method inside another one is never repeated alone.
    """
    for name, method in list(vars(owner).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(owner, name, _once_more(method))
    return owner


def _once_more(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except ConnectionLost:
            return method(*arguments, **named)

    return run
