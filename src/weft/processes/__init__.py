"""
Child processes: the only way of Weft to start one, and the only protocol between them.

    child.py               start, without an import from the current folder
    child_process.py       a child that answers messages, seen from the parent: deadline, kill, reason of its end
    parent_connection.py   the same, seen from the child: messages, end with the parent
    framing.py             messages as bytes
    limits.py              CPU time, memory, priority
    watchdog.py            the thread that compares deadlines
    program.py             other programs, such as pip
"""
