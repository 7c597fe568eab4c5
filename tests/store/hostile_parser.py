"""A parser process with loaders that misbehave, chosen by the extension of a file."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from weft.engine.parsing.parser_main import main
from weft.load.run import LOADERS
from weft.records import Document


def spin(path, *, source, options):
    while True:
        pass
    yield


def hang(path, *, source, options):
    time.sleep(600)
    yield


def hold(path, *, source, options):
    """Wait until the file that the first argument names exists."""
    while not Path(sys.argv[1]).exists():
        time.sleep(0.01)
    yield Document(source=source, title="held", text="Held for a while.")


def allocate(path, *, source, options):
    yield Document(source=source, title="", text=str(len(bytearray(10 * 1024**3))))


def print_much(path, *, source, options):
    """Write to standard output, below Python's buffers, a thousand times what a pipe holds."""
    block = b"x" * 2**20
    for _ in range(64):
        os.write(1, block)
        os.write(2, block)
    yield Document(source=source, title="printed", text="Printed a lot.")


def give_much(path, *, source, options):
    yield Document(source=source, title="much", text="much", metadata={"much": "x" * 1_100_000})


def die(path, *, source, options):
    os.kill(os.getpid(), signal.SIGKILL)
    yield


def crash(path, *, source, options):
    ctypes.string_at(0)
    yield


def raise_error(path, *, source, options):
    yield Document(source=source, title="first", text="The first record is fine.")
    raise ZeroDivisionError("a bug")


LOADERS |= {
    ".spin": spin,
    ".hang": hang,
    ".hold": hold,
    ".allocate": allocate,
    ".print": print_much,
    ".give": give_much,
    ".die": die,
    ".crash": crash,
    ".raise": raise_error,
}

if __name__ == "__main__":
    main()
