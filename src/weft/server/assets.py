"""The web page: a few files of ours, read once, under a policy that lets nothing else run."""

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
    """One file of the page."""

    body: bytes
    type: str
    tag: str
    """What a browser that has it already sends back."""


def read_assets() -> Mapping[str, Asset]:
    """Return the files of the page by the path each is asked for. No request ever names a file."""
    found = {}
    for file in sorted(resources.files("weft.server").joinpath("page").iterdir(), key=lambda item: item.name):
        name = file.name
        kind = _TYPES.get(name[name.rfind(".") :])
        if kind:
            body = file.read_bytes()
            path = "/" if name == "index.html" else f"/page/{name}"
            found[path] = Asset(body=body, type=f"{kind}; charset=utf-8", tag=f'"{sha256(body).hexdigest()[:16]}"')
    return found


ASSETS = read_assets()
router = APIRouter()


def answer(request: Request) -> Response:
    """Return the file that a path stands for, or say that the browser has it already."""
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


async def _show(request: Request) -> Response:
    return answer(request)


for _path in ASSETS:
    router.add_api_route(_path, _show, methods=["GET"], include_in_schema=False)
