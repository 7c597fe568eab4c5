"""Records of papers and projects as read from files, before they become documents."""

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
    """A reference to a work: by canonical ids, by an id local to the file, or by title."""

    ids: tuple[str, ...] = ()
    local: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        """Name of a referenced work that is not loaded."""
        return self.ids[0] if self.ids else self.local or self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A paper or project."""

    kind: WorkKind
    title: str
    """Title; for a project its full name, `owner/name`."""
    ids: tuple[str, ...] = ()
    """Canonical ids; the first one is the key."""
    local: str = ""
    """Id local to the file."""
    text: str = ""
    authors: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    """Concepts that a paper introduces or a project uses."""
    is_sorted: bool = False
    """True if the concepts are labels of a library, which no paper introduces: `Computer Science`."""
    venue: str = ""
    year: int | None = None
    cites: tuple[Reference, ...] = ()
    cited_by: tuple[Reference, ...] = ()
    implements: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    metadata: Fields = field(default_factory=dict)
    """Other fields."""
    place: str = ""
    """Position in the file: `academic_papers[3]`."""
    line: int = 1
    flaws: tuple[str, ...] = ()
    """Fields that could not be read, one message each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Ids and names of works that are loaded together."""

    scope: str
    """The file, in which local ids are valid."""
    keys: Mapping[str, str]
    """Entity key by local id."""
    names: Mapping[str, str]
    """`paper`, `project` or `concept`, by name key of a title or concept."""


def work_key(work: Work, *, scope: str) -> str:
    """Return the entity key of a work, derived from its id, or from its title without an id."""
    if work.kind == "project":
        return name_key(work.title)
    if work.ids:
        return id_key(work.ids[0])
    return local_key(work.local, scope=scope) if work.local else whole_key(work.title)


def local_key(local: str, *, scope: str) -> str:
    """Return the key of an id local to a file. No text matches it, because `p1` is valid only in its file."""
    return f"record {digest((scope, local), size=8)}"
