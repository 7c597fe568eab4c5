"""Child processes: messages both ways, deadlines, cancellation, limits, and an end with the parent."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from weft.processes.child_process import ChildFailure, ChildProcess
from weft.processes.framing import FrameTooLarge, decode, encode, frame, read_frame
from weft.processes.program import CannotStart, run_program

CHILD = """
import os, signal, sys, time
from weft.processes import limits
from weft.processes.parent_connection import ParentConnection

def answer(parent, request):
    match request:
        case ["echo", value]:
            print("a line that a library prints")
            parent.send(value)
        case ["stdin"]:
            parent.send(sys.stdin.read())
        case ["data", size]:
            parent.send(["data"])
            parent.send_data(bytes(size))
        case ["raw", text]:
            parent._output.write(text.encode())
            parent._output.flush()
        case ["die", number]:
            os.kill(os.getpid(), number)
        case ["exit", code]:
            sys.exit(code)
        case ["sleep"]:
            parent.send("asleep")
            time.sleep(600)
        case ["allocate", megabytes]:
            limits.limit_memory(limits.MAX_MEMORY_BYTES)
            try:
                bytearray(megabytes << 20)
            except MemoryError:
                limits.lift_memory_limit()
                parent.send("no memory")
        case ["spin", seconds]:
            limits.limit_cpu(seconds)
            while True:
                pass
"""
SERVING = """
parent = ParentConnection()
for request in parent.requests():
    answer(parent, request)
"""
ENDING = """
import threading
parent = ParentConnection()
stop = threading.Event()
parent.receive()
parent.on_end(stop.set)
parent.send("ready")
stop.wait(600)
parent.send("stopped")
"""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the limit exists on Linux only")


def start(code=SERVING):
    return ChildProcess((sys.executable, "-c", CHILD + code))


@pytest.fixture
def child():
    with start() as made:
        yield made
    assert not made.is_alive()


def test_messages_come_back_as_they_were_sent(child):
    """Surrogates, large texts, empty messages and bytes; printed lines and reads of libraries do not disturb them."""
    for value in ("\ud800é", "x" * 1_000_000, [], None, {"a": [1, 2.5]}):
        child.send(["echo", value])
        assert child.receive() == value
    child.send(["data", 3_000_000])
    assert (child.receive(), child.receive_data()) == (["data"], bytes(3_000_000))
    assert child.received_bytes == 3_000_000
    child.send(["stdin"])
    assert child.receive() == ""


@POSIX
@pytest.mark.parametrize(
    "request_, kind, text",
    [
        (["die", 9], "ended", "was killed (SIGKILL)"),
        (["exit", 7], "ended", "failed with exit code 7"),
        (["raw", "\0\0\0\2{]"], "message", "sent an invalid message"),
        (["raw", "\0\0\0\2"], "deadline", "did not answer in time"),
        (["raw", "another program"], "size", "sent a message of 1,634,627,444 bytes"),
        (["echo", [[[]] * 20_000]], "size", "sent a message of 60,003 bytes"),
    ],
    ids=["signal", "exit", "no JSON", "half a message", "another program", "too large"],
)
def test_a_failure_says_what_happened(child, request_, kind, text):
    """The process is dead afterwards, and each later call fails too."""
    child.send(request_)
    with pytest.raises(ChildFailure) as failure:
        child.receive(max_bytes=60_000, seconds=1 if kind == "deadline" else 60)

    assert (failure.value.kind, str(failure.value)) == (kind, text)
    with pytest.raises(ChildFailure):
        child.receive()
    with pytest.raises(ChildFailure):
        child.send(["echo", 1])


def test_a_deadline_counts_from_each_message(child):
    """The time that the caller needs between two messages does not count."""
    for _ in range(2):
        child.send(["echo", 1])
        assert child.receive(seconds=30) == 1
        time.sleep(0.3)
    child.send(["sleep"])
    assert child.receive(seconds=30) == "asleep"
    began = time.monotonic()
    with pytest.raises(ChildFailure, match="in time"):
        child.receive(seconds=0.3)
    assert time.monotonic() - began < 60


def test_any_thread_may_kill_it(child):
    """The thread that waits for an answer gets a failure."""
    child.send(["sleep"])
    child.receive()
    threading.Timer(0.2, child.kill).start()

    with pytest.raises(ChildFailure):
        child.receive()


@LINUX
def test_memory_is_limited(child):
    """The child is told, and survives."""
    child.send(["allocate", 4096])
    assert child.receive(seconds=60) == "no memory"
    child.send(["echo", "alive"])
    assert child.receive(seconds=60) == "alive"


@POSIX
def test_cpu_time_is_limited(child):
    """The operating system ends it, whatever code runs."""
    child.send(["spin", 0])
    with pytest.raises(ChildFailure, match="CPU time") as failure:
        child.receive(seconds=600)
    assert failure.value.kind == "cpu"


def test_a_cancelled_process_is_asked_to_end():
    """It may still answer; one that does not end is killed."""
    cancelled = threading.Event()
    with start(ENDING) as child:
        child.send("begin")
        assert child.receive(seconds=60) == "ready"
        threading.Timer(0.2, cancelled.set).start()
        assert child.receive(cancelled=cancelled, end_seconds=60) == "stopped"
    with start("import time; time.sleep(600)") as child, pytest.raises(ChildFailure, match="in time"):
        child.receive(cancelled=cancelled, end_seconds=0.2)


def test_it_ends_by_itself_when_it_is_closed():
    """With some time it finishes its work; without, it is killed. A second call does nothing."""
    child = start(ENDING)
    child.send("begin")
    child.receive(seconds=60)
    child.close(seconds=60)
    child.close()
    assert child.exit_code == 0

    child = start("import time; time.sleep(600)")
    child.close()
    assert child.exit_code != 0


@POSIX
@pytest.mark.parametrize("code", [SERVING, ENDING], ids=["in the middle of a request", "on request"])
def test_it_ends_with_a_killed_parent(code):
    """Its input closes, even if the parent had no time to say so."""
    parent = textwrap.dedent(
        f"""
        import sys
        from weft.processes.child_process import ChildProcess
        child = ChildProcess((sys.executable, "-c", {CHILD + code!r}))
        child.send(["sleep"])
        child.receive()
        print(child.pid, flush=True)
        child.receive()
        """
    )
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()

    wait_for_end(pid)


@POSIX
def test_ctrl_c_reaches_the_parent_only(child):
    """The child has a session of its own."""
    assert os.getsid(child.pid) == child.pid != os.getsid(0)


def test_a_frame_is_read_in_any_pieces():
    """Sockets and pipes return what has arrived."""
    data = encode(["é", 1]) + frame(b"xyz")
    pieces = iter(data[place : place + 1] for place in range(len(data)))

    assert decode(read_frame(lambda count: next(pieces))) == ["é", 1]
    assert read_frame(lambda count: next(pieces)) == b"xyz"
    with pytest.raises(EOFError):
        read_frame(lambda count: b"")
    with pytest.raises(FrameTooLarge, match="5 bytes"):
        read_frame(lambda count: b"\0\0\0\5", max_bytes=4)
    with pytest.raises(ValueError, match="deeply"):
        decode(b"[" * 200_000)


@POSIX
def test_a_program_ends_with_its_children(tmp_path):
    """An exception of the caller kills the whole group."""
    pids = tmp_path / "pids"
    shell = f"sleep 600 & echo $! > {pids}; wait"

    def give_up():
        if pids.exists() and pids.read_text().strip():
            raise KeyboardInterrupt

    with (tmp_path / "output").open("wb") as output:
        options = {"folder": tmp_path, "environment": os.environ, "output": output}
        with pytest.raises(KeyboardInterrupt):
            run_program(["/bin/sh", "-c", shell], watch=give_up, **options)
        assert run_program(["/bin/sh", "-c", "echo harbour; echo crane >&2; exit 3"], **options) == 3
        with pytest.raises(CannotStart):
            run_program(["/nowhere/program"], **options)

    wait_for_end(int(pids.read_text()))
    assert (tmp_path / "output").read_text() == "harbour\ncrane\n"


def wait_for_end(pid, seconds=60.0):
    """Wait until no process has this id; a dead process whose parent has not waited for it counts as ended."""
    deadline = time.monotonic() + seconds
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid):
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")
