"""Uploads until the disk is full: a clear error, no lost data, and a server that recovers when space is free."""

import resource
import shutil
import subprocess
from contextlib import contextmanager

from fault_settings import chance
from serving import refused
from test_serve_process import started

DISK_BYTES = 64 << 20
FREE_BYTES = 3 << 20
"""Space that is left before the first upload."""
FILE_BYTES = 2 << 20
"""Largest file where no file system can be mounted."""
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()


@contextmanager
def small_disk(folder):
    """Give whether a file system of 64 MB is mounted at the folder; mounting needs its rights."""
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    mounted = mount is not None and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def limit_files(process, size):
    """Let no file of a process grow beyond so many bytes."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def upload(client, number, random):
    """Upload a document of some ten kilobytes; return its source and the response."""
    text = "\n\n".join(f"# Part {part}\n\n" + " ".join(random.choices(WORDS, k=300)) for part in range(12))
    given = {"documents": [{"text": f"Document {number}.\n\n{text}", "source": f"upload-{number}"}]}
    return f"text:upload-{number}", client.post("/documents", json=given)


def listed(client):
    """Return the sources of all documents."""
    sources, after = set(), ""
    while after is not None:
        page = client.get("/documents", params={"after": after} if after else {}).json()
        sources |= {item["source"] for item in page["documents"]}
        after = page["next"]
    return sources


def test_a_full_disk_loses_nothing_and_ends_no_server(tmp_path):
    """Three uploads in a row are refused, all others stay, and uploads succeed when space is freed."""
    random, acknowledged, refusals = chance("full disk"), set(), []
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk) as mounted, started(disk) as (process, client):
        ballast = disk / "ballast"
        if mounted:
            ballast.write_bytes(bytes(DISK_BYTES - FREE_BYTES))
        else:
            limit_files(process, FILE_BYTES)
        for number in range(400):
            source, response = upload(client, number, random)
            if response.status_code == 201:
                acknowledged.add(source)
            else:
                refusals.append(refused(response))
            if len(refusals) == 3:
                break
        assert len(refusals) == 3 and all(status >= 500 for status, _ in refusals), refusals
        assert client.get("/health").status_code == 200
        assert listed(client) >= acknowledged

        ballast.unlink(missing_ok=True)
        if not mounted:
            limit_files(process, resource.RLIM_INFINITY)
        source, response = upload(client, 1000, random)
        assert response.status_code == 201, response.text
        assert listed(client) == acknowledged | {source}
        assert client.post("/query", json={"query": "alpha beta"}).status_code == 200
        print(
            f"\nfull disk ({'tmpfs' if mounted else 'file size limit'}): {len(acknowledged)} uploads, then {refusals}"
        )
