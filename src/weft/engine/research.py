"""Research findings from Python: papers and projects as a dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.errors import InputError
from weft.load.papers.findings import find_lists, iter_findings
from weft.records import Document, Skipped

SOURCE = "research"
"""What the sources of findings that come from no file begin with."""


def read_findings(findings: Mapping[str, object], *, source: str = SOURCE) -> Iterator[Document | Skipped]:
    """Return the documents of findings. Raises `InputError` where they hold neither papers nor projects."""
    if not isinstance(findings, Mapping) or not find_lists(findings):
        raise InputError(
            "there are no research findings: neither 'academic_papers' nor 'github_projects' is a list",
            hint="docs/research.md shows the form",
        )
    return iter_findings(findings, source=source)
