"""Routes for documents: list, get, add, upload, delete."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from weft.context.serialise import chunk_to_dict, document_to_dict, receipt_to_dict, related_to_dict
from weft.engine.parsing.parser_messages import TextInput
from weft.engine.uploads import Sandbox, check_text
from weft.errors import InputError
from weft.index.plan import Prepared
from weft.records import Filter, Skipped
from weft.server.auth import Caller, Reader, Writer
from weft.server.errors import Refused, documented
from weft.server.index_jobs import Job
from weft.server.paging import MAX_ITEMS, After, Limit, cut
from weft.server.request_limits import UPLOADS
from weft.server.schemas import Deleted, DocumentPage, GivenDocuments, JobOut, ReceiptOut, RelatedList, WholeDocument

router = APIRouter(tags=["documents"])

Key = Annotated[str, Path(min_length=1, max_length=200)]
_FILE = {
    "type": "string",
    "format": "binary",
    "description": "File in any format that `weft index` reads; no archives.",
}
FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "additionalProperties": False,
                    "properties": {"files": {"type": "array", "minItems": 1, "items": _FILE}},
                }
            }
        },
    }
}
"""OpenAPI schema of an upload. The framework must not parse the form, because the API key is checked first."""


@router.get("/documents", response_model=DocumentPage, responses=documented(401, 504))
async def list_documents(
    caller: Reader,
    prefix: Annotated[
        str, Query(max_length=1000, description="Only documents whose source starts with this text.")
    ] = "",
    after: Annotated[str, Query(max_length=4000, description="`next` of the previous page.")] = "",
    limit: Limit = 100,
) -> dict[str, Any]:
    """List documents in order of source, one page per request."""
    store = caller.engine.store
    found = await caller.state.threads.read(
        lambda: store.find_documents(Filter(source_prefix=prefix), after=after, limit=limit)
    )
    return {
        "documents": [document_to_dict(document) for document in found],
        "next": found[-1].source if len(found) == limit else None,
    }


@router.get("/documents/{id}", response_model=WholeDocument, responses=documented(401, 404, 504))
async def get_document(caller: Reader, id: Key, after: After = "", limit: Limit = MAX_ITEMS) -> dict[str, Any]:
    """Return a document with one page of its chunks. The id of a chunk returns its document with that chunk only."""
    document, chunks = await caller.state.threads.read(lambda: caller.engine.get(id))
    page, following = cut(chunks, after=after, limit=limit)
    return {
        "document": document_to_dict(document),
        "unit": document.unit,
        "chunks": [chunk_to_dict(chunk) for chunk in page],
        "next": following,
    }


@router.get(
    "/related", response_model=RelatedList, response_model_exclude_unset=True, responses=documented(401, 404, 504)
)
async def list_related(
    caller: Reader,
    id: Annotated[str, Query(min_length=1, max_length=4000, description="Id or source of a document, or a chunk id.")],
    limit: Annotated[int, Query(ge=1, le=100, description="Maximum number of documents.")] = 10,
) -> dict[str, Any]:
    """List the documents related to a document, a chunk or an entity, best first, with the reasons."""
    engine = caller.engine
    return await caller.state.threads.read(
        lambda: {
            "related": [related_to_dict(item, engine.cite(item.chunk.id)) for item in engine.related(id, limit=limit)]
        }
    )


@router.post(
    "/documents",
    status_code=201,
    response_model=ReceiptOut,
    responses={
        **documented(401, 409, 501, 502),
        202: {"model": JobOut, "description": "Indexing continues as a job; see /jobs/{id}."},
    },
)
async def add_documents(caller: Writer, given: GivenDocuments, request: Request) -> Response:
    """Index texts. A text replaces the document with the same source. A long list becomes a job."""
    texts = await caller.state.threads.load(lambda: _texts(given))
    items = caller.engine.indexing.prepare(texts, parsers=caller.state.parsers)
    if given.background or len(texts) > caller.engine.settings.server.max_inline_documents:
        size = len(await request.body())
        job = caller.state.jobs.start(caller.engine, items, total=len(texts), size=size, cleanup=_no_cleanup)
        return _started(job)
    return await _added(caller, items)


@router.post(UPLOADS, status_code=202, response_model=JobOut, responses=documented(401, 415), openapi_extra=FORM)
async def upload(caller: Writer, request: Request) -> Response:
    """Index files as a job. The source of a file is `upload:name`; names are never used as paths."""
    sandbox = await caller.state.threads.load(Sandbox)
    try:
        async with _form(request, max_files=caller.engine.settings.server.max_upload_files) as form:
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]
            if not files or len(files) != len(form.multi_items()):
                hint = "send each file as `files`, for example curl -F files=@a.md"
                raise Refused(
                    422, "invalid_request", "invalid form: every field must be a file named `files`", hint=hint
                )
            for file in files:
                await caller.state.threads.load(partial(sandbox.save, file.filename or "", file.file))
    except InputError as error:
        sandbox.close()
        raise Refused(415, "archive", str(error), hint=error.hint) from error
    except BaseException:
        sandbox.close()
        raise
    items = caller.engine.indexing.prepare(sandbox.files(), parsers=caller.state.parsers)
    size, cleanup = sandbox.size, sandbox.close
    return _started(caller.state.jobs.start(caller.engine, items, total=len(sandbox), size=size, cleanup=cleanup))


@router.delete("/documents/{id}", response_model=Deleted, responses=documented(401, 404))
async def delete_document(caller: Writer, id: Key) -> dict[str, int]:
    """Delete a document and everything derived from it."""
    return {"deleted": await caller.state.threads.write(lambda: caller.engine.delete(id))}


@router.delete("/documents", response_model=Deleted, responses=documented(401, 404))
async def delete_source(
    caller: Writer,
    source: Annotated[str, Query(min_length=1, max_length=4000, description="Source of a document or folder.")],
) -> dict[str, int]:
    """Delete documents by source. The source of a folder or file includes everything in it."""
    return {"deleted": await caller.state.threads.write(lambda: caller.engine.delete(source))}


@asynccontextmanager
async def _form(request: Request, *, max_files: int) -> AsyncIterator[FormData]:
    """Yield the form of a request. Large files are temporary files, deleted at the end."""
    try:
        form = await request.form(max_files=max_files, max_fields=0)
    except Refused:
        raise
    except HTTPException as error:
        if str(error.detail).startswith("Too many files"):
            hint = "send several smaller requests"
            raise Refused(413, "too_many_files", f"the request has more than {max_files} files", hint=hint) from error
        raise
    try:
        yield form
    finally:
        await form.close()


def _texts(given: GivenDocuments) -> list[TextInput]:
    """Return the posted texts, checked but not parsed. Raises `InputError`."""
    for item in given.documents:
        check_text(item.text, source=item.source, metadata=item.metadata)
    return [
        TextInput(source=item.source, text=item.text, title=item.title, metadata=item.metadata)
        for item in given.documents
    ]


async def _added(caller: Caller, items: Iterator[Prepared | Skipped]) -> JSONResponse:
    threads = caller.state.threads
    prepared = await threads.parse_now(lambda: list(items), namespace=caller.namespace)
    receipt = await threads.write(lambda: caller.engine.indexing.add_prepared(prepared))
    return JSONResponse(receipt_to_dict(receipt), status_code=201)


def _started(job: Job) -> JSONResponse:
    return JSONResponse(job.to_dict(), status_code=202, headers={"Location": f"/jobs/{job.id}"})


def _no_cleanup() -> None:
    return
