"""
Conversion of a commit to a document with a graph.

    a1b2c3d Fix the parser (#12)    ─authored_by→ its author
                                    ─changes→     src/parser.py (also `parser.py`)
                                    ─fixes→       issue #12
                                    ─reverts→     another commit

The text is the message, then the changed files with the headings of their changes. The changed lines are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from weft.extract.names import MAX_NAME_CHARACTERS, name_key
from weft.extract.statements import FIELD_WEIGHT, Statement, in_words
from weft.load.git.log import ChangedFile, Commit, iter_commits, list_shas
from weft.load.line_map import shorten
from weft.masking.mask import mask_secrets
from weft.records import Candidate, Document, Extraction, StatedRelation

PREFIX = "git:"
SHORT_SHA = 10
MAX_TITLE_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 300
MAX_ISSUES = 10

_FIXES = re.compile(r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\b:? {0,3}#(\d{1,9})\b", re.IGNORECASE)
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})\b")


def source_prefix(repository: Path) -> str:
    """Return the beginning of the sources of a repository's commits: `git:` and the name of its folder."""
    return f"{PREFIX}{repository.resolve().name}#"


def iter_commit_documents(repository: Path, *, known: Collection[str] = ()) -> Iterator[Document]:
    """Yield the commits of a repository as documents, newest first; commits with a source in `known` are left out."""
    prefix = source_prefix(repository)
    if known and all(prefix + sha in known for sha in list_shas(repository)):
        return
    for commit in iter_commits(repository):
        if prefix + commit.sha not in known:
            yield to_document(commit, source=prefix + commit.sha)


def to_document(commit: Commit, *, source: str) -> Document:
    """Return the document of a commit, without the secrets of its message and of the headings of its changes."""
    commit = _mask(commit)
    subject, _, body = commit.message.partition("\n")
    title = shorten(f"{commit.sha[:SHORT_SHA]} {subject}", limit=MAX_TITLE_CHARACTERS)
    files = [f"- {_describe(file)}" for file in commit.files]
    if commit.omitted_files:
        files.append(f"- and {commit.omitted_files:,} more files")
    parts = [subject, f"Commit by {commit.author} on {commit.date[:10]}.", body.strip()]
    if files:
        parts.append("Changed files:\n" + "\n".join(files))
    return Document(
        source=source,
        title=title,
        text="\n\n".join(filter(None, parts)) + "\n",
        metadata={
            "kind": "commit",
            "commit": commit.sha,
            "author": commit.author,
            "date": commit.date,
            "files": [file.path for file in commit.files],
        },
        given=_extract(commit, title=title),
    )


def _mask(commit: Commit) -> Commit:
    """Return a commit without secrets. They are masked before texts are shortened, so that no part of one is left."""
    files = [replace(file, headings=tuple(map(mask_secrets, file.headings))) for file in commit.files]
    return replace(commit, message=mask_secrets(commit.message), files=tuple(files))


def _describe(file: ChangedFile) -> str:
    """
    Return the line of a file: `src/parser.py (parser.py, added): def parse(text)`.

    The name is repeated: the terms of a path are its parts and the whole path, but not the name with its ending.
    """
    folder, _, name = file.path.rpartition("/")
    notes = ", ".join([*([name] if folder else []), *(["added"] if file.is_added else [])])
    return file.path + (f" ({notes})" if notes else "") + (f": {'; '.join(file.headings)}" if file.headings else "")


def _extract(commit: Commit, *, title: str) -> Extraction:
    """Return the names and relations of a commit."""
    own = commit_key(commit.sha)
    subject = commit.message.partition("\n")[0]
    candidates = [
        Candidate(key=own, name=title, kind="metadata", type="commit", about=True, description=subject),
        Candidate(
            key=name_key(title), name=title, kind="metadata", type="commit", about=True, alias_of=own, reason="title"
        ),
    ]
    stated_relations: list[StatedRelation] = []

    def relate(relation: str, key: str, name: str, *, type: str) -> None:
        if key and key != own and len(name) <= MAX_NAME_CHARACTERS:
            candidates.append(Candidate(key=key, name=name, kind="metadata", type=type))
            text = shorten(in_words(Statement(title, name, relation)), limit=MAX_DESCRIPTION_CHARACTERS)
            stated_relations.append(
                StatedRelation(source=own, target=key, type=relation, weight=FIELD_WEIGHT, description=text)
            )

    if commit.author:
        relate("authored_by", name_key(commit.author), commit.author, type="person")
    for file in commit.files:
        relate("changes", name_key(file.path), file.path, type="file")
        name = file.path.rpartition("/")[2]
        if name != file.path and name_key(name):
            key, path = name_key(name), name_key(file.path)
            candidates.append(
                Candidate(key=key, name=name, kind="metadata", type="file", alias_of=path, reason="file name")
            )
    for number in list(dict.fromkeys(_FIXES.findall(commit.message)))[:MAX_ISSUES]:
        relate("fixes", name_key(f"issue #{number}"), f"issue #{number}", type="issue")
    for sha in _REVERTS.findall(commit.message)[:1]:
        relate("reverts", commit_key(sha), f"commit {sha[:SHORT_SHA]}", type="commit")
    return Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))


def commit_key(sha: str) -> str:
    """Return the entity key of a commit."""
    return name_key(sha[:SHORT_SHA])
