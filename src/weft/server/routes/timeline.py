"""Route for the timeline of conversations: `GET /timeline`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from weft.context.serialise import timeline_to_dict
from weft.records import Filter
from weft.server.auth import Reader
from weft.server.errors import documented
from weft.server.paging import Limit
from weft.server.schemas import Time

router = APIRouter(tags=["query"])


class TimelineEntryOut(BaseModel):
    """An exchange of a conversation: its opening turn, on one line."""

    time: str
    title: str
    source: str
    citation: str
    text: str
    chunk_id: str


class TimelineDayOut(BaseModel):
    """The exchanges of a day, newest first."""

    day: str
    entries: list[TimelineEntryOut]


class TimelineOut(BaseModel):
    """The exchanges of a period by day, newest first."""

    days: list[TimelineDayOut]
    truncated: bool


@router.get("/timeline", response_model=TimelineOut, responses=documented(401, 504))
async def timeline(
    caller: Reader,
    when: Annotated[str, Query(max_length=200, description="A time such as `last week` or `since Monday`.")] = "",
    after: Annotated[Time | None, Query(description="Only conversations at this time or later.")] = None,
    before: Annotated[Time | None, Query(description="Only conversations before this time.")] = None,
    source_prefix: Annotated[str, Query(max_length=1000, description="Only sources with this prefix.")] = "",
    limit: Limit = 50,
) -> dict[str, Any]:
    """
    Return what was said in a period, by day, newest first.

    Without `when`, `after` and `before` it covers the latest two weeks with conversations. Times are in UTC.
    """
    where = Filter(source_prefix=source_prefix, after=after, before=before)
    memory = caller.engine.memory
    return timeline_to_dict(await caller.state.threads.read(lambda: memory.timeline(when, where=where, limit=limit)))
