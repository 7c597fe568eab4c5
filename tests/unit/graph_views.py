"""Small graphs for tests of their text."""

from hypothesis import strategies as st

from weft.context.build import GraphView
from weft.context.graph_block import build_graph_block
from weft.records import Entity, Relation
from weft.text.tokens import estimate_tokens

INVERSE = {"depends_on": "depended_on_by", "related_to": "related_to"}


def inverse(type):
    return INVERSE.get(type, f"{type}_by")


def entity(id, name=None, type="", description=""):
    return Entity(id=id, key=id, name=id if name is None else name, type=type, description=description)


def relation(source, target, type="uses", weight=5, description=""):
    return Relation(source_id=source, target_id=target, type=type, weight=weight, description=description)


def block(view, *, query_entities=(), count=estimate_tokens, **options):
    return build_graph_block(view, query_entities=query_entities, inverse=inverse, count=count, **options)


AUTH = entity("auth", "Auth Service", "concept", "Core authentication service handling JWT issuance and validation...")
OAUTH = entity("oauth", "OAuth Provider", "tool", "External OAuth2 provider integration layer...")
SAMPLE = GraphView(
    entities=(AUTH, OAUTH),
    relations=(
        relation("oauth", "github", "implements", 3),
        relation("oauth", "google", "implements", 4),
        relation(
            "auth",
            "user",
            "implements",
            5,
            "Auth service creates and validates user model instances during login",
        ),
        relation("auth", "session", "uses", 3),
        relation("auth", "login", "part_of", 4),
        relation(
            "auth", "oauth", "depends_on", 8, "Auth service delegates to OAuth provider for third-party login flows"
        ),
    ),
    names={
        "user": "User Model",
        "login": "Login Flow",
        "session": "Session Store",
        "google": "Google OAuth",
        "github": "GitHub OAuth",
    },
)
SAMPLE_TEXT = """\
## Knowledge Graph Context
Query entities: [Auth Service, OAuth Provider]

### Auth Service (concept)
Related: OAuth Provider (depends_on, weight: 8), User Model (implements),
  Login Flow (part_of), Session Store (uses)
Description: Core authentication service handling JWT issuance and validation...

### OAuth Provider (tool)
Related: Auth Service (depended_on_by), Google OAuth (implements),
  GitHub OAuth (implements)
Description: External OAuth2 provider integration layer...

### Relevant Relationships
- Auth Service -> OAuth Provider: "depends_on" -- Auth service delegates to OAuth
  provider for third-party login flows (strength: 8)
- Auth Service -> User Model: "implements" -- Auth service creates and validates
  user model instances during login (strength: 5)
"""

WORDS = st.sampled_from(["", "word", "a longer name of several words", "密钥轮换" * 9, "x" * 200, "a-b c\nd"])
VIEWS = st.builds(
    lambda entities, relations: GraphView(
        entities=tuple(entity(f"e{i}", name, type, text * 20) for i, (name, type, text) in enumerate(entities)),
        relations=tuple(relations),
        names={f"e{i}": f"name {i}" for i in range(6)},
    ),
    st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=6),
    st.lists(
        st.builds(
            relation,
            st.integers(0, 7).map("e{}".format),
            st.integers(0, 7).map("e{}".format),
            WORDS,
            st.floats(1, 10),
            WORDS,
        ),
        max_size=12,
    ),
)
