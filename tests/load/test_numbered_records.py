"""Numbers of records: in fields, titles, file names and texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading import Load, only_document

from weft.load.numbered_records import find_record
from weft.records import Document, PageLink
from weft.text.record_numbers import find_numbers


@pytest.mark.parametrize(
    ("source", "title", "metadata", "name"),
    [
        ("a.rst", "Type Hints", {"PEP": "484"}, "PEP 484"),
        ("a.md", "x", {"rfc": 7}, "RFC 7"),
        ("a.md", "ADR-0012: Use queues", {}, "ADR 12"),
        ("a.txt", "RFC 2119 – Key words", {}, "RFC 2119"),
        ("peps/pep-0484.rst", "Type Hints", {}, "PEP 484"),
        ("adr-0012-use-queues.md", "Use queues", {}, "ADR 12"),
        ("rfc2616.txt", "HTTP", {}, "RFC 2616"),
        ("tickets/INC-2041.md", "Checkout failures", {}, "INC 2041"),
        ("docs/decisions/0012-use-queues.md", "Use queues", {}, "ADR 12"),
        ("rfcs/text/0042-queues.md", "Queues", {}, "RFC 42"),
        ("docs/0012-use-queues.md", "Use queues", {}, ""),
        ("UTF-8.md", "Encodings", {}, ""),
        ("notes/page-12.md", "HTTP 2 in practice", {}, ""),
        ("notes/a.md", "PEP 8 in daily work", {}, ""),
        ("2026-10-01-notes.md", "Notes", {}, ""),
    ],
)
def test_a_document_is_known_by_its_number(source: str, title: str, metadata: dict[str, str], name: str) -> None:
    """Fields come before the title, which comes before the name of the file."""
    record = find_record(Document(source=source, title=title, text="x", metadata=metadata))

    assert (record.name if record else "") == name


def test_fields_name_other_records(load: Load, tmp_path: Path) -> None:
    """Numbers alone are of the same kind; the document gets its names and the links."""
    (tmp_path / "adr").mkdir()
    (tmp_path / "adr" / "0012-use-queues.md").write_text(
        "---\nreplaces: 7\nrequires: [ADR-0003, RFC 9]\naliases: Queues\nstatus: accepted\n---\n# Use queues\n\nText.\n"
    )

    document = only_document(load())

    assert document.metadata == {
        "replaces": ["ADR 7"],
        "requires": ["ADR 3", "RFC 9"],
        "aliases": ["Queues", "ADR 12", "ADR 0012"],
        "status": "accepted",
    }
    assert document.links == (
        PageLink(1, "record:adr-12", "Use queues", "target"),
        PageLink(1, "record:adr-7", "ADR 7", "name"),
        PageLink(1, "record:adr-3", "ADR 3", "name"),
        PageLink(1, "record:rfc-9", "RFC 9", "name"),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("PEP 484, PEP-0484 and PEP484", ["PEP 484"] * 3),
        ("pep-0008.rst and adr-12", ["PEP 8", "ADR 12"]),
        ("INC-2041 blocks AUTH-7.", ["INC 2041", "AUTH 7"]),
        ("UTF-8, SHA-256, ISO 8601, HTTP 2, page-12, 2026-10-01, RFC 1.2, AB12, PEP 0", []),
    ],
)
def test_numbers_are_found_in_any_spelling(text: str, names: list[str]) -> None:
    """Standards and sizes are no records."""
    assert [record.name for _, _, record in find_numbers(text)] == names
