"""Static files of the web page, served under a strict Content Security Policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources

from fastapi import APIRouter, Request, Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One static file."""

    body: bytes
    type: str
    tag: str
    """ETag: a hash of the content."""


def read_assets() -> Mapping[str, Asset]:
    """Return the static files by URL path. Requests are looked up here and never opened as file names."""
    assets = {}
    with resources.as_file(resources.files("weft.server").joinpath("page")) as folder:
        for file in sorted(folder.rglob("*")):
            if kind := _TYPES.get(file.suffix):
                body = file.read_bytes()
                name = file.relative_to(folder).as_posix()
                path = "/" if name == "index.html" else f"/page/{name}"
                assets[path] = Asset(body=body, type=f"{kind}; charset=utf-8", tag=f'"{sha256(body).hexdigest()[:16]}"')
    return assets


ASSETS = read_assets()
router = APIRouter()


def answer(request: Request) -> Response:
    """Return the file of a URL path; 304 if the browser has the same version."""
    asset = ASSETS[request.scope["path"]]
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
        "ETag": asset.tag,
    }
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, headers=headers, media_type=asset.type)


async def _serve(request: Request) -> Response:
    return answer(request)


for _path in ASSETS:
    router.add_api_route(_path, _serve, methods=["GET"], include_in_schema=False)
