"""
What `weft hook prompt` adds to 300 prompts: how often it is useless, and how often it is missing.

    WEFT_DATA=DIR python benchmarks/memory/injections.py [--keep FOLDER] [--sessions 300] [--list]

The memory has sessions of $WEFT_DATA/longmemeval-open as conversations. The prompts, a hundred of each:

| kind | prompt | useful passages |
| --- | --- | --- |
| `question` | a question of the set whose sessions are in the memory | of its gold sessions |
| `turn` | a turn of the user in a session of the memory, the running session | of sessions of the same question |
| `command` | a line of `short_commands.txt` | none |

`useless` is the share of prompts with an addition that has no useful passage; `missed` is the share of questions
without a useful passage. The label of turns is strict: a passage of another person about the same subject is useless.
Sessions that share turns with another one are left out as running sessions.
Questions of even lines are those on which the rules were chosen; odd lines are the report.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, kept_folder, make_parser

sys.path.insert(0, str(Path(__file__).parent))

from longmemeval import choose_sessions, iter_conversations, read_cases

from weft import Engine, open_engine
from weft.daemon.hooks import Recaller
from weft.daemon.spool import Spool
from weft.daemon.state import State

KINDS = ("question", "turn", "command")
PROMPTS = 100
BUDGET = 1500
COMMANDS = Path(__file__).with_name("short_commands.txt")
_TURN = re.compile(r"^user(?: \([^)\n]{1,40}\))?: ([^\n]{40,600})$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt with the sessions whose passages are useful."""

    kind: str
    text: str
    useful: frozenset[str]
    session: str = ""
    is_even: bool = False


def iter_prompts(folder: Path, sessions: set[str]) -> Iterator[Prompt]:
    """Yield the prompts of each kind."""
    cases = [case for case in read_cases(folder) if case.is_answerable and case.sessions <= sessions]
    together: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        for session in case.sessions:
            together[session] |= case.sessions
    for case in cases[:PROMPTS]:
        yield Prompt(kind="question", text=case.question, useful=case.sessions, is_even=case.is_even)
    yield from _iter_turns(folder, sessions, together)
    for number, line in enumerate(COMMANDS.read_text("utf-8").splitlines()[:PROMPTS]):
        yield Prompt(kind="command", text=line, useful=frozenset(), is_even=number % 2 == 0)


def _iter_turns(folder: Path, sessions: set[str], together: dict[str, set[str]]) -> Iterator[Prompt]:
    """Yield a turn of each session. Some sessions of the set share turns; a turn that occurs twice is left out."""
    turns = {d.source: _TURN.findall(d.text) for d in iter_conversations(folder) if d.source in sessions}
    counts = Counter(turn for found in turns.values() for turn in set(found))
    number = 0
    for source, found in turns.items():
        single = [turn for turn in found if counts[turn] == 1]
        if single and len(single) == len(found) and number < PROMPTS:
            number += 1
            useful = frozenset(together[source] - {source})
            yield Prompt(
                kind="turn", text=single[len(single) // 2], useful=useful, session=source, is_even=number % 2 == 0
            )


def fill(engine: Engine, folder: Path, *, limit: int) -> set[str]:
    """Index sessions, those of questions first; return their ids."""
    wanted = choose_sessions(read_cases(folder), limit=limit)
    known = {document.source for document in engine.documents()}
    engine.add(d for d in iter_conversations(folder) if d.source in wanted and d.source not in known)
    return set(wanted)


def sources_of(text: str, sessions: set[str]) -> set[str]:
    """Return the sessions that a block cites."""
    return {id for id in sessions if f", {id}:" in text}


def main() -> int:
    """Print the shares by kind of prompt."""
    parser = make_parser(__doc__, keep=True)
    parser.add_argument("--sessions", type=int, default=300, help="Number of sessions (default: 300).")
    parser.add_argument("--list", action="store_true", help="Print useless and missed prompts.")
    arguments = parser.parse_args()
    data = data_folder() / "longmemeval-open"
    name = f"conversation-{arguments.sessions}.db"
    with (
        kept_folder(arguments.keep) as kept,
        tempfile.TemporaryDirectory() as temporary,
        open_engine(str(kept / name)) as engine,
    ):
        sessions = fill(engine, data, limit=arguments.sessions)
        recaller = Recaller(engine, State(Spool("benchmark", base=temporary)))
        counts: Counter[tuple[str, str, str]] = Counter()
        for prompt in iter_prompts(data, sessions):
            given = {"prompt": prompt.text, "session_id": prompt.session}
            shown = recaller.answer("prompt", given, budget=BUDGET, scope="all")
            recaller.count_given("prompt", given, shown)
            text = shown.text
            found = sources_of(text, sessions)
            half = "even" if prompt.is_even else "odd"
            outcome = ["prompts", *(["added"] if text else [])]
            outcome += ["useless"] if text and not found & prompt.useful else []
            outcome += ["missed"] if prompt.kind == "question" and not found & prompt.useful else []
            for name in outcome:
                counts[half, prompt.kind, name] += 1
            if arguments.list and {"useless", "missed"} & set(outcome):
                print(half, *outcome, json.dumps(prompt.text[:150], ensure_ascii=False), sep="\t")
    print("| half | prompts | number | added | useless | missed |\n| --- | --- | --- | --- | --- | --- |")
    for half in ("even", "odd"):
        for kind in KINDS:
            row = [counts[half, kind, name] for name in ("prompts", "added", "useless", "missed")]
            print(f"| {half} | {kind} | {' | '.join(map(str, row))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
