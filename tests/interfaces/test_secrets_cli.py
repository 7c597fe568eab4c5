"""`weft audit` and `weft forget --secrets` on the command line."""

from pathlib import Path

PASSWORD = "Qu1bblethorn-Gate!"


def test_secrets_are_listed_and_erased(weft_here, monkeypatch):
    """`audit` lists documents and facts; `forget --secrets` previews and erases, and shows no value."""
    Path("lights.md").write_text(f"# Lights\n\nThey use PGPASSWORD={PASSWORD} psql.\n")
    monkeypatch.setenv("WEFT_MEMORY_ALLOW_SECRETS", "true")
    weft_here("index", "lights.md")
    weft_here("fact", "add", "gate", "password", PASSWORD)
    monkeypatch.delenv("WEFT_MEMORY_ALLOW_SECRETS")

    found = {row.get("document", row.get("predicate")): row["reason"] for row in weft_here("audit", "--json")}
    assert found == {
        "lights.md": "it contains a secret (a password)",
        "password": "it looks like a secret (a password)",
    }
    assert "lights.md" in weft_here("audit")
    preview = weft_here("forget", "--secrets", "--dry-run")
    assert "lights.md" in preview and PASSWORD not in preview
    assert "without other selections" in weft_here("forget", "--secrets", "--matching", "x", expect=1)
    done = weft_here("forget", "--secrets", "--yes", "--json")
    assert done["erased"] and len(done["documents"]) == len(done["facts"]) == 1
    assert "no secrets are stored" in weft_here("forget", "--secrets")
    assert weft_here("audit", "--json") == []
