"""Times as requests give them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, WithJsonSchema

from weft.exchange.fact_objects import read_time


def _read_time(given: Any) -> Any:
    """Read text as the command line does; what is none is refused further on."""
    try:
        return read_time(given) if isinstance(given, str) else given
    except ValueError:
        return given


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError("beyond what calendars hold") from error


_TIME_SCHEMA = {
    "type": "string",
    "anyOf": [{"format": "date-time"}, {"format": "date"}],
    "description": "A time, or a date, whose first moment is meant; in UTC where it does not say.",
}
Time = Annotated[AwareDatetime, BeforeValidator(_read_time), AfterValidator(_in_utc), WithJsonSchema(_TIME_SCHEMA)]
