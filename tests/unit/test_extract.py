"""Candidates of the rule extractor."""

import pytest
from extracting import aliases, extract, extract_all, find, names, stated_relations
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.extract.candidates import MAX_WEAK_CANDIDATES
from weft.extract.code.code_keys import code_key
from weft.extract.names import name_key
from weft.extract.rules import RuleExtractor
from weft.models.base import Extractor
from weft.records import STRONG_KINDS, Document

OTHER = "Some words come first here。"
"""A first sentence that says nothing of the title."""
FORMS = ["text", "markdown", "code", "table"]


# ── titles ──────────────────────────────────────────────────────────────────────────────────────


def test_it_is_an_extractor():
    """The write path asks for the protocol and records the name."""
    extractor: Extractor = RuleExtractor()
    assert extractor.name == "rules-22"
    assert extractor.extract(Document(source="x", title="Ledger", text=""), []) == []


def test_every_chunk_is_about_the_title():
    """The first one also says what it is."""
    first, second = extract_all("Counts **requests** per [client](c.md) and says no.", "More of it.", title="Limiter")
    assert find(first, "limiter", "title").description == "Counts requests per client and says no."
    assert find(first, "limiter", "title").about
    assert find(second, "limiter", "title").about
    assert find(second, "limiter", "title").description == ""


@pytest.mark.parametrize("title", ["", "—", "1234", "x", "v2.3.1", " ".join(["word"] * 13), "w" * 81])
def test_a_title_that_names_nothing_is_left_out(title):
    """No relation of it is stated either."""
    extraction = extract("See [[Ledger]] for more about this.", title=title, metadata={"owner": "Payments Team"})
    assert names(extraction, "title") == []
    assert extraction.stated_relations == ()
    assert names(extraction, "link", "metadata") == ["Payments Team", "Ledger"]


def test_a_file_name_is_a_title():
    """Code and tables have no better one."""
    assert names(extract("x = 1", title="idempotency.py", form="code"), "title") == ["idempotency.py"]


@pytest.mark.parametrize("title", ["INC-2090.txt", "INC-2090 Seat map crash"])
def test_the_id_that_opens_a_title_is_an_alias(title):
    """Other documents call it by its id alone."""
    assert ("INC-2090", name_key(title)) in aliases(extract("It broke at night.", title=title, form="text"))


def test_the_type_comes_from_metadata_first():
    """Metadata takes precedence over the text."""
    text = "Ledger is a book of accounts."
    assert find(extract(text, title="Ledger", metadata={"type": "Service"}), "ledger", "title").type == "service"
    assert find(extract(text, title="Ledger"), "ledger", "title").type == "book"


@pytest.mark.parametrize(
    "title, text, type",
    [
        (
            "Metropolis (1927 film)",
            "Metropolis is a 1927 German silent science-fiction film made by Fritz Lang.",
            "film",
        ),
        ("Li Bai", "Li Bai( 701 – 762) was a Tang Dynasty Chinese poet.", "person"),
        ("Ada", "Ada King Lovelace, an English mathematician, lives in London.", "person"),
        ("Orson Welles", "Orson Welles was an American film and stage director.", "person"),
        ("Henry I of France", "Henry I (1008 – 1060) was King of the Franks for three decades.", "person"),
        ("Otto", "Otto of Greece was the second son of King Ludwig of Bavaria.", "person"),
        ("El Cielo", '" El Cielo" is a song by X Y.', "song"),
        ("Quo Vadis?", "Quo Vadis? is a 1951 epic film.", "film"),
        ("Oak Creek High", "Oak Creek High School is one of the largest schools in Denver.", "school"),
        ("图检索", "图检索是一种基于图的检索方法。", "方法"),
        ("Nonsense", "Nobody knows what it does.", ""),
        ("Diigo", "Diigo is one of the oldest and most popular annotation tools.", ""),
    ],
)
def test_the_first_sentence_tells_the_type(title, text, type):
    """Its head noun, if it is one of the known types; every occupation and rank is a person."""
    assert find(extract(text, title=title, form="text"), name_key(title), "title").type == type


# ── other names ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("metadata", [{"aliases": ["auth", "Auth-Svc"]}, {"Also Known As": "auth, Auth-Svc"}])
def test_aliases_in_the_front_matter(metadata):
    """A list, or a string with commas; each stands for the title."""
    extraction = extract("Checks tokens.", title="Auth Service", metadata=metadata)
    assert aliases(extraction) == [("auth", "auth service"), ("Auth-Svc", "auth service")]
    assert find(extraction, "auth", "metadata").reason == "alias in the front matter"
    assert find(extraction, "auth", "metadata").about


@pytest.mark.parametrize(
    "text, pair",
    [
        ("Run the Session Store Failover (SSF) at night.", ("SSF", "session store failover")),
        ("We use natural language processing (NLP).", ("NLP", "natural language processing")),
        ("The Bank of the West (BW) is old.", ("BW", "bank of the west")),
        ("Owned by PDC( Producers Distributing Corporation).", ("PDC", "producers distributing corporation")),
        ("见认证服务（Auth Service）。", ("Auth Service", "认证服务")),
        ("核验令牌，由身份团队（Identity Team）维护。", ("Identity Team", "身份团队")),
        ("用户模型（User Model）里有账户。", ("User Model", "用户模型")),
        ("自然语言处理（NLP）很难。", ("NLP", "自然语言处理")),
        ("We call it Graph Retrieval (图检索).", ("图检索", "graph retrieval")),
    ],
)
def test_abbreviations_and_translations_in_parentheses(text, pair):
    """The initials must fit, or the scripts must differ."""
    assert pair in aliases(extract(text, title="Notes"))


@pytest.mark.parametrize(
    "text",
    [
        "The Session Store (ABC) is new.",
        "It closed (done, v4.1.2).",
        "Sessions (see Session Store) expire.",
        "时间线（UTC）如下。",
        "方案已选定（已完成）。",
        "大小为二十（GB）。",
        "The Ledger (SQL) grows.",
    ],
)
def test_other_parentheses_are_no_aliases(text):
    """A remark, a unit, initials that do not fit."""
    assert aliases(extract(text, title="Notes")) == []


def test_a_name_the_document_links_to_keeps_its_own():
    """The translation before the parentheses becomes the alias then, not the name everyone links to."""
    text = "认证服务（Auth Service）负责核验，见 [[Auth Service]]。"
    assert aliases(extract(text, title="架构", metadata={"links": ["Auth Service"]})) == [("认证服务", "auth service")]


@pytest.mark.parametrize(
    "title, text, alias",
    [
        ("Cixi", "Cixi (also known as Yehe Nara) was the chief regent of China.", "Yehe Nara"),
        ("Yojimbo", 'Yojimbo( also known as" The Bodyguard" and" Guard") is a 1961 film.', "The Bodyguard"),
        ("Leon", "Leon, also known as Leon the Professional, is a 1994 film.", "Leon the Professional"),
        ("George Eliot", "George Eliot (born Mary Evans) is an English novelist.", "Mary Evans"),
        ("Alan Turing", "Alan Mathison Turing( born June 23, 1912) is an English logician.", "Alan Mathison Turing"),
        ("Louis Braille", "Louis Simon Braille( 1809 – 1852) was a French teacher.", "Louis Simon Braille"),
        ("Mark Twain", "Samuel Clemens( born 1835), better known as Mark Twain, is a writer.", "Samuel Clemens"),
        ("会话存储", "会话存储，又称会话库，是一种持久化服务。", "会话库"),
    ],
)  # fmt: skip
def test_the_first_sentence_gives_other_names(title, text, alias):
    """`also known as`, `born`, a longer name, `又称`."""
    assert (alias, name_key(title)) in aliases(extract(text, title=title, form="text"))


@pytest.mark.parametrize(
    "text",
    [
        "Yesugei was a chief of the Mongols and the father of Temujin, later known as Genghis Khan.",
        "Ida of Cloppenburg was a daughter of Matilda of Cuyk (also known as Matilda of Rietberg).",
        "Harbour Lights is a band of Plan A Entertainment, formerly Cube Entertainment.",
    ],
)
def test_names_behind_the_verb_may_be_those_of_others(text):
    """They are of what they follow."""
    title = text.split(" was ")[0].split(" is ")[0]

    assert not {"Genghis Khan", "Matilda of Rietberg", "Cube Entertainment"} & {
        n for n, _ in aliases(extract(text, title=title, form="text"))
    }


def test_behind_the_verb_the_subject_is_named_too():
    """`better known as` says what a thing is called, whatever stands before it."""
    text = "Calvin Broadus is a rapper from Long Beach, better known as Snoop Dogg."

    assert ("Snoop Dogg", "calvin broadus") in aliases(extract(text, title="Calvin Broadus", form="text"))


def test_a_surname_alone_is_no_alias():
    """Too many people share it: it is a variant, which makes no entity and joins only where it is clear."""
    extraction = extract("Werner Herzog is a German director. Herzog was born in Munich.", title="Werner Herzog")
    kinds = {item.name: item.kind for item in extraction.candidates if item.alias_of}
    assert kinds == {"W. Herzog": "variant", "Herzog": "variant"}
    assert "herzog" not in {n.key for n in extraction.candidates if n.kind in STRONG_KINDS}


# ── links, fields, rows ─────────────────────────────────────────────────────────────────────────


def test_wikilinks_name_their_targets():
    """Labels and parts are left out, and so is code."""
    text = (
        "See [[Ledger]], [[Login Flow|the pages]], [[User Model#Fields]] and `[[Not This]]`.\n\n```\n[[Nor This]]\n```"
    )
    assert names(extract(text), "link") == ["Ledger", "Login Flow", "User Model"]


def test_fields_that_name_things():
    """Tags, dates, versions, numbers and sentences are no names."""
    metadata = {
        "owner": "Identity Team", "depends_on": ["OAuth Provider", "redis", "none"], "part_of": "认证服务",
        "authors": "Ada Lovelace and Alan Turing", "related": "[[INC-2041]]", "team": 7, "service": None,
        "tags": ["Alpha"], "status": "Live", "version": "v4.2.0", "date": "2025-01-02", "affects": "2025-01-02",
        "uses": "A long sentence that says how it is used by others", "summary": "Good Thing",
    }  # fmt: skip
    extraction = extract("Checks tokens.", title="Auth Service", metadata=metadata)
    assert names(extraction, "metadata") == [
        "Identity Team", "OAuth Provider", "redis", "认证服务", "Ada Lovelace", "Alan Turing", "INC-2041",
    ]  # fmt: skip


def test_rows_of_a_table_are_entities():
    """The first column names them, the others say what they depend on; a cell may hold several values."""
    row = "name: Auth Service; owner: Identity Team; tier: 1; depends_on: Provider; User Model; summary: Checks tokens"
    columns = ["name", "owner", "tier", "depends_on", "summary"]
    extraction = extract(row, title="services.csv", form="table", metadata={"columns": columns})
    assert names(extraction, "field") == ["Auth Service"]
    assert find(extraction, "auth service", "field").description == "Checks tokens"
    assert stated_relations(extraction) == [
        ("auth service", "owned_by", "identity team"),
        ("auth service", "depends_on", "provider"),
        ("auth service", "depends_on", "user model"),
    ]


def test_rows_of_a_table_without_known_columns_are_read_too():
    """A table given as text has no metadata."""
    assert stated_relations(extract("name: Ledger; owner: Payments Team", title="t.csv", form="table")) == [
        ("ledger", "owned_by", "payments team")
    ]


def test_records_in_json_are_entities():
    """Each is called by its key, and its fields belong to it, not to the document."""
    text = (
        "owner: Platform Team\ntype: service\nsummary: Switches read by services.\n"
        "flags[0].key: login_prompt\nflags[0].owner: Identity Team\nflags[0].rollout: 20"
    )
    extraction = extract(text, title="Feature Flags", form="text")
    assert names(extraction, "field") == ["login_prompt"]
    assert stated_relations(extraction) == [
        ("feature flag", "owned_by", "platform team"),
        ("login prompt", "owned_by", "identity team"),
    ]
    assert find(extraction, "feature flag", "title").type == "service"
    assert find(extraction, "feature flag", "title").description == "Switches read by services."


def test_a_note_in_prose_does_not_describe_the_document():
    """Only `summary` and `description` do; a named record may use more fields."""
    text = "Stores all the sessions.\n\nNote: never restart it by hand."
    assert find(extract(text), "session store", "title").description == "Stores all the sessions."


def test_settings_in_fenced_code_are_no_records():
    """`key: client_id` in YAML names a setting, not an entity."""
    assert names(extract("Set it so.\n\n```yaml\nlimiter.key: client_id\nlimiter.owner: Nobody\n```"), "field") == []


# ── definitions ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text, name",
    [
        ("Graph Retrieval is a way of finding passages.", "Graph Retrieval"),
        ("Redis is a data store.", "Redis"),
        ("Feature Flags are switches read by services.", "Feature Flags"),
        ("Spreading Activation refers to a walk over a graph.", "Spreading Activation"),
        ("Lake Merritt, a large lagoon, lies in Oakland.", "Lake Merritt"),
        ("`gen-itgc` is a tool for auditors.", "gen-itgc"),
        ("图检索是一种检索方法。", "图检索"),
        ("登录流程（Login Flow）是用户看得见的页面。", "登录流程"),
        ("“向量索引”是一种数据结构。", "向量索引"),
        ("gen-itgc是平台团队的审计工具。", "gen-itgc"),
    ],
)
def test_definitions_make_entities(text, name):
    """`X is a …` at the start of a sentence, in English and Chinese."""
    extraction = extract(f"{OTHER} {text}", title="Notes")
    assert names(extraction, "definition") == [name]
    assert find(extraction, name_key(name), "definition").description == text.replace("`", "")


@pytest.mark.parametrize(
    "text",
    [
        "However is a word.",
        "There is a bug.",
        "This is a test.",
        "It is a service.",
        "He was a king.",
        "March is a month.",
        "Monday is the day.",
        "I am a person.",
        "Seats are held for ten minutes.",
        "Prices are in minor units.",
        "Session Tokens are cached for an hour.",
        "Maria was the daughter of Otto of Bavaria.",
        "A drop is the minute when it opens.",
        "Time is money.",
        '"Pass through, never polish" is the rule.',
        "Overview is a heading.",
        "另一个坑是时区。",
        "结果是未知。",
        "这是一个坑。",
        "它是一种工具。",
    ],
)
def test_other_sentences_define_nothing(text):
    """Pronouns, adverbs, months, plain statements about common words."""
    assert names(extract(f"{OTHER} {text}", title="Notes"), "definition") == []


def test_a_list_of_bold_terms_is_a_glossary():
    """Three make a glossary; two may be arguments."""
    entries = [
        "- **Hold**: seats set aside.\n",
        "- **Drop**: the minute of sale.\n",
        "- **Order token**: proof of it.\n",
    ]
    assert names(extract("".join(entries), title="Glossary"), "definition") == ["Hold", "Drop", "Order token"]
    assert names(extract("".join(entries[:2]), title="Glossary"), "definition") == []


# ── limits ──────────────────────────────────────────────────────────────────────────────────────


def test_a_name_is_reported_once_per_chunk_and_kind():
    """Counting mentions is the store's work."""
    extraction = extract("We met Bill Monroe. Then Bill Monroe left. See [[Bill Monroe]] and [[Bill Monroe]].")
    assert [(n.name, n.kind) for n in extraction.candidates[1:]] == [
        ("Bill Monroe", "phrase"),
        ("Bill Monroe", "link"),
    ]


def test_weak_names_are_capped():
    """The first ones stay, strong ones are all kept, and stated relations without both names go."""
    text = " ".join(f"We saw Foo{i} Bar{i}." for i in range(100)) + " The Retry Queue uses Kafka. See [[Ledger]]."
    extraction = extract(text)
    assert len(names(extraction, "phrase")) == MAX_WEAK_CANDIDATES
    assert names(extraction, "link") == ["Ledger"]
    assert stated_relations(extraction) == [("session store", "links_to", "ledger")]


def test_long_names_are_dropped():
    """A sentence is not a name."""
    assert names(extract(f"See [[{'Long Name ' * 9}]] and “{'x' * 90}”."), "link", "quoted") == []


@pytest.mark.parametrize("form", FORMS)
def test_a_large_chunk_is_read(form):
    """Fifty thousand characters without a place to cut; a pattern that backtracks would never end."""
    for piece in ("word ", "[[", "依赖", "A. ", "Xa uses Yb and "):
        extraction = extract(piece * (50_000 // len(piece)), form=form)
        assert len(extraction.candidates) < 1000


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("aAbB XY12.,:;()[]|#*`_-\"'“”（）是由依赖的中文。\n\t=<>!?&s"), max_size=300),
    st.sampled_from(FORMS),
    st.text(max_size=30),
)
def test_no_text_is_refused(text, form, title):
    """Any input gives valid keys and stated relations between proposed names, without an exception."""
    extraction = extract(text, form=form, title=title, heading=(text[:40],), metadata={"owner": text[:20], "x": [text]})
    keys = {n.key for n in extraction.candidates}
    keys_of = {n.key: (name_key(n.name), code_key(n.name)) for n in extraction.candidates}
    assert all(key in own for key, own in keys_of.items())
    assert all(len(n.name) <= 80 for n in extraction.candidates)
    assert len({(n.key, n.kind) for n in extraction.candidates}) == len(extraction.candidates)
    assert all(c.source in keys and c.target in keys and c.source != c.target for c in extraction.stated_relations)
    assert all(n.alias_of != n.key for n in extraction.candidates)


@settings(max_examples=settings.default.max_examples, deadline=None)
@given(st.text(max_size=400), st.sampled_from(FORMS))
def test_the_same_text_gives_the_same_extraction(text, form):
    """Two runs agree, in order too."""
    assert extract(text, form=form) == extract(text, form=form)
