"""Trust in project files: restrictions of a cloned `weft.toml`."""

import json
import os
import re
import stat
import time
from pathlib import Path

import pytest
from platformdirs import user_config_path

from weft.config import GROUPS, Settings, flatten, read_settings
from weft.config.read import SPELLINGS
from weft.config.trust import HARMLESS, MAX_HARMLESS, is_restricted, read_trusted, revoke, trust
from weft.engine.engine import Engine
from weft.errors import ConfigError, InputError
from weft.load.run import iter_sources
from weft.testing import FakeEmbedder

pytestmark = pytest.mark.hostile

HOSTILE = """
[store]
db = "postgresql://elsewhere.example/x"
replica = "postgresql://elsewhere.example/y"
namespace = "diary"
[models]
embedder = "openai/text-embedding-3-small"
base_url = "http://elsewhere.example/v1"
cache_dir = "models"
[llm]
model = "openai/gpt-4o-mini"
base_url = "http://elsewhere.example/v1"
ask_above = 1000.0
max_cost = 1000.0
[rerank]
model = "http/any"
base_url = "http://elsewhere.example/rerank"
[load]
follow_symlinks = true
hidden = true
respect_gitignore = false
max_pages = 1000000
[memory]
allow_secrets = true
confirm_sources = ["file"]
source_weights = ['file=100']
[graph]
extractor = "llm"
spacy_pipeline = "./pipeline"
[server]
allowed_hosts = ["elsewhere.example"]
allowed_origins = ["https://elsewhere.example"]
[search]
top_k = 3
"""


@pytest.fixture
def project(tmp_path):
    """A project file with hostile settings, whose trust is revoked afterwards."""
    file = tmp_path / "weft.toml"
    file.write_text(HOSTILE)
    yield file
    revoke(file)


def read(folder, **arguments):
    return read_settings(environment={}, folder=folder, **arguments)


def test_an_untrusted_file_names_no_endpoint_store_or_pipeline(project, caplog):
    """Harmless settings apply; the others are named in one warning."""
    settings = read(project.parent)

    assert settings.search.top_k == 3
    assert set(settings.origins) == {"search.top_k"}
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "store.db, store.replica, store.namespace, models.embedder, models.base_url" in warning
    assert "weft trust" in warning


def test_a_trusted_file_applies_until_it_changes(project):
    """The record holds the hash of the content."""
    trust(project)
    assert read(project.parent).models.base_url == "http://elsewhere.example/v1"

    project.write_text(HOSTILE + "\n")
    assert read(project.parent).models.base_url == ""


def test_trust_can_be_revoked(project):
    """A second call has nothing to revoke."""
    trust(project)

    assert revoke(project)
    assert not revoke(project)
    assert read(project.parent).llm.model == ""


def test_a_file_that_the_user_names_needs_no_trust(project):
    """`--config FILE` is the user's own choice."""
    assert read(project.parent, file=project).models.embedder == "openai/text-embedding-3-small"


@pytest.mark.parametrize(
    "line, applies",
    [
        ('db = "notes.db"', True),
        ('db = "deep/er/notes.db"', True),
        ('db = ":memory:"', True),
        ('db = "../notes.db"', False),
        ('db = "/var/notes.db"', False),
        ('db = "~/notes.db"', False),
        ('db = "postgresql:///x"', False),
    ],
)
def test_a_store_inside_the_project_needs_no_trust(tmp_path, line, applies):
    """Any other store could be that of another project."""
    (tmp_path / "weft.toml").write_text(f"[store]\n{line}\n")

    assert ("store.db" in read(tmp_path).origins) == applies


@pytest.mark.parametrize("name, applies", [("local/granite-30m", True), ("hash", True), ("fastembed/x", False)])
def test_an_embedder_that_stays_on_this_machine_needs_no_trust(tmp_path, name, applies):
    """Others send text to an endpoint or fetch code and weights from a hub."""
    (tmp_path / "weft.toml").write_text(f'[models]\nembedder = "{name}"\n')

    assert (read(tmp_path).models.embedder == name) == applies


def test_a_link_out_of_the_project_is_seen(tmp_path):
    """A symbolic link inside the project does not hide a store outside."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path)
    (tmp_path / "inside" / "weft.toml").write_text('[store]\ndb = "link/outside.db"\n')

    assert read(tmp_path / "inside").store.db == "weft.db"


def test_the_record_is_private_and_damage_means_no_trust(project):
    """It lies in the user's configuration folder, readable by the owner alone."""
    trust(project)
    record = user_config_path("weft") / "trusted.json"

    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert json.loads(record.read_text()) == read_trusted()
    record.write_text("{")
    assert read(project.parent).models.base_url == ""


BY_VALUE = {"store.db", "models.embedder", "graph.extractor"}
"""Settings whose value decides."""


def documented():
    """Return the settings that the documentation lists as harmless."""
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    section = page.partition("## Untrusted project files")[2].partition("\n## ")[0]
    return set(re.findall(rf"`((?:{'|'.join(GROUPS)})\.\w+)`", section))


def test_every_setting_needs_trust_unless_it_is_listed(tmp_path):
    """A new setting is untrusted until somebody adds it to the list, and to the documentation."""
    names = {*flatten(Settings()), *SPELLINGS}
    harmless = HARMLESS | MAX_HARMLESS.keys() | BY_VALUE
    values = {**flatten(Settings()), **MAX_HARMLESS, "store.db": "weft.db"}

    assert harmless <= names and len(names - harmless) > 80
    assert {name for name in names if not is_restricted(name, values.get(name), folder=tmp_path)} == harmless
    assert is_restricted("search.later_setting", 1, folder=tmp_path)
    assert documented() == harmless - SPELLINGS.keys()


@pytest.mark.parametrize("group, name", [name.split(".") for name in MAX_HARMLESS])
def test_a_large_number_needs_trust(tmp_path, group, name):
    """It could make every answer slow, or fill the context of a model; as text it counts the same."""
    for value, applies in ((1, True), (MAX_HARMLESS[f"{group}.{name}"], True), (10**9, False), ('"1_000_000"', False)):
        (tmp_path / "weft.toml").write_text(f"[{group}]\n{name} = {value}\n")
        assert (f"{group}.{name}" in read(tmp_path).origins) == applies


def test_a_typo_in_an_untrusted_file_is_an_error(tmp_path):
    """It is not reported as a setting that needs trust."""
    (tmp_path / "weft.toml").write_text("[search]\ntopk = 3\n")

    with pytest.raises(ConfigError, match=r"unknown setting 'search.topk'"):
        read(tmp_path)


def test_a_link_in_a_cloned_folder_stays_unread(tmp_path):
    """A project file cannot make `weft index .` store files from outside the folder."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "private.md").write_text("# Private\n")
    project = tmp_path / "cloned"
    project.mkdir()
    (project / "link").symlink_to(tmp_path / "outside")
    (project / "weft.toml").write_text("[load]\nfollow_symlinks = true\n")

    with Engine(read(project, overrides={"store.db": ":memory:"}), embedder=FakeEmbedder()) as engine:
        engine.index(project)
        assert [Path(document.source).name for document in engine.documents()] == ["weft.toml"]


@pytest.mark.parametrize(
    "text",
    [
        "[store]\na = " + "[" * 30_000,
        "[store]\na = " + "{a=" * 10_000,
        "[search]\ntop_k = " + "9" * 5000,
        "a." * 30_000 + "b = 1",
        "[" + "a." * 30_000 + "b]",
        '"a" . ' * 10_000 + "b = 1",
        "x" * 200_000,
        "[search]\n# " + "\x00" * 10,
        "[search]\n\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
    ids=["lists", "tables", "number", "name", "section", "quoted name", "long", "control", "letters"],
)
def test_an_odd_project_file_is_an_error_within_a_second(tmp_path, text):
    """The parser of TOML is recursive, and needs minutes for long names."""
    (tmp_path / "weft.toml").write_text(text, encoding="latin-1")
    begin = time.thread_time()
    with pytest.raises(ConfigError, match=r"weft\.toml"):
        read_settings(folder=tmp_path, environment={})

    assert time.thread_time() - begin < 1


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_a_project_file_is_an_ordinary_file(tmp_path, make):
    """Anything else would be waited for."""
    make(tmp_path / "weft.toml")

    assert read_settings(folder=tmp_path, environment={}).search.top_k == 10


def test_a_huge_project_file_is_not_read(tmp_path):
    """It needs no space on the disk."""
    with (tmp_path / "weft.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfigError, match="more than 65,536 bytes"):
        read_settings(folder=tmp_path, environment={})


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_a_project_file_sets_no_slow_pattern(tmp_path, name):
    """A file name of 200 letters took minutes."""
    (tmp_path / ("a" * 200 + ".md")).write_text("crane")
    for pattern in ("*a" * 20 + "b", "a/**/" * 12 + "b"):
        (tmp_path / "weft.toml").write_text(f'[load]\n{name} = ["{pattern}"]\n')
        options = read_settings(folder=tmp_path, environment={}).load
        with pytest.raises(InputError, match=f"load.{name}"):
            list(iter_sources([tmp_path], options=options, base=None))
