"""Sources and valid values of settings."""

import re

import pytest
from platformdirs import user_config_path

from weft.config import ALIASES, GROUPS, Settings, check_settings, flatten, in_force, read_settings
from weft.config.trust import trust
from weft.errors import ConfigError


@pytest.fixture
def read(tmp_path):
    """Read settings of a trusted project in `tmp_path`, without the developer's own."""

    def read(overrides=None, *, toml=None, user=None, environment=None, **arguments):
        if toml is not None:
            (tmp_path / "weft.toml").write_text(toml, encoding="utf-8")
            trust(tmp_path / "weft.toml")
        if user is not None:
            user_config_path("weft").mkdir(parents=True, exist_ok=True)
            (user_config_path("weft") / "config.toml").write_text(user, encoding="utf-8")
        return read_settings(overrides, environment=environment or {}, folder=tmp_path, **arguments)

    return read


def test_without_anything_the_defaults_hold(read):
    """No setting is required."""
    assert read() == Settings()
    assert read().origins == {}


def test_the_stronger_source_wins(read, tmp_path):
    """Flag, environment, project file, user file, default: each beats the ones after it."""
    sources = {
        "user": "[search]\ntop_k = 2\n",
        "toml": "[search]\ntop_k = 3\n",
        "environment": {"WEFT_SEARCH_TOP_K": "4"},
        "overrides": {"search.top_k": 5},
    }
    seen = [read().search.top_k]
    given = {}
    for name, value in sources.items():
        given[name] = value
        seen.append(read(**given).search.top_k)

    assert seen == [10, 2, 3, 4, 5]
    assert read(**given).origins["search.top_k"] == "flag"
    del given["overrides"]
    assert read(**given).origins["search.top_k"] == "WEFT_SEARCH_TOP_K"
    del given["environment"]
    assert read(**given).origins["search.top_k"] == str(tmp_path / "weft.toml")


def test_sources_are_merged_field_by_field(read):
    """A file that sets one field leaves the others to weaker sources."""
    settings = read(
        user="[search]\ntop_k = 2\nrrf_k = 20\n", toml="[search]\ntop_k = 3\n", environment={"WEFT_DB": "e.db"}
    )

    assert (settings.search.top_k, settings.search.rrf_k, settings.store.db) == (3, 20, "e.db")
    assert set(settings.origins) == {"search.top_k", "search.rrf_k", "store.db"}


def test_a_flag_that_was_not_given_changes_nothing(read):
    """None stands for that, so that doors can pass what they have."""
    assert read({"search.top_k": None}).search.top_k == 10


def test_the_nearest_project_file_upwards_is_read(read, tmp_path):
    """All folders of a project share one file."""
    read(toml="[search]\ntop_k = 3\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert read_settings(environment={}, folder=inner).search.top_k == 3

    (inner.parent / "weft.toml").write_text("[search]\ntop_k = 4\n")
    assert read_settings(environment={}, folder=inner).search.top_k == 4


def test_the_store_of_a_project_is_the_same_from_every_folder(read, tmp_path):
    """A relative path in a project file is relative to that file; `:memory:` and absolute ones stay."""
    inner = tmp_path / "deep" / "er"
    inner.mkdir(parents=True)
    for db, expected in (("x.db", str(tmp_path / "x.db")), (":memory:", ":memory:"), ("/abs/x.db", "/abs/x.db")):
        (tmp_path / "weft.toml").write_text(f'[store]\ndb = "{db}"\n')
        trust(tmp_path / "weft.toml")
        assert read().store.db == db
        assert read_settings(environment={}, folder=inner).store.db == expected


def test_the_store_of_the_user_file_is_relative_to_where_one_is(read):
    """It speaks of every project, not of the folder it lies in."""
    assert read(user='[store]\ndb = "notes.db"\n').store.db == "notes.db"


def test_a_named_file_replaces_the_search(read, tmp_path):
    """The file must exist."""
    read(toml="[search]\ntop_k = 3\n")
    (tmp_path / "other.toml").write_text("[search]\nrrf_k = 7\n")
    settings = read(file=tmp_path / "other.toml")

    assert (settings.search.top_k, settings.search.rrf_k) == (10, 7)
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        read(file=tmp_path / "nowhere.toml")


# ── what is refused ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "toml, message, hint",
    [
        ("[search]\ntop_q = 3\n", "unknown setting 'search.top_q'", "did you mean 'search.top_k'?"),
        ("[serach]\ntop_k = 3\n", "unknown setting 'serach.top_k'", "did you mean 'search.top_k'?"),
        ("[zzz]\nqqq = 3\n", "unknown setting 'zzz.qqq'", "run `weft config` to list every setting"),
        ("top_k = 3\n", "'top_k' in .* is not in a section", "sections: store, models"),
        ("[search\n", "cannot read .*weft.toml", ""),
        ("[search]\ntop_k = 'three'\n", "invalid search.top_k: 'three'", "use a whole number"),
        ("[search]\ntop_k = 3.7\n", "invalid search.top_k: 3.7", "use a whole number"),
        ("[search]\ntop_k = true\n", "invalid search.top_k", "use a whole number"),
        ("[search]\ntop_k = [3]\n", "invalid search.top_k", "use a whole number"),
        ("[search]\ntop_k = 0\n", "invalid search.top_k: 0", "use a whole number of at least 1"),
        ("[search]\nmethod = 'magic'\n", "invalid search.method", "use one of vector, naive"),
        ("[search]\ngate = 'perhaps'\n", "invalid search.gate", "use true or false"),
        ("[search]\nvector_weight = 'much'\n", "invalid search.vector_weight: 'much'", "use a number"),
        ("[search]\nvector_weight = -1\n", "weights", ""),
        ("[search]\nvector_weight = nan\n", "weights", ""),
        ("[search]\ntext_weight = inf\n", "weights", ""),
        ("[search]\nvector_weight = 0\ntext_weight = 0.0\n", "invalid weights of vector and text", "not both 0"),
        ("[search]\nmin_score = nan\n", "min_score: nan", "a cosine"),
        ("[search]\nmin_score = 5\n", "min_score: 5", "a cosine"),
        ("[search]\nmin_score = -1.01\n", "min_score: -1.01", "a cosine"),
        ("[graph]\nmax_hops = 4\n", "invalid graph.max_hops: 4", "from 1 to 3"),
        ("[graph]\nmax_chunks = 0\n", "invalid graph.max_chunks: 0", "at least 1"),
        ("[graph]\nmin_graph_score = 1.5\n", "invalid graph.min_graph_score: 1.5", "from 0 to 1"),
        ("[graph]\nmin_confidence = nan\n", "invalid graph.min_confidence: nan", "from 0 to 1"),
        ("[graph]\ntext_weight = -1\n", "invalid weights of text and graph", "at least 0"),
        ("[graph]\ntext_weight = 0\ngraph_weight = 0\n", "invalid weights of text and graph", "not both 0"),
        ("[graph]\nmin_similarity = 2\n", "invalid graph.min_similarity: 2", "a cosine"),
        ("[graph]\nmax_named = 0\n", "invalid graph.max_named: 0", "at least 1"),
        ("[graph]\ncitation_depth = 4\n", "invalid graph.citation_depth: 4", "from 1 to 3"),
        ("[memory]\nanchors = 0\n", "invalid memory.anchors: 0", "at least 1"),
        ("[memory]\nsource_weights = ['file=-1']\n", "invalid entry of memory.source_weights: 'file=-1'", "at least 0"),
        ("[memory]\nsource_weights = ['file']\n", "invalid entry of memory.source_weights: 'file'", "source=number"),
        ("[memory]\nusage_weight = inf\n", "invalid memory.usage_weight: inf", "at least 0"),
        ("[memory]\nweekly_decay = 1.1\n", "invalid memory.weekly_decay: 1.1", "from 0 to 1"),
        ("[memory]\ncache_seconds = -1\n", "invalid memory.cache_seconds: -1", "from 0 to 86400"),
        ("[memory]\ncache_seconds = 90000\n", "invalid memory.cache_seconds: 90000", "a day"),
        ("[rerank]\nweight = 2.0\n", "invalid rerank.weight: 2.0", "from 0 to 1"),
        ("[llm]\nmax_cost = inf\n", "invalid llm.max_cost: inf", "at least 0"),
        ("[load]\ninclude = 5\n", "invalid load.include: 5", "use a list"),
        ("[load]\ninclude = {a = 1}\n", "invalid load.include", "use a list"),
        ("[split]\nmax_tokens = -4\n", "invalid split.max_tokens: -4", ""),
        ("[context]\nbudget = 0\n", "invalid context.budget: 0", ""),
        ("[models.local]\nx = 1\n", "unknown setting 'models.local'", ""),
        ("[models]\napi_key = 'sk-secret'\n", "unknown setting 'models.api_key'", ""),
    ],
)
def test_a_wrong_file_is_refused_with_the_way_out(read, toml, message, hint):
    """Unknown names, wrong kinds, wrong ranges and broken TOML all say what and where."""
    with pytest.raises(ConfigError, match=message) as caught:
        read(toml=toml)
    assert hint in caught.value.hint
    assert "sk-secret" not in str(caught.value) + caught.value.hint


def test_bytes_that_are_no_text_are_refused(read, tmp_path):
    """A settings file is UTF-8."""
    (tmp_path / "weft.toml").write_bytes(b"[store]\ndb = '\xff'\n")

    with pytest.raises(ConfigError, match="cannot read"):
        read()


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb", "a\x00b", "\ud800"], ids=repr)
def test_some_names_are_no_namespaces(read, name):
    """Empty, endless and unprintable ones."""
    with pytest.raises(ConfigError, match="invalid namespace"):
        read({"store.namespace": name})


@pytest.mark.parametrize("name", ["a", "x" * 200, "团队", "a/b:c d", "UPPER", "-"])
def test_other_names_are_namespaces(read, name):
    """Any script, any punctuation."""
    assert read({"store.namespace": name}).store.namespace == name


# ── the environment ─────────────────────────────────────────────────────────────────────────────


def test_every_setting_has_a_name_in_the_environment(read):
    """`WEFT_GROUP_FIELD`, with text turned into what the field asks for."""
    environment = {
        "WEFT_SEARCH_METHOD": "keyword",
        "WEFT_SEARCH_GATE": "off",
        "WEFT_SEARCH_MIN_SCORE": "0.25",
        "WEFT_LOAD_INCLUDE": "*.md, *.txt",
        "WEFT_LOAD_PARSERS": "9",
        "WEFT_MODELS_THREADS": "2",
        "WEFT_CONTEXT_BUDGET": "500",
    }
    settings = read(environment=environment)

    assert (settings.search.method, settings.search.gate, settings.search.min_score) == ("keyword", False, 0.25)
    assert (settings.load.include, settings.load.parsers) == (("*.md", "*.txt"), 9)
    assert (settings.models.threads, settings.context.budget) == (2, 500)


@pytest.mark.parametrize("name, key", ALIASES.items())
def test_common_settings_have_short_names(read, name, key):
    """`WEFT_DB` for the store, and so on."""
    assert flatten(read(environment={name: "value"}))[key] == "value"
    assert read(environment={name: "value"}).origins == {key: name}


def test_our_own_name_beats_one_that_others_read_too(read):
    """`OPENAI_BASE_URL` is set for many programs, `WEFT_MODELS_BASE_URL` for this one."""
    environment = {"WEFT_MODELS_BASE_URL": "http://ours", "OPENAI_BASE_URL": "http://all"}

    assert read(environment=environment).models.base_url == "http://ours"


def test_an_empty_value_in_the_environment_is_no_value(read):
    """Shells set variables to nothing to unset them."""
    environment = {"WEFT_DB": "", "WEFT_SEARCH_TOP_K": "", "OPENAI_API_KEY": ""}

    assert read(toml="[search]\ntop_k = 3\n", environment=environment).search.top_k == 3
    assert read(environment=environment).store.db == "weft.db"


def test_a_misspelt_name_in_the_environment_is_refused(read):
    """A setting that has no effect is worse than an error."""
    with pytest.raises(ConfigError, match="WEFT_SEARCH_TOPK") as caught:
        read(environment={"WEFT_SEARCH_TOPK": "3"})
    assert "WEFT_SEARCH_TOP_K" in caught.value.hint


@pytest.mark.parametrize(
    "name, meant",
    [
        ("WEFT_NAMESPAC", "'WEFT_NAMESPACE'"),
        ("WEFT_NAMSPACE", "'WEFT_NAMESPACE'"),
        ("WEFT_DBS", "'WEFT_DB'"),
        ("WEFT_EMBEDER", "'WEFT_EMBEDDER'"),
        ("WEFT_CACHEDIR", "'WEFT_CACHE_DIR'"),
        ("WEFT_SERACH_TOP_K", "'WEFT_SEARCH_TOP_K'"),
        ("WEFT_TOP_K", "'WEFT_SEARCH_TOP_K'"),
        ("WEFT_PARALLEL", "'WEFT_LLM_PARALLEL'"),
    ],
)
def test_a_mistyped_name_without_a_group_of_ours_is_an_error_too(read, name, meant):
    """A name without its group is reported too."""
    with pytest.raises(ConfigError, match=f"unknown setting '{name}'") as caught:
        read(environment={name: "3"})
    assert meant in caught.value.hint


@pytest.mark.parametrize(
    "name", ["WEFT_DATA", "WEFT_TEST_PG_DSN", "WEFT_TEST_CITUS_DSN", "WEFTSEARCH", "WEFT_HOME", "PATH"]
)
def test_variables_of_others_are_left_alone(read, name):
    """Variables of tests and benchmarks, and names unlike any setting, are ignored."""
    assert read(environment={name: "3"}) == Settings()


@pytest.mark.parametrize("name", ["WEFT_PORT", "WEFT_PORT_8321_TCP_PROTO", "WEFT_SERVICE_HOST", "WEFT_SERVICE_PORT"])
def test_what_an_orchestrator_says_of_a_service_called_weft_is_left_alone(read, name):
    """Kubernetes sets such variables in every container."""
    assert read(environment={name: "tcp://10.0.0.7:8321"}) == Settings()


def test_a_wrong_value_in_the_environment_names_the_variable(read):
    """The user can then find it."""
    with pytest.raises(ConfigError, match="WEFT_SEARCH_TOP_K"):
        read(environment={"WEFT_SEARCH_TOP_K": "many"})


# ── the key ─────────────────────────────────────────────────────────────────────────────────────


def test_the_key_is_read_from_its_variable_and_shown_nowhere(read):
    """Printed and listed settings do not contain it."""
    settings = read(environment={"OPENAI_API_KEY": "sk-secret"})

    assert settings.api_key == "sk-secret"
    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in str(flatten(settings))
    assert "sk-secret" not in str(settings.origins)


def test_every_setting_is_listed(read):
    """`weft config` shows all there is, and every default passes its own check."""
    listed = flatten(read())

    assert list(listed)[:2] == ["store.db", "store.namespace"]
    assert {key.partition(".")[0] for key in listed} == set(GROUPS)
    check_settings(Settings())


def test_the_cache_folder_is_the_users_or_the_one_that_was_set(read, tmp_path):
    """`~` is the home folder."""
    assert read().cache_dir.name == "weft"
    assert read({"models.cache_dir": tmp_path}).cache_dir == tmp_path
    assert "~" not in str(read({"models.cache_dir": "~/models"}).cache_dir)


@pytest.mark.parametrize(
    ("toml", "shown"),
    [
        ("", [(0.7, "default with weighted"), (0.3, "default with weighted")]),
        ("fusion = 'rrf'", [(0.5, "default with rrf"), (0.5, "default with rrf")]),
        ("fusion = 'rrf'\ntext_weight = 0.0", [(0.5, "default with rrf"), (0.0, "weft.toml")]),
    ],
)
def test_weights_are_listed_as_they_count(read, toml, shown):
    """The fusion determines weights that are not set, and is listed as their origin."""
    listed = in_force(read(toml=f"[search]\n{toml}\n"))
    found = [listed[f"search.{name}"] for name in ("vector_weight", "text_weight")]

    assert [(value, origin.rpartition("/")[2]) for value, origin in found] == shown
    assert listed["search.top_k"] == (10, "default")


@pytest.mark.parametrize(
    ("toml", "shown"),
    [
        ("", [None, None]),
        ("fusion = 'weighted'", [0.7, 0.3]),
        ("fusion = 'rrf'", [0.5, 0.5]),
        ("fusion = 'rrf'\ntext_weight = 0.2", [0.2, 0.5]),
    ],
)
def test_the_weights_of_the_graph_are_listed_where_they_count(read, toml, shown):
    """`boost` has none."""
    listed = in_force(read(toml=f"[graph]\n{toml}\n"))

    assert [listed[f"graph.{name}"][0] for name in ("text_weight", "graph_weight")] == shown


def test_a_constant_in_a_file_or_in_the_environment_is_ignored_with_a_warning(tmp_path, caplog):
    """Code may set it, within its limits; `weft config` does not list it."""
    file = tmp_path / "weft.toml"
    file.write_text("[graph]\nrounds = 5\nmax_hops = 2\n")

    settings = read_settings({"search.name_bonus": 0.1}, file=file, environment={"WEFT_SEARCH_POOL": "90"})

    assert (settings.graph.rounds, settings.search.pool, settings.graph.max_hops) == (3, 70, 2)
    assert settings.search.name_bonus == 0.1
    warned = [record.getMessage() for record in caplog.records]
    assert [text.split(" ")[0] for text in warned] == ["graph.rounds", "search.pool"]
    assert "graph.rounds" not in in_force(settings) and "graph.max_hops" in in_force(settings)
    assert flatten(settings)["graph.rounds"] == 3
    for key, value in (
        ("graph.share", -0.1),
        ("graph.max_close", 0),
        ("context.entity_tokens", 0),
        ("load.max_pages", 0),
    ):
        with pytest.raises(ConfigError, match=f"invalid {key}: {value}"):
            read_settings({key: value}, environment={})


def test_alpha_and_beta_are_the_weights_of_text_and_graph():
    """Both spellings of the original design are accepted."""
    flags = {"graph.fusion": "weighted", "graph.alpha": 0.6}
    settings = read_settings(flags, environment={"WEFT_GRAPH_BETA": "0.4"})

    assert settings.graph.weights == (0.6, 0.4)


def test_a_removed_setting_is_refused_with_the_one_that_replaces_it(tmp_path):
    """From a file, from the environment and as a flag."""
    file = tmp_path / "weft.toml"
    file.write_text("[memory]\nfile_weight = 3\n")
    removed = ({"file": file}, r"source_weights"), ({"environment": {"WEFT_MEMORY_BY_WORDS": "true"}}, r"memory\.rank")
    for given, hint in removed:
        with pytest.raises(ConfigError, match=r"removed in 0\.3\.0") as refused:
            read_settings(**{"environment": {}, **given})
        assert re.search(hint, refused.value.hint)


def test_there_are_few_settings():
    """
    A new one needs a reason; `constant()` is for numbers that only benchmarks vary.

    Ten became settings again; the last is `search.auto_rules`, since files of 0.1.0 switch rules off.
    """
    assert len(in_force(read_settings(environment={}))) <= 91
