"""
Read index of a namespace beside a serving process: segments of vectors and postings that answer without the server.

The database is the only source of truth. An index is a copy of one version of a namespace: its generation and its
random stamp. A question reads the version of its snapshot, which it reads anyway, and uses the index only if the two
are equal. So the index needs no look-ups, and it never answers for another state than that of the question:

    question at (12, 2290)    index at (12, 2290)    use the index
                              index at (11, 7301)    read the log from 11 on (change_log.py), read the changed chunks
                                                     again in the same snapshot, then use the index
                              index at (13, 5518)    ask the server: the snapshot is older
                              no way by the log      ask the server; a thread fills the index again

Segments    Vectors (vector_segments.py) and postings (keyword_segments.py) of chunks by number, with a mask of the
            live ones. A changed chunk dies in its segment, and its new row is in the segment of changes in memory.
            The files, HNSW graphs and MaxScore are those of SQLite (`weft.store.read_index`).
Index       Immutable: its segments at one version (namespace_index.py). Following the log gives a new index, which
            shares the segments. Questions with different snapshots therefore do not disturb each other.
Filling     A thread reads all rows of a namespace in one snapshot, under row security (fill.py). Up to
            `MAX_EXACT_ROWS` chunks the segments stay in memory; larger ones are files in a folder, with a manifest, and
            are opened again by the next process (index_files.py).
Registry    The indexes of all namespaces and the thread that fills them (registry.py).

A namespace with several parts has no read index. Design: docs/decisions/0045-indexes-beside-servers.md.
"""
