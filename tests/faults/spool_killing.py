"""Kills of processes that capture turns, at random moments."""

MAX_SECONDS = 1.0
"""A process is killed at most so many seconds after its first acknowledged turns."""
MAX_LINES = 6
KILLS_PER_STORE = 20


def kill_captures(server, folder, *, kills, random):
    """Kill captures; check each store after its last kill. Return the number of acknowledged marks."""
    acknowledged = 0
    for number in range(kills):
        place = folder / str(number // KILLS_PER_STORE)
        place.mkdir(exist_ok=True)
        journal = place / "journal"
        journal.touch()
        lines = journal.read_bytes().count(b"\n") + random.randrange(MAX_LINES)
        ended = server.call(
            "spool_writer:capture",
            kill=(str(journal), lines, random.random() * MAX_SECONDS),
            folder=str(place),
            seed=number,
        )
        assert ended.status == -9 and not ended.timed_out, ended.errors
        if (number + 1) % KILLS_PER_STORE == 0 or number + 1 == kills:
            found = server.value("spool_writer:inspect", folder=str(place))
            acknowledged += found.pop("acknowledged")
            waiting = found.pop("waiting")  # prompts whose answer was never written
            assert found == {"missing": [], "twice": [], "problems": []}, f"after kill {number}"
            assert waiting <= KILLS_PER_STORE
    assert acknowledged >= kills
    return acknowledged
