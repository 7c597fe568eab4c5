"""`/docs`: the routes on one page, without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "code{font-size:.95em}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
    "padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def page(schema: dict[str, Any]) -> str:
    """Return the schema's routes as a page to read."""
    rows = "".join(_rows(schema))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Weft: routes</title><style>{STYLE}</style><h1>Weft over HTTP</h1>"
        '<p>The whole schema, OpenAPI 3.1: <a href="openapi.json">openapi.json</a>. Keys go into '
        "<code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>.</p>"
        f"<table><tr><th>Route<th>What it does<th>Parameters</tr>{rows}</table></html>"
    )


def _rows(schema: dict[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            names = [found["name"] for found in route.get("parameters", ()) if found["in"] == "query"]
            body = route.get("requestBody", {}).get("content", {})
            shown = ", ".join(f"<code>{escape(name)}</code>" for name in [*names, *_fields(body, schema)])
            about = escape(route.get("description", ""))
            yield f"<tr><td><code>{method.upper()} {escape(path)}</code><td>{about}<td>{shown}</tr>"


def _fields(body: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Return the names in a request's body."""
    for content in body.values():
        found = content.get("schema", {})
        name = found.get("$ref", "").rpartition("/")[2]
        return list((schema["components"]["schemas"][name] if name else found).get("properties", ()))
    return []
