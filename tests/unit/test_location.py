"""Location of a store, and its form without the password."""

from pathlib import Path

import pytest

from weft.config import check_address, find_path, is_missing, is_server, read_settings, shown, source_folder
from weft.config.trust import trust
from weft.errors import ConfigError


@pytest.mark.parametrize(
    "db, expected",
    [
        ("weft.db", "weft.db"),
        (":memory:", ":memory:"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://me:sesame@host:5433/db", "postgresql://me@host:5433/db"),
        ("postgres://me:se:sa:me@host/db", "postgres://me@host/db"),
        ("postgresql://me:sesame@a:1,b:2/db?sslmode=require", "postgresql://me@a:1,b:2/db?sslmode=require"),
        ("postgresql://:sesame@%2Frun%2Fpg/db", "postgresql://%2Frun%2Fpg/db"),
        ("postgresql:///db?host=/run/pg&password=sesame", "postgresql:///db?host=/run/pg"),
        ("postgresql://host/db?PASSWORD=sesame&sslpassword=sesame", "postgresql://host/db"),
        ("postgresql://host/db?pass%77ord=sesame&user=me", "postgresql://host/db?user=me"),
        ("postgresql://me:ses/ame@host/db", "postgresql://…"),
        ("postgresql://me:ses@ame@host/db", "postgresql://…"),
        ("postgresql://me:ses?ame@host/db", "postgresql://…"),
        ("postgresql://me:ses#ame@host/db", "postgresql://…"),
        ("postgresql://me:ses%ame@host/db", "postgresql://…"),
        ("postgresql://me:sesame/db", "postgresql://…"),
        ("postgresql://host/db?sesame", "postgresql://…"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
        ("mysql://me:sesame@host/db", "mysql://me@host/db"),
    ],
)
def test_a_password_is_never_shown(db, expected):
    """If the password cannot be recognised, nothing is shown."""
    assert shown(db) == expected


def test_a_file_a_server_and_memory_are_told_apart(tmp_path):
    """Only a file can be missing."""
    path = tmp_path / "weft.db"

    assert find_path(str(path)) == path
    assert is_missing(str(path))
    path.touch()
    assert not is_missing(str(path))
    for db in (":memory:", "postgresql://nowhere.invalid/db"):
        assert find_path(db) is None
        assert not is_missing(db)
    assert is_server("postgresql://host/db")
    assert not is_server(":memory:")


@pytest.mark.parametrize(
    "db", ["mysql://me:sesame@host/db", "postgresql://me:ses/ame@host/db", "postgresql://me:ses%ame@host/db"]
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(db):
    """The hint shows the correct form."""
    with pytest.raises(ConfigError) as raised:
        check_address(db)

    assert raised.value.hint
    assert "ame" not in str(raised.value).replace("name", "") + raised.value.hint.replace("password", "")


def test_settings_do_not_tell_the_password(tmp_path):
    """Neither output nor errors contain it."""
    settings = read_settings({"store.db": "postgresql://me:sesame@host/db"}, environment={}, folder=tmp_path)
    (tmp_path / "weft.toml").write_text('[store]\ndb = ["postgresql://me:sesame@host/db"]\n')
    trust(tmp_path / "weft.toml")

    assert "sesame" not in repr(settings)
    with pytest.raises(ConfigError) as raised:
        read_settings(environment={}, folder=tmp_path)
    assert "sesame" not in str(raised.value)


def test_sources_are_relative_to_the_project_that_names_the_server(tmp_path, monkeypatch):
    """Sources do not depend on the working folder inside a project; otherwise they are relative to it."""
    inner = tmp_path / "docs"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (tmp_path / "weft.toml").write_text('[store]\ndb = "postgresql://host/db"\n')
    trust(tmp_path / "weft.toml")

    assert source_folder(read_settings(environment={})) == tmp_path
    assert source_folder(read_settings({"store.db": "postgresql://host/db"}, environment={})) == inner
    assert source_folder(read_settings({"store.db": str(tmp_path / "weft.db")}, environment={})) == tmp_path
    assert source_folder(read_settings({"store.db": ":memory:"}, environment={})) == Path.cwd()
