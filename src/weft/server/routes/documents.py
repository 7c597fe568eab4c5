"""`/documents`: list, get, add, upload, delete."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from weft.context.serialise import chunk_to_dict, document_to_dict, receipt_to_dict
from weft.engine.uploads import Sandbox, text_document
from weft.errors import InputError
from weft.records import Document, Filter
from weft.server.auth import Caller, Reader, Writer
from weft.server.errors import Refused, documented
from weft.server.index_jobs import Job
from weft.server.paging import MAX_ITEMS, After, Limit, cut
from weft.server.request_limits import UPLOADS
from weft.server.schemas import Deleted, DocumentPage, GivenDocuments, JobOut, ReceiptOut, WholeDocument

router = APIRouter(tags=["documents"])

Key = Annotated[str, Path(min_length=1, max_length=200)]
_FILE = {"type": "string", "format": "binary", "description": "In any format `weft index` reads; no archives."}
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
"""What an upload looks like. It is read only after the key, so the framework must not read it before."""


@router.get("/documents", response_model=DocumentPage, responses=documented(401, 504))
async def list_documents(
    caller: Reader,
    prefix: Annotated[str, Query(max_length=1000, description="Only documents whose source begins so.")] = "",
    after: Annotated[str, Query(max_length=4000, description="The `next` of the page before.")] = "",
    limit: Limit = 100,
) -> dict[str, Any]:
    """List documents by source, a page at a time."""
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
    """Return a document with its chunks, a page at a time, or with the one chunk that has this id."""
    document, chunks = await caller.state.threads.read(lambda: caller.engine.get(id))
    page, following = cut(chunks, after=after, limit=limit)
    return {
        "document": document_to_dict(document),
        "unit": document.unit,
        "chunks": [chunk_to_dict(chunk) for chunk in page],
        "next": following,
    }


@router.post(
    "/documents",
    status_code=201,
    response_model=ReceiptOut,
    responses={**documented(401, 409, 501, 502), 202: {"model": JobOut, "description": "A job; see /jobs/{id}."}},
)
async def add_documents(caller: Writer, given: GivenDocuments, request: Request) -> Response:
    """Index texts, each in the place of what was there under its source. Many of them become a job."""
    made = await caller.state.threads.load(lambda: _documents(given))
    if given.background or len(made) > caller.engine.settings.server.max_inline_documents:
        size = len(await request.body())
        return _started(
            caller.state.jobs.start(caller.engine, iter(made), total=len(made), size=size, cleanup=_nothing)
        )
    return await _added(caller, made)


@router.post(UPLOADS, status_code=202, response_model=JobOut, responses=documented(401, 415), openapi_extra=FORM)
async def upload(caller: Writer, request: Request) -> Response:
    """Index files as a job. Their names become their sources, `upload:name`, and never paths."""
    sandbox = await caller.state.threads.load(Sandbox)
    try:
        async with _form(request, max_files=caller.engine.settings.server.max_upload_files) as form:
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]
            if not files or len(files) != len(form.multi_items()):
                hint = "curl -F files=@a.md"
                raise Refused(422, "invalid_request", "files are wanted, each in a field `files`", hint=hint)
            for file in files:
                await caller.state.threads.load(partial(sandbox.save, file.filename or "", file.file))
    except InputError as error:
        sandbox.close()
        raise Refused(415, "archive", str(error), hint=error.hint) from error
    except BaseException:
        sandbox.close()
        raise
    items = sandbox.documents(caller.engine.settings.load)
    size, cleanup = sandbox.size, sandbox.close
    return _started(caller.state.jobs.start(caller.engine, items, total=len(sandbox), size=size, cleanup=cleanup))


@router.delete("/documents/{id}", response_model=Deleted, responses=documented(401, 404))
async def delete_document(caller: Writer, id: Key) -> dict[str, int]:
    """Delete a document with everything that derives from it."""
    return {"deleted": await caller.state.threads.write(lambda: caller.engine.delete(id))}


@router.delete("/documents", response_model=Deleted, responses=documented(401, 404))
async def delete_source(
    caller: Writer, source: Annotated[str, Query(min_length=1, max_length=4000, description="A document or a folder.")]
) -> dict[str, int]:
    """Delete documents by their source; that of a folder or file takes all that is in it."""
    return {"deleted": await caller.state.threads.write(lambda: caller.engine.delete(source))}


@asynccontextmanager
async def _form(request: Request, *, max_files: int) -> AsyncIterator[FormData]:
    """Give the form of a request, its files on disk where they are large; they are gone afterwards."""
    try:
        form = await request.form(max_files=max_files, max_fields=0)
    except Refused:
        raise
    except HTTPException as error:
        if str(error.detail).startswith("Too many files"):
            hint = "send them in parts"
            raise Refused(413, "too_many_files", f"the limit is {max_files} files", hint=hint) from error
        raise
    try:
        yield form
    finally:
        await form.close()


def _documents(given: GivenDocuments) -> list[Document]:
    return [text_document(d.text, source=d.source, title=d.title, metadata=d.metadata) for d in given.documents]


async def _added(caller: Caller, documents: list[Document]) -> JSONResponse:
    receipt = await caller.state.threads.write(lambda: caller.engine.add(documents))
    return JSONResponse(receipt_to_dict(receipt), status_code=201)


def _started(job: Job) -> JSONResponse:
    return JSONResponse(job.to_dict(), status_code=202, headers={"Location": f"/jobs/{job.id}"})


def _nothing() -> None:
    return
