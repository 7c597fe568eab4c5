"""Papers and projects as files describe them, before they become documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from weft.extract.names import name_key, whole_key
from weft.extract.papers.paper_ids import id_key
from weft.load.metadata import Fields
from weft.text.ids import digest

WorkKind = Literal["paper", "project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """How one work names another: by canonical ids, by an id that only its file knows, or by title."""

    ids: tuple[str, ...] = ()
    local: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        """What a paper that is not here is called."""
        return self.ids[0] if self.ids else self.local or self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A paper or a project with what is said about it."""

    kind: WorkKind
    title: str
    """What a person calls it; for a project its full name, `owner/name`."""
    ids: tuple[str, ...] = ()
    """Canonical ids, the one it is kept under first."""
    local: str = ""
    """An id that only its file knows."""
    text: str = ""
    authors: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    """What a paper introduces, or a project uses."""
    venue: str = ""
    year: int | None = None
    cites: tuple[Reference, ...] = ()
    cited_by: tuple[Reference, ...] = ()
    implements: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    metadata: Fields = field(default_factory=dict)
    """Other fields, kept with the document."""
    place: str = ""
    """Where in its file it stands: `academic_papers[3]`."""
    line: int = 1
    flaws: tuple[str, ...] = ()
    """What of it could not be read, one line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the works that are loaded together call each other."""

    scope: str
    """What their own ids mean something in: the file."""
    keys: Mapping[str, str]
    """By an id of their own, the key a work is kept under."""
    names: Mapping[str, str]
    """By the key of a title, and that of a concept: `paper`, `project` or `concept`."""


def work_key(work: Work, *, scope: str) -> str:
    """Return the key of the entity that a work is: that of its id, or of its title where it has none."""
    if work.kind == "project":
        return name_key(work.title)
    if work.ids:
        return id_key(work.ids[0])
    return local_key(work.local, scope=scope) if work.local else whole_key(work.title)


def local_key(local: str, *, scope: str) -> str:
    """Return the key for an id that only its file knows. No text mentions it: `p1` may be anything elsewhere."""
    return f"record {digest((scope, local), size=8)}"
