"""Hook of the documentation site: the public names on `python.md`, made from signatures, fields and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

import weft
from weft.engine.entities import Entities
from weft.engine.memory import Memory

_MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")
"""The module in front of a class in an annotation."""
_MAX_COLUMNS = 88
"""A signature up to this width stays on one line; the column of text has no room for more."""


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add the public names to the page about Python."""
    return markdown + public_names() if page.file.src_uri == "python.md" else markdown


def public_names() -> str:
    """Return the public names of the package with their signatures, fields and docstrings."""
    parts = ["\n\n## Public names\n\nGenerated from docstrings.\n"]
    for name in weft.__all__:
        parts.append(_entry(name, getattr(weft, name)))
    parts.append(_entry("Engine.entities", Entities))
    parts.append(_entry("Engine.memory", Memory))
    return "\n".join(parts)


def _entry(name: str, value: Any) -> str:
    lines = [f"### {name}\n", _signature(name, value), _docstring(value)]
    if inspect.isclass(value):
        lines.append(_field_table(value))
        for member, inner in vars(value).items():
            if not member.startswith("_") and (inspect.isfunction(inner) or isinstance(inner, property)):
                lines += [f"### {name}.{member}\n", _signature(member, inner), _docstring(inner)]
    return "\n".join(lines)


def _signature(name: str, value: Any) -> str:
    if not inspect.isfunction(value):
        return ""
    signature = inspect.signature(value)
    arguments = [argument for argument in _arguments(signature) if argument != "self"]
    result = f" -> {_type(signature.return_annotation)}"
    text = f"{name}({', '.join(arguments)}){result}"
    if len(text) > _MAX_COLUMNS:
        text = f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){result}"
    return f"```python\n{text}\n```\n"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    """Yield the parameters as they are written, with `/` and `*` where kinds change."""
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    for place, parameter in enumerate(signature.parameters.values()):
        before = kinds[place - 1] if place else None
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not before and place > 1:
            yield "/"
        starred = before in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        kind = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else _default(parameter.default, typed=bool(kind))
        yield f"{stars}{parameter.name}{kind}{default}"


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _MODULE.sub("", text.strip("'"))


def _default(value: Any, *, typed: bool) -> str:
    """Return a default; that of a callback is `…`, since its address says nothing."""
    return (" = " if typed else "=") + ("..." if inspect.isfunction(value) else repr(value))


def _field_table(value: type) -> str:
    """Return the fields of a record with their types and the strings below them; nothing for other classes."""
    if not is_dataclass(value):
        return ""
    meanings = _field_strings(value)
    lines = ["| field | type | meaning |", "| --- | --- | --- |"]
    for field in fields(value):
        kind = _type(field.type).replace("|", "\\|")
        lines.append(f"| `{field.name}` | `{kind}` | {meanings.get(field.name, '')} |")
    return "\n".join(lines) + "\n"


def _field_strings(value: type) -> dict[str, str]:
    """Return the string below each field of a class, on one line."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, below in pairwise(definition.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split()).replace("|", "\\|")
    return found


def _docstring(value: Any) -> str:
    return f"{inspect.getdoc(value) or ''}\n"
