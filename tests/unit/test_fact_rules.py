"""Score, life cycle, validation and narrative of facts."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from weft.config import MemoryOptions
from weft.context.narrative import build_narrative
from weft.errors import InputError
from weft.extract.names import predicate_key
from weft.facts import lifecycle, validation
from weft.facts.score import score_fact, score_factors
from weft.records import Fact

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
USUAL = MemoryOptions()


def make(value="dark mode", **fields):
    made = Fact(id="f1", subject="user", subject_name="user", predicate="prefers", value=value, created=NOW)
    return replace(made, **fields)


def count(text):
    return -(-len(text) // 4)


# ── score ───────────────────────────────────────────────────────────────────────────────────────


def test_a_score_is_the_product_of_its_factors():
    """0.8 sure, from a file, confirmed, three weeks since the last access, nine accesses."""
    fact = make(confidence=0.8, source="file", status="confirmed", last_accessed=NOW - 21 * DAY, access_count=9)
    found = score_fact(fact, hop=1, at=NOW, options=USUAL)

    assert found.score == pytest.approx(0.8 * 1.5 * 0.95**2 * 1.5 * 1.2) == pytest.approx(1.9494)
    assert found.factors == pytest.approx(
        {"confidence": 0.8, "source": 1.5, "decay": 0.95**2, "usage": 1.5, "status": 1.2}
    )


@pytest.mark.parametrize(
    "source, weight",
    [("user_edit", 2.0), ("file", 1.5), ("system", 1.2), ("conversation", 1.0), ("telepathy", 1.0)],
)
def test_sources_are_believed_by_their_weight(source, weight):
    """A source nobody knows counts as conversation."""
    assert score_factors(make(source=source), at=NOW, options=USUAL)["source"] == weight


@pytest.mark.parametrize("days, decay", [(-3, 1.0), (0, 1.0), (7, 1.0), (14, 0.95), (10.5, 0.95**0.5)])
def test_a_fact_fades_after_a_week_since_it_was_made_or_wanted(days, decay):
    """Never accessed: since creation. A time before that fades nothing."""
    assert score_factors(make(created=NOW - days * DAY), at=NOW, options=USUAL)["decay"] == pytest.approx(decay)
    accessed = make(created=NOW - 400 * DAY, last_accessed=NOW - days * DAY)
    assert score_factors(accessed, at=NOW, options=USUAL)["decay"] == pytest.approx(decay)


def test_every_factor_can_be_set():
    """Each factor has one setting; the others keep their defaults."""
    fact = make(confidence=0.8, source="file", status="confirmed", last_accessed=NOW - 21 * DAY, access_count=9)
    usual = score_factors(fact, at=NOW, options=USUAL)
    cases = {
        "source_weights": (("file=3",), "source", 3.0),
        "weekly_decay": (0.5, "decay", 0.25),
        "grace_weeks": (2.0, "decay", 0.95),
        "usage_weight": (2.0, "usage", 3.0),
        "confirmed_weight": (5.0, "status", 5.0),
    }
    for name, (value, factor, expected) in cases.items():
        found = score_factors(fact, at=NOW, options=MemoryOptions(**{name: value}))
        assert found == pytest.approx({**usual, factor: expected})


@pytest.mark.parametrize("source", ["user_edit", "file", "system", "conversation", "other"])
def test_every_source_has_its_weight(source):
    """`other` stands for all that have none of their own."""
    found = score_factors(make(source=source), at=NOW, options=MemoryOptions(source_weights=(f"{source}=7",)))

    assert found["source"] == 7.0
    assert (
        score_factors(make(source="telepathy"), at=NOW, options=MemoryOptions(source_weights=("other=0",)))["source"]
        == 0.0
    )


def test_the_source_that_is_kept_is_the_one_that_counts_more():
    """By the settings."""
    said, read = make(source="conversation"), make(source="file")

    assert lifecycle.strengthen(said, read, options=USUAL).source == "file"
    assert (
        lifecycle.strengthen(said, read, options=MemoryOptions(source_weights=("conversation=2",))).source
        == "conversation"
    )


# ── life ────────────────────────────────────────────────────────────────────────────────────────


def test_confirming_a_value_ends_the_old_one_where_the_new_begins():
    """Both stay; at no time do both hold."""
    old = make("light", status="confirmed", created=NOW - 9 * DAY)
    new = lifecycle.propose(make("dark", id="f2"), [old])
    change = lifecycle.confirm(new, named=[old], rivals=[old], now=NOW + DAY)
    by_id = {fact.id: fact for fact in change.facts}

    assert new.supersedes == "f1"
    assert by_id["f1"].status == "superseded" and by_id["f1"].valid_to == NOW + DAY
    assert by_id["f2"].status == "confirmed" and by_id["f2"].valid_from == NOW + DAY
    assert not lifecycle.overlap(by_id["f1"], by_id["f2"])
    assert lifecycle.holds(by_id["f1"], at=NOW) and not lifecycle.holds(by_id["f1"], at=NOW + DAY)
    assert [(e.fact_id, e.action, e.other) for e in change.events] == [
        ("f2", "confirmed", ""),
        ("f1", "superseded", "f2"),
    ]


def test_values_of_different_times_do_not_supersede_each_other():
    """A value that ended before the other began is no contradiction."""
    old = make("light", status="confirmed", created=NOW - 9 * DAY, valid_to=NOW - DAY)
    change = lifecycle.confirm(make("dark", id="f2"), rivals=[old], now=NOW)

    assert [fact.id for fact in change.facts] == ["f2"]


@pytest.mark.parametrize(
    "status, to", [("rejected", "confirmed"), ("superseded", "confirmed"), ("confirmed", "confirmed")]
)
def test_what_is_over_cannot_come_back(status, to):
    """Rejected and superseded facts have to be stated again."""
    with pytest.raises(InputError, match=status):
        lifecycle.check_transition(make(status=status), to)


def test_time_can_be_shortened_but_not_prolonged():
    """Prolonging could run into what came after."""
    fact = make(valid_to=NOW + 5 * DAY)

    assert lifecycle.expire(fact, at=NOW + DAY, now=NOW).facts[0].valid_to == NOW + DAY
    for at in (NOW + 6 * DAY, NOW - DAY):
        with pytest.raises(InputError):
            lifecycle.expire(fact, at=at, now=NOW)


def test_another_source_makes_a_fact_surer_and_the_same_one_does_not():
    """Two witnesses of 0.5 make 0.75; one that repeats itself is one."""
    fact = make(confidence=0.5, source="conversation")

    assert lifecycle.strengthen(fact, make(confidence=0.5, source="file"), options=USUAL).confidence == pytest.approx(
        0.75
    )
    assert lifecycle.strengthen(fact, make(confidence=0.5, source="file"), options=USUAL).source == "file"
    assert lifecycle.strengthen(fact, fact, options=USUAL) == fact


def test_a_denial_is_the_opposite_of_the_opposite():
    """`likes` and `not_likes` deny each other."""
    assert lifecycle.opposite("likes") == "not_likes"
    assert lifecycle.opposite("not_likes") == "likes"


@pytest.mark.parametrize(
    "typed, kept",
    [
        ("Works on", "works_on"),
        ("works_on", "works_on"),
        ("not-likes", "not_likes"),
        ("喜欢", "喜欢"),
        ("पसंद है", "पसंद_है"),
    ],
)
def test_a_predicate_is_kept_in_one_spelling(typed, kept):
    """However it is typed, in any script."""
    assert predicate_key(typed) == kept


# ── hygiene ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"value": " … "}, "empty"),
        ({"subject": ""}, "empty"),
        ({"value": "Thanks!"}, "boilerplate"),
        ({"value": "As an AI language model, I cannot"}, "boilerplate"),
        ({"value": "### 👤 USER CONTEXT - prefers: dark mode"}, "boilerplate"),
        ({"value": "x" * 2001}, "characters"),
        ({"value": "sk-proj-" + "a1B2" * 8}, "API key"),
        ({"value": "AKIA" + "ABCD1234" * 2}, "API key"),
        ({"value": "ghp_" + "a1B2" * 9}, "API key"),
        ({"value": "-----BEGIN RSA PRIVATE KEY-----"}, "private key"),
        ({"value": "eyJhbGciOiJI.eyJzdWIiOiIx.abc"}, "token"),
        ({"value": "postgres://admin:hunter22@host/db"}, "password"),
        ({"predicate": "wifi_password", "value": "tulip42"}, "password"),
        ({"value": "my card is 4111 1111 1111 1111"}, "card number"),
        ({"note": "password=tulip42"}, "password"),
        ({"value": "Zk9Qw3Lm8Xr2Tv6Bn1Hy5Pc7Df4Gs0Ja"}, "key"),
    ],
)
def test_what_is_not_kept_has_a_reason(fields, reason):
    """Each refusal says why."""
    assert reason in validation.refusal(make(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "4111 1111 1111 1112"},
        {"value": "2a015a8f2a015a8f2a015a8f2a015a8f2a015a8f"},
        {"value": "the token endpoint of the OAuth provider"},
        {"value": "src/weft/store/sqlite/sql/migrations/0001_documents.sql"},
        {"predicate": "password", "value": "redacted"},
        {"value": "暗色模式"},
        {"value": "\U0003134b"},  # no Unicode has it yet, but it can only become an ideograph
        {"value": "+49 30 1234567"},
        {"value": "no"},
    ],
)
def test_ordinary_facts_are_kept(fields):
    """Numbers that fail the check, commit ids, paths and words about secrets are no secrets."""
    assert validation.refusal(make(**fields)) == ""


@pytest.mark.parametrize(
    "said",
    [
        "my password is hunter2",
        "My Password is now hunter2.",
        "password: hunter2",
        "the wifi password is Blau3rHimmel!",
        'the password for the guest network is "Blau3rHimmel"',
        "the passphrase was p@ss-phrase",
        "passcode = 9981x",
        "my PIN is 4821",
        "the PIN of the bank card is 4821",
        "my pin code: 482193",
        "passwort: geheim123",
        "Das Passwort lautet Sommer2024",
        "mein Kennwort ist Sommer2024",
        "le mot de passe est Soleil99",
        "la contraseña es Luna2024",
        "пароль: qwerty12",
        "密码是abc12345",
        "WiFi密码：abc12345",
        "口令为abc12345",
        "パスワードはabc12345です",
    ],
)
def test_a_password_that_is_said_is_refused(said):
    """In a value, in a note, or where the subject is the password."""
    assert "password" in validation.refusal(make(said))
    assert "password" in validation.refusal(make(note=said))


def test_a_password_may_be_the_subject():
    """The three parts of a fact make one sentence."""
    fact = make("Blau3rHimmel!", subject="wifi password", subject_name="WiFi password", predicate="is")

    assert "password" in validation.refusal(fact)


@pytest.mark.parametrize(
    "said",
    [
        "the password is stored in the vault",
        "password reset is broken",
        "PIN entry is required",
        "the password policy is strict",
        "my password manager is Bitwarden",
        "my password manager is 1Password",
        "the password is 12 characters long",
        "the password is 1024 bits long",
        "the password is SHA-256 hashed",
        "the password is 2FA-protected",
        "the password for db01 is rotated every 90 days",
        "the PIN is 4 digits",
        "the PIN is 1000 times safer",
        "pin 4 is ground, and the pin is 1200 mm long",
        "Das Passwort ist im Tresor",
        "Passwort: siehe Tresor",
        "密码是保密的",
        "密码是8位以上",
        "the compass is 4821 years old",
        "shopping is 100% fun",
    ],
)
def test_words_about_passwords_are_kept(said):
    """Locations of passwords and password rules are not secrets."""
    assert validation.refusal(make(said)) == ""


def test_secrets_are_kept_where_the_settings_allow_it():
    """They are refused otherwise."""
    fact = make("4111111111111111")

    assert validation.refusal(fact) and not validation.refusal(fact, allow_secrets=True)


def test_a_conversation_that_repeats_what_was_recalled_adds_nothing():
    """The user may still say it again."""
    known = make("dark mode in the editor")
    echo = make("dark mode", source="conversation")

    assert "recalled" in validation.refusal(echo, recalled=[known])
    assert validation.refusal(replace(echo, source="user_edit"), recalled=[known]) == ""
    assert validation.refusal(make("light mode", source="conversation"), recalled=[known]) == ""


# ── narrative ───────────────────────────────────────────────────────────────────────────────────


def facts():
    project = make(
        "active development", id="f3", subject="jacq project", subject_name="JACQ Project", predicate="status"
    )
    return [
        score_fact(fact, hop=1, at=NOW, options=USUAL)
        for fact in (project, make(), make("tea\n### x", id="f2", predicate="drinks"))
    ]


def test_the_user_comes_first_and_each_fact_is_one_line():
    """A line break in a value cannot pass for a heading."""
    made = build_narrative(facts(), count=count, budget=500)

    assert made.text == (
        "### 👤 USER CONTEXT\n- prefers: dark mode\n- drinks: tea ### x\n\n"
        "### 💡 CONTEXT: JACQ Project\n- status: active development\n"
    )
    assert [source["id"] for source in made.sources] == ["f1", "f2", "f3"]
    assert made.omitted == 0


def test_the_budget_is_never_exceeded_and_what_is_left_out_is_counted():
    """Down to nothing at all."""
    for budget in range(60):
        made = build_narrative(facts(), count=count, budget=budget)

        assert count(made.text) <= budget
        assert made.text.count("\n- ") + made.omitted == 3
        assert ("[omitted" in made.text) == bool(made.omitted and made.text)
