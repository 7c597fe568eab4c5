"""
Streaming reader of untrusted XML: no document type, no entities, bounded depth.

    source                          element name    attribute name
    <w:p w:val="1">                 p               :val
    <sldId id="256" r:id="r2"/>     sldId           id, :id

Names have no namespace, because the strict and the transitional variant of a format differ only in it. A qualified
attribute begins with a colon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple
from xml.parsers import expat

from weft.load.file_reader import LoadError

MAX_DEPTH = 1000
"""Maximum nesting of elements. Real documents have about 50."""
_STEP_BYTES = 64 * 1024


class XmlEvent(NamedTuple):
    """Start or end of an element, or a piece of text."""

    kind: Literal["start", "end", "text"]
    name: str
    """Local name of the element; of `text` the characters."""
    attributes: Mapping[str, str]

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)


def iter_events(data: bytes) -> Iterator[XmlEvent]:
    """Yield the events of an XML document. Raises `LoadError` if malformed, too deep or with a document type."""
    reader = _EventBuffer()
    try:
        for start in range(0, len(data), _STEP_BYTES):
            reader.parser.Parse(data[start : start + _STEP_BYTES], False)
            yield from reader.take()
        reader.parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # an unknown encoding is a LookupError
        raise LoadError("broken", f"XML: {error}") from error
    yield from reader.take()


class _EventBuffer:
    """Events of a parser since the last call of `take`."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add_text
        self.parser.StartDoctypeDeclHandler = self._refuse_document_type
        self._events: list[XmlEvent] = []
        self._depth = 0

    def take(self) -> list[XmlEvent]:
        """Return the events and forget them."""
        events, self._events = self._events, []
        return events

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise LoadError("broken", f"XML: elements are nested more than {MAX_DEPTH:,} deep")
        names = {f":{key.rpartition(' ')[2]}" if " " in key else key: value for key, value in attributes.items()}
        self._events.append(XmlEvent("start", name.rpartition(" ")[2], names))

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._events.append(XmlEvent("end", name.rpartition(" ")[2], {}))

    def _add_text(self, text: str) -> None:
        self._events.append(XmlEvent("text", text, {}))

    def _refuse_document_type(self, name: str, system: str | None, public: str | None, has_subset: int) -> None:
        raise LoadError("broken", "XML: document types and entities are not supported")
