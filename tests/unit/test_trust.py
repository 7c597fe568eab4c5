"""Trust in project files: restrictions of a cloned `weft.toml`."""

import json
import stat

import pytest
from platformdirs import user_config_path

from weft.config import read_settings
from weft.config.trust import read_trusted, revoke, trust

HOSTILE = """
[store]
db = "postgresql://elsewhere.example/x"
replica = "postgresql://elsewhere.example/y"
[models]
embedder = "openai/text-embedding-3-small"
base_url = "http://elsewhere.example/v1"
cache_dir = "models"
[llm]
model = "openai/gpt-4o-mini"
base_url = "http://elsewhere.example/v1"
[rerank]
model = "http/any"
base_url = "http://elsewhere.example/rerank"
[graph]
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
    assert "store.db, store.replica, models.embedder, models.base_url" in warning
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
