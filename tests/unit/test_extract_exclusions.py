"""Names in a text that are no entities, and front matter that describes the page."""

import pytest
from extracting import aliases, extract, names, stated_relations

from weft.extract.entity_types import entity_type
from weft.extract.mentions import find_sentence
from weft.extract.names import name_key
from weft.extract.rules import RuleExtractor
from weft.records import Chunk, Document

WEAK = ("identifier", "phrase", "quoted", "term")


@pytest.mark.parametrize(
    "text, kept",
    [
        ("Set `name` or `type` to `False`, or `Never`; see `/apis` and `storageClassName`.", ["storageClassName"]),
        ("- **Steep Learning Curve:** the Vue Router is new.", ["Vue Router"]),
        ("- **Steep Learning Curve** – the Vue Router is new.", ["Vue Router"]),
        ("Next Owner: we asked the Payments Team.", ["Payments Team"]),
        ("The date is [Date of Decision] and the team <Your Team>.", []),
        ('It is a so-called "happy path" of "Blue Velvet".', ["Blue Velvet"]),
        (
            "The bound $T_1 < \\lVert x_2 \\rVert$ holds, $$\\mathbf{Foo Bar}$$ and the Hoeffding Bound too.",
            ["Hoeffding Bound"],
        ),
        ("It costs $5 at Alpha Beta and $10 at Gamma Delta.", ["Alpha Beta", "Gamma Delta"]),
        ("Use `100Mi`, `T_1` and `max_surge`.", ["max_surge"]),
        ('{{< note caption="Blue Velvet" >}} See Night Train.', ["Night Train"]),
        ("See {{ page.Title Here }} and {% include Foo Bar %} of Night Train{: .Big Class}.", ["Night Train"]),
    ],
)
def test_what_is_no_name_is_not_proposed(text, kept):
    """Literals, labels, placeholders, stressed words, formulas, quantities and shortcodes."""
    assert names(extract(text, title="Notes"), *WEAK) == kept


def test_a_term_that_a_shortcode_links_is_a_name():
    """It leads to the entry of a glossary, under the name of the entry."""
    found = extract('It runs {{< glossary_tooltip text="them" term_id="static-pod" >}} at first.', title="Notes")
    assert names(found, "name") == ["static pod"]


def test_containers_scripts_and_attributes_are_no_text():
    """Their first lines and names are not read, and a title loses its id."""
    text = "<script setup>\nimport Spread Sheet from 'x'\n</script>\n:::tip Big News\nSee Night Train.\n:::\n"
    found = extract(f'{text}!!! note "Old News"\n', title="Watchers {#watchers}")
    assert names(found, "title") == ["Watchers"]
    assert names(found, *WEAK) == ["Night Train"]


def test_a_variable_of_an_example_is_no_entity():
    """The code of the document declares it; a function that the code only calls is a name."""
    text = "Watch `todoId`, `todoId.value` and `watchEffect`.\n\n```js\nconst todoId = ref(1)\nwatchEffect(f)\n```"
    assert names(extract(text, title="Notes"), "identifier") == ["watchEffect"]


def test_a_parameter_is_not_defined_but_a_program_is():
    """Both are in lower case; the type tells them apart."""
    assert names(extract("The `identifier` is a string of the object.", title="Notes"), "definition") == []
    assert names(extract("The `etcd` is a database for keys.", title="Notes"), "definition") == ["etcd"]


@pytest.mark.parametrize("source", ["LICENSE", "docs/LICENCE.md", "COPYING.txt"])
def test_a_licence_names_nothing(source):
    """Its defined terms are not those of the corpus."""
    text = "Sui Generis Database Rights means rights other than copyright."
    chunk = Chunk(id="c", document_id="d", ordinal=0, heading=(), start_line=1, end_line=1, text=text)
    [found] = RuleExtractor().extract(Document(source=source, title="Licence", text=text), [chunk])
    assert {item.kind for item in found.candidates} <= {"page"}  # other pages may link to it
    assert found.stated_relations == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See :doc:`/deploying/index` and :ref:`app_context` or :func:`run it <flask.run_it>`.", []),
        (
            "The signal :data:`.request_started` and :py:class:`!request_finished`.",
            ["request_started", "request_finished"],
        ),
        ("Call :meth:`~flask.Flask.run_app` first.", ["flask.Flask.run_app"]),
    ],
)
def test_a_role_of_sphinx_names_what_it_leads_to(text, expected):
    """Without the marks for its display; paths and labels are no names."""
    assert list(names(extract(text, title="Notes"), "identifier")) == expected


def test_a_record_that_is_named_by_its_line_has_no_topic():
    """`questions.jsonl#L12` is not a name."""
    assert names(extract("Some text.", title="questions.jsonl#L12"), "title") == []


@pytest.mark.parametrize(
    "noun, type",
    [
        ("film", "film"),
        ("Services", "service"),
        ("novelist", "person"),
        ("通信设备公司", "公司"),
        ("oldest", ""),
        ("vague", ""),
    ],
)
def test_types_come_from_a_closed_list(noun, type):
    """Other nouns give no type."""
    assert entity_type(noun) == type


def test_a_qualifier_tells_two_things_of_one_name_apart():
    """The name without it is an alias, so that a text may leave it out."""
    found = extract("Mercury is a planet near the Sun.", title="Mercury (planet)")
    assert names(found, "title") == ["Mercury (planet)"]
    assert aliases(found) == [("Mercury", "mercury planet")]
    assert name_key("Mercury (planet)") != name_key("Mercury (element)")


# ── statements ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "If the Login Flow uses the Session Store, wait.",
        "In Login Flow, use the Session Store.",
        "The Login Flow uses Session Store containers.",
        "The Login Flow replaces Session Stores that failed.",
        "- It belongs to a Payment Gateway.",
        "如果登录服务依赖会话存储，请等待。",
        "可以使用会话存储。",
        "通过登录服务使用会话存储的方式。",
    ],
)
def test_conditions_imperatives_and_parts_of_names_state_nothing(text):
    """Verbs alone are no statements."""
    assert stated_relations(extract(text, title="Checkout Service"), least=7) == []


def test_the_subject_is_not_the_title_that_joins_its_name_with_another():
    """A page about security and a product does not use what the product uses."""
    found = extract("Kubernetes uses TLS. So Kubernetes uses TLS.", title="Cloud Security and Kubernetes")
    assert stated_relations(found, least=7) == [("kubernete", "uses", "tls")]


# ── front matter ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "metadata, stated",
    [
        ({"author": "Jane Doe", "date": "2020-01-01"}, []),
        ({"author": "Jane Doe", "layout": "post", "tags": ["a"]}, []),
        ({"author": "Jane Doe"}, [("panda", "written_by", "jane doe")]),
        ({"author": "Jane Doe", "date": "2020", "isbn": "1"}, [("panda", "written_by", "jane doe")]),
    ],
)
def test_the_author_of_a_page_did_not_write_its_subject(metadata, stated):
    """A note about a library has an author; a note about a book names the author of the book."""
    assert stated_relations(extract("Some text.", title="Pandas", metadata=metadata)) == stated


# ── descriptions ────────────────────────────────────────────────────────────────────────────────


def test_the_description_of_a_derived_relation_mentions_its_target():
    """The sentence about the source alone would describe another relation."""
    text = "# Auth Service\nAuth Service calls Redis.\nSessions live in Postgres for a day."
    assert find_sentence(text, ["auth service", "postgre"]) == "Sessions live in Postgres for a day."
    assert find_sentence(text, ["auth service", "redis"]) == "Auth Service calls Redis."
