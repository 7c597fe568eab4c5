"""Hook of the documentation site: the operations on `http.md`, made from the OpenAPI description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from weft.server.app import DESCRIPTION, ROUTERS


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add the operations to the page about HTTP."""
    return markdown + operations() if page.file.src_uri == "http.md" else markdown


def operations() -> str:
    """Return every operation with its parameters, body and responses."""
    app = FastAPI(title="Weft", description=DESCRIPTION)
    for router in ROUTERS:
        app.include_router(router)
    schema = app.openapi()
    parts = ["\n\n## Every operation\n\nGenerated from the description that `weft serve` publishes at `/openapi.json`.\n"]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(f"{method.upper()} {path}", operation, schema))
    return "\n".join(parts)


def _operation(title: str, operation: dict[str, Any], schema: dict[str, Any]) -> str:
    lines = [f"### {title}\n", operation.get("description") or operation.get("summary", ""), ""]
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
