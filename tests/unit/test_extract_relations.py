"""Stated relations of the rule extractor."""

import pytest
from extracting import extract, extract_all, names, stated_relations

from weft.extract.relation_types import INVERSE
from weft.extract.statements import Statement, canonical, in_words, inverse, spellings
from weft.records import STRONG_KINDS

OTHER = "Some words come first here."
"""A first sentence that says nothing of the title."""


@pytest.mark.parametrize(
    "field, value, stated",
    [
        ("depends_on", ["OAuth Provider"], ("auth", "depends_on", "oauth provider")),
        ("Depends-On", "OAuth Provider", ("auth", "depends_on", "oauth provider")),
        ("owner", "Identity Team", ("auth", "owned_by", "identity team")),
        ("authors", ["Ada Lovelace"], ("auth", "written_by", "ada lovelace")),
        ("parent", "Platform", ("auth", "part_of", "platform")),
        ("affects", "Ledger", ("auth", "affects", "ledger")),
        ("replaces", "Old Auth", ("auth", "supersedes", "old auth")),
        ("owns", ["Ledger"], ("ledger", "owned_by", "auth")),
        ("used_by", ["Ledger"], ("ledger", "uses", "auth")),
        ("team", "Identity Team", ("auth", "has_team", "identity team")),
    ],
)
def test_typed_fields_stated_relation_most(field, value, stated):
    """They weigh ten, and each relation has one direction."""
    extraction = extract("Checks tokens for all.", title="Auth", metadata={field: value})
    assert stated_relations(extraction, least=10) == [stated]


def test_a_field_is_told_in_words():
    """The description can be shown to a reader."""
    metadata = {"depends_on": "OAuth Provider", "owner": "Identity Team"}
    extraction = extract("Checks tokens.", title="Auth Service", metadata=metadata)
    assert [stated.description for stated in extraction.stated_relations] == [
        "Auth Service depends on OAuth Provider.",
        "Auth Service is owned by Identity Team.",
    ]


def test_metadata_is_stated_once():
    """On the first chunk, not on every one."""
    first, second = extract_all("One.", "Two.", metadata={"owner": "Platform Team"})
    assert len(first.stated_relations) == 1
    assert second.stated_relations == ()


def test_a_link_stated_relations_with_its_sentence():
    """Markup is removed from the description, which is cut at 300 characters."""
    extraction = extract(f"First. The **reason** is in [[INC-2041|the review]]. So {'long ' * 100} [[Ledger]].")
    assert stated_relations(extraction) == [
        ("session store", "links_to", "inc 2041"),
        ("session store", "links_to", "ledger"),
    ]
    assert [stated.weight for stated in extraction.stated_relations] == [8, 8]
    assert extraction.stated_relations[0].description == "The reason is in the review."
    assert len(extraction.stated_relations[1].description) <= 300


@pytest.mark.parametrize(
    "text, stated",
    [
        ("Login Flow depends on Auth Service.", ("login flow", "depends_on", "auth service")),
        ("Login Flow relies on the Auth Service.", ("login flow", "depends_on", "auth service")),
        ("Login Flow uses the [[Session Cache]].", ("login flow", "uses", "session cache")),
        ("Login Flow also uses `lw_sid` now.", ("login flow", "uses", "lw sid")),
        ("Login Flow is part of Auth Service.", ("login flow", "part_of", "auth service")),
        ("Login Flow is owned by the Identity Team.", ("login flow", "owned_by", "identity team")),
        ("Login Flow belongs to the Identity Team.", ("login flow", "owned_by", "identity team")),
        ("Blue Widget implements Widget Protocol.", ("blue widget", "implements", "widget protocol")),
        ("Login Flow calls Auth Service.", ("login flow", "calls", "auth service")),
        ("The Retry Queue writes to Kafka.", ("retry queue", "writes_to", "kafka")),
        ("The Retry Queue reads from Kafka.", ("retry queue", "reads_from", "kafka")),
        ("ADR-0020 supersedes ADR-0012.", ("adr 0020", "supersedes", "adr 0012")),
        ("Blue Widget replaces Red Widget.", ("blue widget", "supersedes", "red widget")),
        ("INC-2077 was caused by Redis.", ("inc 2077", "caused_by", "redis")),
        ("A new [[Job Store]], owned by the [[Ops Team]], won.", ("job store", "owned_by", "ops team")),
        ("Paris is the capital of France.", ("paris", "capital_of", "france")),
        ("Marie Curie was born in Warsaw.", ("marie curie", "born_in", "warsaw")),
        ("Emmy Noether( born 23 March 1882 in Erlangen) is a scholar.", ("emmy noether", "born_in", "erlangen")),
        ("Marie Curie was married to Pierre Curie.", ("marie curie", "married_to", "pierre curie")),
        ("Eleanor Plantagenet was the daughter of King Henry II.", ("eleanor plantagenet", "child_of", "henry ii")),
        ("Sophie Depouilly is the mother of Pierre Curie.", ("pierre curie", "child_of", "sophie depouilly")),
        ("Caroline Herschel is a sister of William Herschel.", ("caroline herschel", "sibling_of", "william herschel")),
        ("Bertrand Russell is a member of the House of Lords.", ("bertrand russell", "member_of", "house of lord")),
        ("Ford Motor is an American company founded by Henry Ford.", ("ford motor", "founded_by", "henry ford")),
        ("The Old Hall is a museum located in Senegal.", ("old hall", "located_in", "senegal")),
        ("认证服务依赖会话存储。", ("认证服务", "depends_on", "会话存储")),
        ("支付网关使用 Redis。", ("支付网关", "uses", "redis")),
        ("登录流程属于认证服务。", ("登录流程", "part_of", "认证服务")),
        ("结账服务调用支付网关。", ("结账服务", "calls", "支付网关")),
        ("账本由支付团队负责。", ("账本", "owned_by", "支付团队")),
        ("限流器（Rate Limiter）按客户端计数，归平台团队（Platform Team）所有。", ("限流器", "owned_by", "平台团队")),
    ],
)  # fmt: skip
def test_verbs_between_names_stated_relation(text, stated):
    """They weigh seven, and both names are proposed."""
    extraction = extract(f"{OTHER} {text}", title="Notes")
    found = [(c.source, c.type, c.target) for c in extraction.stated_relations if c.weight == 7]
    assert stated in found
    assert {stated[0], stated[2]} <= {n.key for n in extraction.candidates}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Login Flow uses Redis, Kafka and the Event Bus.", ["redis", "kafka", "event bus"]),
        ("认证服务依赖会话存储和用户模型。", ["会话存储", "用户模型"]),
    ],
)
def test_a_verb_may_have_several_objects(text, expected):
    """A comma and `and` go on with the list."""
    assert [target for _, _, target in stated_relations(extract(f"{OTHER} {text}", title="Notes"))] == expected


def test_two_roles_in_one_phrase_are_two_relations():
    """`written and directed by` says both of the film."""
    text = "Closet Land is a 1991 independent film, written and directed by Radha Bharadwaj and starring Alan Rickman."
    assert stated_relations(extract(text, title="Closet Land", form="text")) == [
        ("closet land", "written_by", "radha bharadwaj"),
        ("closet land", "directed_by", "radha bharadwaj"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It depends on [[Auth Service]].",
        "This service depends on [[Auth Service]].",
        "The service depends on [[Auth Service]].",
        "Depends on weather. Session Store depends on [[Auth Service]].",
        "它依赖 [[Auth Service]]。",
    ],
)
def test_a_pronoun_stands_for_the_title(text):
    """At the start of a sentence of its own document."""
    extraction = extract(text, metadata={"type": "service"})
    assert ("session store", "depends_on", "auth service") in stated_relations(extraction)


def test_a_pronoun_may_have_lost_the_title():
    """After a sentence about someone else, `she` is someone else."""
    extraction = extract("Session Store is new. Marie Curie was a chemist. She was born in Warsaw.")
    assert stated_relations(extraction) == []


@pytest.mark.parametrize(
    "text",
    ["Owned by the [[Platform Team]].", "Owner: [[Platform Team]].", "Owned by the Platform Team and nobody else."],
)
def test_a_sentence_without_subject_is_about_the_title(text):
    """Writers leave out what the page is about."""
    assert ("session store", "owned_by", "platform team") in stated_relations(extract(f"{OTHER} {text}"))


@pytest.mark.parametrize(
    "text",
    [
        "Login Flow does not use Redis.",
        "Login Flow no longer depends on Redis.",
        "Nobody uses Redis.",
        "Login Flow uses caching.",
        "Login Flow depends on the weather.",
        "Blue Widget is a film based on the novel written by Jane Austen.",
        "Jane Austen is a poet, and her brother was born in Rome.",
        "Jane Austen is a niece of George Austen, brother of Henry Austen.",
        "Jane Austen lives in the northern part of Rome.",
        "Born in Cork, Hennessy came late.",
        "不要使用重试。",
        "召回率下降则禁止发布，由我们负责。",
    ],
)
def test_doubtful_sentences_stated_relation_nothing_about_their_names(text):
    """Negation, common nouns, other clauses: better none than a wrong one."""
    extraction = extract(f"{OTHER} {text}", title="Notes")
    wrong = {"redis", "caching", "weather", "ann smith", "rome", "max hall", "hennessy", "重试", "我们"}
    assert [c for c in stated_relations(extraction) if {c[0], c[2]} & wrong and c[0] != "note"] == []
    assert ("note", "born_in", "hennessy") not in stated_relations(extraction)


def test_a_heading_that_is_a_linked_name_is_a_section_of_the_title():
    """It weighs six, and does not make the thing a part of the topic; an ordinary heading stated relations nothing."""
    extraction = extract("## Sharp edges\n\nText.", heading=("[Retry Queue](retry.md)",))
    assert stated_relations(extraction) == [("retry queue", "section_of", "session store")]
    assert extraction.stated_relations[0].weight == 6
    assert stated_relations(extract("Text.", heading=("What We Do", "Known Issues", "Numbers"))) == []


def test_nothing_is_stated_of_itself():
    """A page that links to itself, or owns itself, is no relation."""
    extraction = extract("Session Store uses the [[Session Store]].", metadata={"owner": "Session Stores"})
    assert stated_relations(extraction) == []


def test_of_equal_stated_relations_the_heaviest_stays():
    """The field outweighs the sentence that repeats it."""
    extraction = extract("Session Store is owned by Platform Team.", metadata={"owner": "Platform Team"})
    assert [(stated.type, stated.weight) for stated in extraction.stated_relations] == [("owned_by", 10)]


def test_targets_of_heavy_stated_relations_are_strong():
    """A stated relation of weight eight or more must not wait for other documents."""
    metadata = {"depends_on": ["Ledger"], "owner": "Ops Team"}
    extraction = extract("See [[INC-1]]. Owner: Grace Hopper\n\nUses: Redis", metadata=metadata)
    strong = {n.key for n in extraction.candidates if n.kind in STRONG_KINDS}
    assert {target for _, _, target in stated_relations(extraction, least=8)} <= strong


def test_a_name_in_a_stated_relation_is_proposed():
    """Terms of a Chinese sentence are nowhere else put forward."""
    extraction = extract("认证服务依赖会话存储。", title="架构")
    assert names(extraction, "term") == ["认证服务", "会话存储"]


# ── what relations are called ───────────────────────────────────────────────────────────────────


def test_the_inverse_of_an_inverse_is_the_relation():
    """The table is read from both ends."""
    assert all(INVERSE[INVERSE[type]] == type for type in INVERSE)
    assert inverse("depends_on") == "depended_on_by"
    assert inverse("owns") == "owned_by"
    assert inverse("related_to") == "related_to"
    assert inverse("co_occurs_with") == "co_occurs_with"


@pytest.mark.parametrize("type, other", [("has_team", "team_of"), ("team_of", "has_team"), ("blocks", "blocks_of")])
def test_an_unknown_relation_has_an_inverse_too(type, other):
    """Extractors may bring their own."""
    assert inverse(type) == other


@pytest.mark.parametrize("type", ["depends_on", "used_by", "related_to", "has_team", "team_of", "leads", "sponsors_of"])
def test_a_relation_is_found_by_the_name_from_its_other_end(type):
    """`inverse` of an inverse name returns the original name."""
    assert type in spellings(inverse(type))
    assert spellings(type)[0] == type


def test_relations_are_kept_in_one_direction():
    """`A owns B` and `B is owned by A` are one relation."""
    assert canonical(Statement("A", "B", "owns")) == Statement("B", "A", "owned_by")
    assert canonical(Statement("A", "B", "owned_by")) == Statement("A", "B", "owned_by")
    assert canonical(Statement("A", "B", "married_to")) == Statement("A", "B", "married_to")
    assert canonical(Statement("A", "B", "blocks")) == Statement("A", "B", "blocks")


@pytest.mark.parametrize(
    "type, text", [("uses", "A uses B."), ("part_of", "A is part of B."), ("has_team", "A has team B.")]
)
def test_a_statement_can_be_said(type, text):
    """Relations without a sentence get one."""
    assert in_words(Statement("A", "B", type)) == text
