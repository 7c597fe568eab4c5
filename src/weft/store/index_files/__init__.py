"""
Files of read indexes: segments of postings and HNSW graphs, shared by the stores.

These modules read no database. `weft.store.sqlite.index` explains how a store builds and uses the files.

    segments.py         segments, manifests, the folder and its build lock
    contents.py         verified contents of the files, mapped or copied into memory
    chunk_ids.py        chunk ids by row number
    hnsw.py             graphs of vectors
    postings_file.py    postings as arrays
    postings_merge.py   postings from the terms of chunks, and merged postings
    maxscore.py         best chunks by BM25
"""
