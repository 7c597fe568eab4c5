"""
Read index of a large namespace: derived files beside the SQLite file that supply search candidates.

The SQLite file is the only source of truth. An index names candidate rows; the file decides which of them still
exist and how close their vectors are. Deleting the index folder costs time, never results.

    weft.db                      rows, each with a number that is never reused (AUTOINCREMENT)
    weft.db.index/
      lock.db                    held by the one process that builds
      keywords-1-1.json          manifest of one target: kind, namespace, embedder (keywords: namespace again)
      keywords-1-1.<hex>.segment   postings of a range of numbers (postings_file.py)
      vectors-1-3.json
      vectors-1-3.<hex>.segment    HNSW graph of a range of numbers (hnsw.py)
      vectors-1-3.<hex>.ids        chunk ids of the same rows (chunk_ids.py)

    row numbers  0        131072        140500                   141210
                 |-----------|-------------|------------------------|
                   segment 1    segment 2          memtable
                 '------- manifest.high -'   rows committed since, read into memory
                  immutable files

Target      One set of numbered rows: chunk vectors, fact entity vectors, or chunk terms (targets.py).
Segment     Immutable files over the rows `low < number <= high`. A changed row gets a new number, so a segment may
            contain deleted rows but never wrong ones.
Manifest    JSON file with the segments of one target, replaced atomically (segments.py). It also contains the
            generation of the namespace and checksums of some rows, which detect a restored backup.
Generation  Counter of committed writes to a namespace. A reader whose snapshot has a smaller generation than the
            manifest scans the file instead, because rows that it still sees may be missing in the index.
Memtable    Rows above `manifest.high`, kept in memory (memtable.py). A document is found as soon as it is committed.
Tombstones  There are none. A deleted row stays in its segment; queries request spare candidates and drop those that
            the file no longer has. A segment that lost more than half of its rows is built again.

A query (reader.py) runs inside one read transaction:

    1. stat the manifest; reopen the segments if it has changed
    2. compare generations; a mismatch means a scan of the file
    3. ask every segment and the memtable for `limit + spare` candidates
    4. look the candidates up in the file: drop deleted rows, compute exact cosines or BM25 scores
    5. too few left: ask for four times as many, then scan the file

A background thread (builder.py) extends the indexes. It reads committed rows in short transactions, builds a segment
from the unindexed rows together with the smaller segments before them, and then replaces the manifest. For many rows
it starts a process (builder_process.py, builder_main.py), which has an interpreter lock of its own.

Namespaces below `reader.MIN_INDEXED_ROWS` have no index; their vectors stay in memory (resident_vectors.py).
`weft check --deep` compares index results with a scan (verify.py). Design: docs/decisions/0019-read-indexes.md.
"""
