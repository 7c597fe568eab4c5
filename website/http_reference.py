"""Hook of the documentation site: `reference/http.md`, made from the OpenAPI description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from weft.server.app import DESCRIPTION, ROUTERS


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated page."""
    files.append(File.generated(config, "reference/http.md", content=http_page()))
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
