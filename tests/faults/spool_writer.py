"""Two hosts that capture sessions while a third thread indexes them, until the process is killed."""

import json
import os
import random
import threading
from collections import Counter
from pathlib import Path

from weft import open_engine
from weft.daemon.capture import drain
from weft.daemon.events import to_capture
from weft.daemon.spool import Spool

MAX_TURNS = 4
"""Number of turns after which a host begins a session."""


def capture(folder, *, seed):
    """Write turns and index them until the process is killed. The journal has a line for each acknowledged turn."""
    folder = Path(folder)
    for host in ("log", "turns"):
        threading.Thread(target=run_host, args=(folder, host, seed), daemon=True).start()
    with open_engine(str(folder / "weft.db"), embedder="none") as engine:
        while True:
            drain(engine, Spool("x", base=folder))


def run_host(folder, host, seed):
    """Capture sessions: one host keeps a transcript, the other sends its turns."""
    spool, chance = Spool("x", base=folder), random.Random(f"{host} {seed}")
    number = 0
    while True:
        session = f"{host}-{seed}-{number}"
        number += 1
        for turn in range(chance.randrange(1, MAX_TURNS + 1)):
            marks = [f"mark{host}{seed}q{number}q{turn}", f"reply{host}{seed}q{number}q{turn}"]
            for event in to_events(folder, host, session, turn, marks):
                spool.write(event)
            acknowledge(folder / "journal", marks)


def to_events(folder, host, session, turn, marks):
    """Yield what a host captures of a prompt and its answer."""
    if host == "log":
        path = folder / f"{session}.jsonl"
        with path.open("a") as log:
            for role, mark in zip(("user", "assistant"), marks, strict=True):
                row = {"type": role, "sessionId": session, "message": {"role": role, "content": f"We use {mark} here."}}
                log.write(json.dumps(row) + "\n")
        yield to_capture("stop", {"transcript_path": str(path), "session_id": session, "cwd": str(folder)})
        return
    common = {"conversation_id": session, "generation_id": str(turn), "workspace_roots": [str(folder)]}
    yield to_capture("turn", {**common, "prompt": f"We use {marks[0]} here."})
    yield to_capture("turn", {**common, "text": f"We use {marks[1]} here."})


def acknowledge(journal, marks):
    """Append marks to the journal with one write, so that a killed process leaves all or none of them."""
    descriptor = os.open(journal, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.write(descriptor, (" ".join(marks) + "\n").encode())
    os.close(descriptor)


def inspect(folder):
    """Index what waits; return the acknowledged marks that are missing, those stored twice, and problems."""
    folder = Path(folder)
    spool = Spool("x", base=folder)
    with open_engine(str(folder / "weft.db"), embedder="none") as engine:
        drain(engine, spool)
        stored = Counter(
            word
            for document in engine.documents()
            for chunk in engine.get(document.id)[1]
            for word in chunk.text.split()
            if word.startswith(("mark", "reply"))
        )
        problems = [str(problem) for problem in engine.database.check()]
    journal = folder / "journal"
    wanted = journal.read_text().split() if journal.exists() else []
    return {
        "acknowledged": len(wanted),
        "missing": [mark for mark in wanted if not stored[mark]],
        "twice": [mark for mark, count in stored.items() if count > 1],
        "waiting": len(spool.names()),
        "problems": problems,
    }
