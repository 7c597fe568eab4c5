"""
Attack every regular expression of the package with hostile inputs; run as a program, it prints what is not linear.

Collection: `re.compile` is wrapped while all modules are imported; patterns written inside a call (`re.sub("…", …)`)
are read from the syntax tree. Attack: from the parsed pattern we take every repeated part, and build inputs
`start + part * n + end` that match as far as possible and then fail. Measure: time at n and 4n parts.
`linear_patterns.txt` has digests of the patterns that passed; only the slow test attacks
them again.

    pattern            hostile input          n -> 4n   verdict
    (a+)+$             "a" * n + "!"          never     exponential
    \\s+$               " " * n + "!"          x 16      quadratic (each start is tried)
    [^\\W_]+(?=:)       "a" * n + "!"          x 16      quadratic
    \\bab+\\b            "a" + "b" * n + "!"    x 4       linear
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import itertools
import json
import pkgutil
import re
import signal
import sys
import time
from pathlib import Path

from source_files import nodes

try:
    from re import _constants as constants
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as constants
    import sre_parse as parser

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")
ENDS = ("", "\x00", "a", "\n")
MAX_RATIO = 6.0
"""Allowed growth of the time from n to 4n: linear is 4, quadratic 16."""
PROBE_PARTS, QUICK_SECONDS = 512, 0.0002
"""An input of this length that takes less time is not measured further; a quadratic pattern takes 0.2 to 3 ms."""
SAME_RATIO = 1.25
"""Ends whose times differ by less than this factor are one attack: the slowest of them is measured."""
MIN_PARTS = 1_024
"""Length of the input that is compared with one of four times its length."""
BASE_SECONDS = 0.02
"""Processor time of one measurement; short calls are repeated, so that the resolution of the clock does not decide."""
REPETITIONS, DOUBTS = 3, 4
"""Runs of which the fastest counts, and measurements before a pattern is judged as not linear."""
MAX_SECONDS = 0.5
"""An attack that takes longer is stopped and counts as not linear."""
MAX_INPUTS = 40
"""Hostile inputs per pattern."""


# ── collection ──────────────────────────────────────────────────────────────────────────────────


def collect(root):
    """Return {(pattern, flags): (place, methods)} of all patterns below a package folder."""
    found = {}
    original = re.compile

    def record(pattern, flags=0):
        compiled = original(pattern, flags)
        frame = sys._getframe(1)
        if str(root) in frame.f_code.co_filename and isinstance(compiled.pattern, str):
            place = f"{Path(frame.f_code.co_filename).relative_to(root)}:{frame.f_lineno}"
            found.setdefault((compiled.pattern, compiled.flags), place)
        return compiled

    re.compile = record
    try:
        for module in pkgutil.walk_packages([str(root)], prefix="weft."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ImportError:  # an extra that is not installed
                continue
    finally:
        re.compile = original
    uses = used_methods(root)
    local = local_methods(uses)
    patterns = {key: (place, methods_at(root, place, uses, local)) for key, place in found.items()}
    return patterns | inline_patterns(root)


def local_methods(uses):
    """Return {file: methods called on any of its local names}."""
    found = {}
    for (file, name), methods in uses.items():
        if name.islower() and name != "re":
            found.setdefault(file, set()).update(methods)
    return found


def methods_at(root, place, uses, local):
    """Return the methods called on a pattern: by its name, or if it is in a table by any local name of that file."""
    file, name = names_at(root, place)
    return uses.get((file, name), set()) - {"passed on"} or local.get(file, set()) - {"passed on"}


def names_at(root, place):
    """Return the constant that a line assigns: `_WORD` for `_WORD = re.compile(…)`."""
    file, _, line = place.rpartition(":")
    for node in nodes(root / file):
        is_assignment = isinstance(node, ast.Assign | ast.AnnAssign)
        if is_assignment and node.lineno <= int(line) <= (node.end_lineno or 0):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            return (file, getattr(target, "id", ""))
    return (file, "")


def used_methods(root):
    """Return {(file, constant): methods called on it}; `passed on` if it is used in another way."""
    uses, owners = {}, {}
    for path in root.rglob("*.py"):
        file = str(path.relative_to(root))
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("weft."):
                source = node.module.removeprefix("weft.").replace(".", "/") + ".py"
                for alias in node.names:
                    owners[file, alias.asname or alias.name] = (source, alias.name)
    for path in root.rglob("*.py"):
        file = str(path.relative_to(root))
        called = set()
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.attr in METHODS:
                    key = owners.get((file, node.value.id), (file, node.value.id))
                    uses.setdefault(key, set()).add(node.attr)
                called.add(id(node.value))
        for node in nodes(path):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                key = owners.get((file, node.id), (file, node.id))
                uses.setdefault(key, set()).add("passed on")
    return uses


def inline_patterns(root):
    """Return the constant patterns that are given to functions of `re` directly."""
    found = {}
    for path in root.rglob("*.py"):
        for node in nodes(path):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if getattr(node.func.value, "id", "") != "re" or node.func.attr not in METHODS or not node.args:
                continue
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                place = f"{path.relative_to(root)}:{node.lineno}"
                found[node.args[0].value, re.compile(node.args[0].value).flags] = (place, {node.func.attr})
    return found


# ── hostile inputs ──────────────────────────────────────────────────────────────────────────────


def hostile(pattern, flags):
    """Yield (start, part): `part` is repeated. Parts come from the repeats of the pattern and its characters."""
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    seen = set()
    for start, part in itertools.chain(repeats(tree, ""), alphabet(tree)):
        for choice in (start, ""):
            if part and (choice, part) not in seen:
                seen.add((choice, part))
                yield choice, part


def repeats(tree, before):
    """Yield (text before, text of one repetition) for every repeat in a parsed pattern."""
    text = before
    for operator, argument in tree:
        for inner in children(operator, argument):
            yield from repeats(inner, text)
        if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT) or "POSSESSIVE" in str(operator):
            _, most, body = argument
            if most > 8:
                for sample in samples(body):
                    yield text, sample
        text += next(iter(samples([(operator, argument)])), "")


def children(operator, argument):
    if operator is constants.SUBPATTERN:
        return [argument[-1]]
    if operator is constants.BRANCH:
        return argument[1]
    if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT) or "POSSESSIVE" in str(operator):
        return [argument[2]]
    if operator in (constants.ASSERT, constants.ASSERT_NOT):
        return [argument[1]]
    if str(operator) == "ATOMIC_GROUP":
        return [argument]
    return []


def samples(tree, limit=4):
    """Return up to `limit` texts that match a parsed pattern, look-arounds not considered."""
    options = [sample_one(operator, argument) for operator, argument in tree]
    return ["".join(parts) for parts in itertools.islice(itertools.product(*options), limit)]


def sample_one(operator, argument):
    if operator is constants.LITERAL:
        return [chr(argument)]
    if operator is constants.NOT_LITERAL:
        return ["a" if argument != ord("a") else "b"]
    if operator is constants.ANY:
        return ["a", " "]
    if operator is constants.IN:
        return in_class(argument)
    if operator is constants.BRANCH:
        return [text for branch in argument[1] for text in samples(branch, 1)][:4] or [""]
    if operator is constants.SUBPATTERN:
        return samples(argument[-1], 2)
    if str(operator) == "ATOMIC_GROUP":
        return samples(argument, 2)
    if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT) or "POSSESSIVE" in str(operator):
        least, most, body = argument
        return [text * max(least, min(1, most)) for text in samples(body, 2)]
    return [""]


def in_class(items):
    candidates = ["a", "A", "1", " ", "_", "-", "*", "[", "中", ".", ",", '"', "\n", "é", "x", ":"]
    negated = items[0][0] is constants.NEGATE
    kept = [c for c in candidates if any(in_item(c, item) for item in items) != negated]
    literals = [chr(value) for kind, value in items if kind is constants.LITERAL] if not negated else []
    ranges = [chr(value[0]) for kind, value in items if kind is constants.RANGE] if not negated else []
    return list(dict.fromkeys([*kept[:3], *literals[:3], *ranges[:2]])) or [""]


def in_item(character, item):
    kind, value = item
    if kind is constants.LITERAL:
        return ord(character) == value
    if kind is constants.RANGE:
        return value[0] <= ord(character) <= value[1]
    if kind is constants.CATEGORY:
        name = str(value).lower()
        is_not = "_not_" in name
        tests = {"digit": str.isdigit, "space": str.isspace, "word": lambda c: c.isalnum() or c == "_"}
        return next((test(character) for key, test in tests.items() if key in name), False) != is_not
    return False


def alphabet(tree):
    """Yield single characters of the pattern, and pairs of them, as repeated parts."""
    found = list(dict.fromkeys(characters(tree)))[:8]
    yield from (("", character) for character in found)
    yield from (("", first + second) for first, second in itertools.permutations(found[:5], 2))


def characters(tree):
    for operator, argument in tree:
        for inner in children(operator, argument):
            yield from characters(inner)
        if operator in (constants.LITERAL, constants.IN, constants.NOT_LITERAL, constants.ANY):
            yield from (text for text in sample_one(operator, argument) if text)


# ── measuring ───────────────────────────────────────────────────────────────────────────────────


class Overrun(Exception):
    """An attack took too long."""


def seconds(compiled, method, text, *, clock=time.perf_counter, calls=1):
    """Return the time of some calls; infinite if they had to be stopped after `MAX_SECONDS` of processor time."""

    def stop(number, frame):
        raise Overrun

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    begin = clock()
    try:
        for _ in range(calls):
            call(compiled, method, text)
        return clock() - begin
    except Overrun:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def call(compiled, method, text):
    """Call a method of a pattern to its end."""
    if method in ("sub", "subn"):
        getattr(compiled, method)("", text)
    elif method == "finditer":
        for _ in compiled.finditer(text):
            pass
    else:
        getattr(compiled, method)(text)


def growth(compiled, method, start, part, end):
    """
    Return the growth of the time from n to 4n parts.

    A bounded repeat such as `{0,300}` grows faster until n exceeds the bound, so n is `MIN_PARTS`.
    By the wall clock other processes can only slow a call down, so one quick run of 4n parts acquits a pattern.
    In doubt, processor time decides. It is measured over many calls, because on a virtual machine that shares its
    processors this clock can stand still for some milliseconds.
    """
    short, long = start + part * MIN_PARTS + end, start + part * (4 * MIN_PARTS) + end
    if (base := seconds(compiled, method, short)) == float("inf"):
        return base
    base = min(base, *(seconds(compiled, method, short) for _ in range(REPETITIONS - 1)))
    for _ in range(REPETITIONS):
        if (found := seconds(compiled, method, long) / base) <= MAX_RATIO:
            return found
    calls = 4 * max(1, round(BASE_SECONDS / 4 / base))
    for _ in range(DOUBTS):
        base = seconds(compiled, method, short, clock=time.process_time, calls=calls) / calls
        longer = seconds(compiled, method, long, clock=time.process_time, calls=calls // 4) / (calls // 4)
        found = min(found, longer / max(base, 1e-9))
        if found <= MAX_RATIO:
            break
    return found


def attack(pattern, flags, methods):
    """Return the worst (growth, method, start, part, end) of a pattern."""
    compiled = re.compile(pattern, flags)
    worst = (0.0, "", "", "", "")
    for method in sorted(methods & set(METHODS)) or ["search"]:
        for start, part in itertools.islice(hostile(pattern, flags), MAX_INPUTS):
            for end in slow_ends(compiled, method, start, part):
                found = growth(compiled, method, start, part, end)
                if found > worst[0]:
                    worst = (found, method, start, part, end)
                if found > MAX_RATIO:
                    return worst
    return worst


def slow_ends(compiled, method, start, part):
    """Yield the ends with which a short input takes noticeable time, one of those that take the same time."""
    probes = sorted(((probe(compiled, method, start + part * PROBE_PARTS + end), end) for end in ENDS), reverse=True)
    measured = float("inf")
    for taken, end in probes:
        if taken >= QUICK_SECONDS and (taken * SAME_RATIO <= measured or taken == float("inf")):
            measured = taken
            yield end


def probe(compiled, method, text):
    """Return the time of one call; a slow one is repeated, because another process may have been the reason."""
    taken = seconds(compiled, method, text)
    return taken if taken < QUICK_SECONDS else min(taken, seconds(compiled, method, text))


def digest(pattern, flags, methods):
    """Return a name of a pattern and of the methods called on it."""
    key = json.dumps([pattern, flags, sorted(methods)])
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def main(root, *, known):
    """Print one JSON line per pattern: place, pattern, growth, attack. The growth of known patterns is 0."""
    for (pattern, flags), (place, methods) in sorted(collect(root).items(), key=lambda item: item[1][0]):
        name = digest(pattern, flags, methods)
        found, method, start, part, end = (0.0, "", "", "", "") if name in known else attack(pattern, flags, methods)
        line = {"digest": name, "place": place, "pattern": pattern, "flags": flags, "growth": found, "method": method}
        sys.stdout.write(json.dumps({**line, "input": [start, part, end], "methods": sorted(methods)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), known=frozenset(Path(sys.argv[2]).read_text("utf-8").split()))
