"""HTML page `/docs`: a table of the routes, without scripts and external resources."""

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
    """Return the routes of an OpenAPI schema as an HTML page."""
    rows = "".join(_rows(schema))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Weft: HTTP routes</title><style>{STYLE}</style><h1>HTTP routes of Weft</h1>"
        '<p>Full schema, OpenAPI 3.1: <a href="openapi.json">openapi.json</a>. Send an API key as '
        "<code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>.</p>"
        f"<table><tr><th>Route<th>Description<th>Parameters</tr>{rows}</table></html>"
    )


def _rows(schema: dict[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            names = [parameter["name"] for parameter in route.get("parameters", ()) if parameter["in"] == "query"]
            body = route.get("requestBody", {}).get("content", {})
            parameters = ", ".join(f"<code>{escape(name)}</code>" for name in [*names, *_fields(body, schema)])
            description = escape(route.get("description", ""))
            yield f"<tr><td><code>{method.upper()} {escape(path)}</code><td>{description}<td>{parameters}</tr>"


def _fields(body: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Return the field names of a request body."""
    for content in body.values():
        found = content.get("schema", {})
        name = found.get("$ref", "").rpartition("/")[2]
        return list((schema["components"]["schemas"][name] if name else found).get("properties", ()))
    return []
