"""
Hook of the documentation site: references of the HTTP and Python interfaces.

`reference/http.md` is made from the OpenAPI description, `reference/python.md` from signatures and docstrings.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from fastapi import FastAPI
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import weft
from weft.engine.entities import Entities
from weft.engine.memory import Memory
from weft.server.app import DESCRIPTION, ROUTERS

_MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")
"""The module in front of a class in a signature."""
_QUOTED = re.compile(r"(: |-> )'([^'\n]{1,300})'")
"""An annotation as a string, as postponed evaluation leaves it."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, content in (("reference/http.md", http_page()), ("reference/python.md", python_page())):
        files.append(File.generated(config, name, content=content))
    return files


def http_page() -> str:
    """Return every operation with its parameters, body and responses."""
    app = FastAPI(title="Weft", description=DESCRIPTION)
    for router in ROUTERS:
        app.include_router(router)
    schema = app.openapi()
    parts = [
        "# HTTP operations\n\nGenerated from the OpenAPI description that `weft serve` publishes at `/openapi.json`;"
    ]
    parts.append("[the guide](../http.md) explains keys, limits and errors.\n")
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(f"{method.upper()} {path}", operation, schema))
    return "\n".join(parts)


def _operation(title: str, operation: dict[str, Any], schema: dict[str, Any]) -> str:
    lines = [f"## {title}\n", operation.get("description") or operation.get("summary", ""), ""]
    rows = [
        (item["name"], item["in"], _kind(item["schema"]), item.get("description", ""))
        for item in operation.get("parameters", ())
    ]
    for body in operation.get("requestBody", {}).get("content", {}).values():
        rows += _fields(body["schema"], schema)
    if rows:
        lines += ["| name | in | type | meaning |", "| --- | --- | --- | --- |"]
        lines += [f"| `{name}` | {where} | {kind} | {_cell(text)} |" for name, where, kind, text in rows] + [""]
    codes = ", ".join(f"{code} {item['description']}" for code, item in operation["responses"].items())
    return "\n".join([*lines, f"Responses: {codes}\n"])


def _fields(body: dict[str, Any], schema: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return a row for each field of a body."""
    if "$ref" in body:
        body = schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    return [
        (name, "body", _kind(item), item.get("description", "")) for name, item in body.get("properties", {}).items()
    ]


def _kind(item: dict[str, Any]) -> str:
    if "$ref" in item:
        return str(item["$ref"]).rpartition("/")[2]
    if "anyOf" in item:
        return " or ".join(_kind(part) for part in item["anyOf"])
    if item.get("type") == "array":
        return f"list of {_kind(item.get('items', {}))}"
    return str(item.get("type", "any"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def python_page() -> str:
    """Return the public names of the package with their signatures and docstrings."""
    parts = ["# Python names\n\nGenerated from docstrings; [the guide](../python.md) explains their use.\n"]
    for name in weft.__all__:
        parts.append(_name(name, getattr(weft, name)))
    parts.append(_name("Engine.entities", Entities))
    parts.append(_name("Engine.memory", Memory))
    return "\n".join(parts)


def _name(name: str, value: Any) -> str:
    lines = [f"## {name}\n", _signature(name, value) if not inspect.isclass(value) else "", _docstring(value)]
    if inspect.isclass(value):
        for member, inner in vars(value).items():
            if not member.startswith("_") and (inspect.isfunction(inner) or isinstance(inner, property)):
                lines += [f"### {name}.{member}\n", _signature(member, inner), _docstring(inner)]
    return "\n".join(lines)


def _signature(name: str, value: Any) -> str:
    if not inspect.isfunction(value):
        return ""
    signature = (
        _QUOTED.sub(r"\1\2", _MODULE.sub("", str(inspect.signature(value))))
        .replace("(self, ", "(")
        .replace("(self)", "()")
    )
    return f"```python\n{name}{signature}\n```\n"


def _docstring(value: Any) -> str:
    return f"{inspect.getdoc(value) or ''}\n"
