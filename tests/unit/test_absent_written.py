"""Questions with quoted names, commands, options and code that occur nowhere."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.rank.gate import MIN_OK_CONFIDENCE
from weft.records import Document
from weft.search.question.read import read_question
from weft.testing import FakeEmbedder

PAGES = [
    Document(
        source="kiln.md", title="Kiln", text="The kiln fires each bowl when the damper opens. Run `kiln fire` first."
    ),
    Document(source="opts.md", title="Options of the kiln", text="The kiln fires each bowl faster with `--dry-run`."),
    Document(source="force.md", title="Force", text="The damper opens by force of the draught, never by hand."),
    Document(source="bell.md", title="Bell", text="Zoë Brontë heard the bell tower of the kiln. Use kiln.open_damper."),
    Document(source="cli.md", title="Parameters", text="def fire(kiln, keep_warm=False): the bowl stays warm"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with open_engine(tmp_path_factory.mktemp("shared") / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(PAGES)
        yield engine


@pytest.mark.parametrize("method", ["mix", "hybrid", "keyword", "vector"])
@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("When does `kiln frobnicate` run as the damper opens?", "“kiln frobnicate”"),
        ("Does --frobnicate fire each bowl when the damper opens?", "“--frobnicate”"),
        ("Does --force fire each bowl when the damper opens?", "“--force”"),
        ("Does `kiln.frobnicate` fire each bowl when the damper opens?", "“kiln.frobnicate”"),
        ("Does `fires_damper` fire each bowl when the damper opens?", "“fires_damper”"),
        ('Does the "tower of bowls" fire when the damper opens?', "“tower of bowls”"),
    ],
)
def test_a_marked_name_that_occurs_nowhere_is_low_confidence(engine, method, question, absent):
    """The other words fit well; the premise is wrong."""
    result = engine.query(question, method=method)

    assert result.status == "low_confidence"
    assert result.confidence < MIN_OK_CONFIDENCE
    assert any("no chunk contains" in note and absent in note for note in result.notes)


@pytest.mark.parametrize(
    "question",
    [
        "When does `kiln fire` run as the damper opens?",
        "When does `kiln fires` run as the damper opens?",
        "When does `kiln fire each bowl` run as the damper opens?",
        "Which bowl fires faster with --dry-run?",
        "Which bowl fires faster with --dry_run?",
        "Which bowl stays warm with --keep-warm?",
        "Does `kiln.open_damper()` open the damper of the kiln?",
        "Does `damper_opens` fire each bowl when the damper opens?",
        "Does `damperOpen` fire each bowl when the damper opens?",
        'Who heard the "Bell Towers" of the kiln?',
        'What did "Zoe Bronte" hear of the kiln tower?',
        "The kiln fires `x += 1` bowl when the damper opens",
    ],
)
def test_other_spellings_and_expressions_are_no_wrong_premise(engine, question):
    """Plurals, accents, case, arguments of a command, and an option that code takes as a parameter."""
    result = engine.query(question)

    assert result.evidence
    assert not any("no chunk contains" in note for note in result.notes)


def test_a_marked_name_in_the_graph_is_known(tmp_path):
    """No text spells it."""
    question = 'Does the "Tower Oven" fire each bowl when the damper opens?'
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(PAGES)
        assert engine.query(question).status == "low_confidence"

        engine.entities.alias("Kiln", "Tower Oven")

        assert not any("no chunk contains" in note for note in engine.query(question).notes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see `a.b`, `git push origin x` and --all=3", ["--all", "a.b", "git push"]),
        ("a `docs/a.md` path, `print(x)`, x--y, --, `` and `é`", []),
        ('one "word", a "short name", and "a message of more than five words"', ["short name"]),
        ("`" * 3000 + "-" * 3000, []),
    ],
)
def test_marked_names_of_a_question(text, found):
    """Options first, then code, then quoted names."""
    assert [name.text for name in read_question(text).written_names] == found
