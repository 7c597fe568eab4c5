"""
Processor time that a new process needs to verify read-index files of a given size.

    python benchmarks/index_verification.py [MEGABYTES]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from weft.store.index_files.contents import SegmentContents
from weft.store.index_files.segments import IndexFolder

RUNS = 4


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 109
    with tempfile.TemporaryDirectory() as name:
        folder = IndexFolder(Path(name) / "weft.db.index")
        folder.path.mkdir()
        (folder.path / "all.segment").write_bytes(os.urandom(size * 1_000_000))
        listed = folder.checksum_file("all.segment")
        for _ in range(RUNS):
            contents, start = SegmentContents(folder.path), time.process_time()
            contents.get(listed)
            print(f"{size} MB: {1000 * (time.process_time() - start):.0f} ms of processor time")
            contents.close()


if __name__ == "__main__":
    main()
