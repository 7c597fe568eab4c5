"""Routes for jobs: progress, and progress as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import StreamingResponse

from weft.server.auth import Caller, Reader
from weft.server.errors import Refused, documented
from weft.server.index_jobs import ENDED, Job
from weft.server.schemas import JobOut

router = APIRouter(tags=["jobs"])

Key = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("/jobs/{id}", response_model=JobOut, responses=documented(401, 404, 504))
async def get_job(caller: Reader, id: Key) -> dict[str, Any]:
    """Return the progress of a job, and its receipt at the end."""
    return _find(caller, id).to_dict()


@router.get(
    "/jobs/{id}/events",
    response_class=StreamingResponse,
    responses={
        **documented(401, 404, 504),
        200: {
            "description": "Events `progress`, then one event `end`. The data of an event is the job.",
            "content": {"text/event-stream": {}},
        },
    },
)
async def job_events(caller: Reader, id: Key) -> StreamingResponse:
    """Stream the progress of a job as server-sent events until it ends."""
    return StreamingResponse(_events(caller, _find(caller, id)), media_type="text/event-stream")


async def _events(caller: Caller, job: Job) -> AsyncIterator[str]:
    async for progress in caller.state.jobs.watch(job):
        if progress is None:
            yield ": keep-alive\n\n"
        else:
            name = "end" if progress["state"] in ENDED else "progress"
            yield f"event: {name}\ndata: {json.dumps(progress, ensure_ascii=False)}\n\n"


def _find(caller: Caller, id: str) -> Job:
    job = caller.state.jobs.find(id, namespace=caller.namespace)
    if job is None:
        raise Refused(
            404,
            "not_found",
            f"unknown job {id!r} in this namespace",
            hint="start the job again; jobs are lost when the server stops",
        )
    return job
