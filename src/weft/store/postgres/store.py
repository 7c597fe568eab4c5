"""Store of one namespace on a server. With several parts, the graph follows the text of documents from an outbox."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import sample
from typing import TypeVar

from weft.records import Batch, Done
from weft.store.postgres.connect import Connections
from weft.store.postgres.outbox import Outbox, settle_all, settle_some
from weft.store.postgres.outbox_entries import accepts
from weft.store.postgres.part_names import part_of
from weft.store.postgres.parts import PartedSession
from weft.store.relational.document_write import DocumentWriter
from weft.store.relational.jobs import discard_jobs, finish_jobs
from weft.store.relational.retry import retry_once
from weft.store.relational.store import RelationalStore

logger = logging.getLogger(__name__)

_Item = TypeVar("_Item")


@retry_once
class PostgresStore(RelationalStore):
    """One namespace of a server. The first write creates its row."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        super().__init__(connections, namespace=namespace)
        self._server = connections

    def write(self, *batches: Batch, done: Done | None = None, defer_graph: bool = False) -> None:
        ids = [batch.document.id for batch in batches]
        with self._server.write_documents(self._namespace, ids, defer_indexes=defer_graph) as db:
            if not db.part_names(self._namespace):
                self._write(db, batches, done=done, defer_graph=defer_graph)
                return
            is_accepted = all(accepts(batch, namespace=self._namespace) for batch in batches)
            if is_accepted:
                self._write_text(db, batches, done=done)
        if not is_accepted:
            with self._server.write(self._namespace) as db:
                self._write_text(db, batches, done=done)
                settle_all(db, self._namespace)
        elif batches and not (defer_graph and self._server.defer(self._namespace, batches)):
            self._try_settle()

    def delete(self, document_ids: Sequence[str]) -> int:
        with self._server.write_documents(self._namespace, document_ids) as db:
            if not db.part_names(self._namespace):
                return self._delete(db, document_ids)
            deleted = self._delete_text(db, document_ids)
        if deleted:
            self._try_settle()
        return deleted

    def settle_graph(self, *, wait: bool = True) -> None:
        self._settle(wait=wait)
        self._server.create_indexes(self._namespace)

    def _settle(self, *, wait: bool) -> None:
        """
        Add all entries to the graph; without `wait`, only if no other process does so.

        It ends when no entry has been added since: a writer that found the home locked relies on this process.
        """
        last = 0
        while (now := self._last_entry()) > last:
            last, has_entries = now, True
            while has_entries:
                with self._server.settle(self._namespace, wait=wait) as settler:
                    if settler is None:
                        return
                    has_entries = settle_some(settler, self._namespace, last=last)

    def _try_settle(self) -> None:
        """Add entries to the graph after a commit. An error must not make the caller repeat what is committed."""
        try:
            self._settle(wait=False)
        except Exception as error:  # noqa: BLE001 - the text is committed
            logger.warning("the graph of namespace %r was not updated: %s", self._namespace, error)

    def _last_entry(self) -> int:
        """Return the number of the last entry; 0 without one."""
        with self._server.read(self._namespace) as db:
            return db.last_entry() if db.part_names(self._namespace) else 0

    def divide(self, document_ids: Sequence[str]) -> list[list[str]]:
        with self._server.read(self._namespace) as db:
            parts = len(db.part_names(self._namespace))
        if not parts:
            return [list(document_ids)]
        found = defaultdict[str, list[str]](list)
        for id in document_ids:
            found[part_of(self._namespace, id, parts)].append(id)
        return sample(list(found.values()), k=len(found))  # two writers rarely begin with the same part

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    def _write_text(self, db: PartedSession, batches: Sequence[Batch], *, done: Done | None) -> None:
        """Write the text of documents to their parts, and what they state to the outboxes."""
        ids = [batch.document.id for batch in batches]
        self._lock_jobs(db, [*ids, *(done.results if done else ())])
        if done:
            finish_jobs(db, self._namespace, done)
        discard_jobs(db, self._namespace, ids)
        for part, some in self._by_part(db, {batch.document.id: batch for batch in batches}).items():
            models = self._checked_models(db, part, some)
            outbox = Outbox(db, home=self._namespace, part=part, models=models)
            writer = DocumentWriter(db, namespace=part, statements=outbox)
            writer.write_all(some, models=models)
            writer.finish()

    def _delete_text(self, db: PartedSession, document_ids: Sequence[str]) -> int:
        """Delete the text of documents in their parts, and note that in the outboxes."""
        self._lock_jobs(db, document_ids)
        deleted = 0
        for part, ids in self._by_part(db, {id: id for id in document_ids}).items():
            outbox = Outbox(db, home=self._namespace, part=part, models={})
            writer = DocumentWriter(db, namespace=part, statements=outbox)
            if count := writer.delete(ids):
                writer.finish()
                deleted += count
        db.run("delete_jobs", {"namespace": self._namespace, "ids": json.dumps(list(document_ids))})
        return deleted

    def _lock_jobs(self, db: PartedSession, ids: Sequence[str]) -> None:
        db.run("lock_jobs", {"namespace": self._namespace, "ids": json.dumps(list(ids))})

    def _by_part(self, db: PartedSession, items: Mapping[str, _Item]) -> dict[str, list[_Item]]:
        """Return items by the part of their document, whose id they are under."""
        parts = len(db.part_names(self._namespace))
        found = defaultdict[str, list[_Item]](list)
        for id, item in items.items():
            found[part_of(self._namespace, id, parts)].append(item)
        return dict(sorted(found.items()))
