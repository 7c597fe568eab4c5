"""Commits of Git repositories as documents: those to add, and those that left the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from weft.errors import InputError
from weft.index.prune import iter_documents
from weft.load.git.commit_documents import iter_commit_documents, source_prefix
from weft.load.git.log import list_shas
from weft.records import Document, Filter, Receipt
from weft.store.base import Store


def add_commits(
    repositories: Sequence[Path], add: Callable[[Iterable[Document]], Receipt], *, store: Store, prune: bool
) -> Receipt:
    """Index the commits that are not indexed yet with `add`. With `prune`, delete those that left the history."""
    receipt = add(iter_new_commits(repositories, store=store))
    if prune and not receipt.stopped:
        return replace(receipt, pruned=store.delete(find_lost_commits(repositories, store=store)))
    return receipt


def iter_new_commits(repositories: Sequence[Path], *, store: Store) -> Iterator[Document]:
    """Yield the commits that are not indexed yet, as documents. Raises `InputError` if a folder does not exist."""
    for repository in repositories:
        if not repository.is_dir():
            raise InputError(f"no folder {str(repository)!r}", hint="pass the folder of a Git repository")
        yield from iter_commit_documents(repository, known=_find_known(repository, store=store).keys())


def find_lost_commits(repositories: Sequence[Path], *, store: Store) -> list[str]:
    """Return the ids of documents of commits that are no longer in the history of the current branch."""
    lost: list[str] = []
    for repository in repositories:
        present = {source_prefix(repository) + sha for sha in list_shas(repository)}
        lost += [id for source, id in _find_known(repository, store=store).items() if source not in present]
    return lost


def _find_known(repository: Path, *, store: Store) -> dict[str, str]:
    """Return the indexed commits of a repository: source → id of the document."""
    where = Filter(source_prefix=source_prefix(repository))
    return {document.source: document.id for document in iter_documents(store, where)}
