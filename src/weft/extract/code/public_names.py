"""
Public names of the definitions of a file: by what name other files import them.

| definition | public names |
| --- | --- |
| `httpx._client.Client`, Python | `httpx.Client` |
| `app.db.fields.text.Text`, Python | `app.db.fields.Text`, `app.db.Text`, `app.Text` |
| `app.core._run`, not in `__all__` | none |
| `src/widgets/button.Button`, TypeScript | `src/widgets.Button`, `src.Button` |

`from ._client import *` in `httpx/__init__.py` does not say which names it exports, and no row of that file may depend
on `httpx/_client.py`. So the definition proposes its public names: a reference to `httpx.Client` finds it. Two
definitions with the same public name make it ambiguous, unless a package exports one of them by name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weft.text.code.syntax import Definition

PUBLIC_REASON = "public name of its package"
MAX_PACKAGES = 3
"""Enclosing packages in which a definition may have a public name."""
MAX_LIST_CHARACTERS = 20_000

_ALL = re.compile(rf"^__all__\b[^=\n]{{0,80}}=\s{{0,9}}[\[(]([^\])]{{0,{MAX_LIST_CHARACTERS}}})", re.MULTILINE)
_QUOTED = re.compile(r"[\"'](\w{1,200})[\"']")
_PATHS = frozenset({"javascript", "typescript", "tsx", "rust"})
_LANGUAGES = _PATHS | {"python"}


def read_all(text: str) -> frozenset[str] | None:
    """Return the names in the `__all__` of a Python file; None if it has none."""
    found = _ALL.findall(text) if "__all__" in text else []
    return frozenset(name for listed in found for name in _QUOTED.findall(listed)) if found else None


def public_names(
    definition: Definition, *, module: str, grammar: str, exported: Collection[str] | None
) -> Iterator[str]:
    """Yield the public names of a definition in the packages around its module. `exported` are those of `__all__`."""
    if grammar not in _LANGUAGES or definition.is_local or definition.is_continued:
        return
    first, *rest = definition.path
    is_public = first in exported if exported is not None else not first.startswith("_")
    if not is_public or any(name.startswith("_") for name in rest):
        return
    separator = "/" if grammar in _PATHS else "."
    package = module
    for _ in range(MAX_PACKAGES):
        package = package.rpartition(separator)[0]
        if not package:
            return
        yield ".".join([package, *definition.path])
