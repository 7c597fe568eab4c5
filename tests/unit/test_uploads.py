"""Texts, research findings and uploaded files as documents."""

import io
from dataclasses import replace

import pytest

from weft.config import LoadOptions
from weft.engine.uploads import Sandbox, plain_name, text_document
from weft.errors import InputError
from weft.load.run import iter_documents, load_file
from weft.system.temporary_files import LOCK_FILE


def test_a_text_is_never_taken_for_a_file():
    """A source without a scheme gets one; what looks like a path or a URL stays a name."""
    assert text_document("x", source="/etc/passwd").source == "text:/etc/passwd"
    assert text_document("x", source="../up").source == "text:../up"
    assert text_document("x", source="https://example.org/a").source == "https://example.org/a"


def test_metadata_is_added_to_what_the_text_says():
    """Front matter stays, the caller's word wins, and what marks imports cannot be set."""
    text = "---\nkind: note\ncolour: red\n---\nHello."
    document = text_document(text, source="s", metadata={"colour": "blue", "tags": ["a"]})

    assert document.metadata == {"kind": "note", "colour": "blue", "tags": ["a"]}
    with pytest.raises(InputError, match="imports"):
        text_document("x", source="s", metadata={"_import": "graph"})


@pytest.mark.parametrize(
    "name, shown",
    [
        ("a.md", "a.md"),
        ("../a.md", "a.md"),
        ("/x/a.md", "a.md"),
        ("c:\\x\\a.md", "a.md"),
        ("a\x00\n.md", "a.md"),
        ("\u202ea.md", "a.md"),
        ("\ud800.md", "md"),
        ("", "file"),
        ("..", "file"),
        ("/", "file"),
    ],
)
def test_of_a_name_only_the_last_printable_part_is_kept(name, shown):
    """The rest could be a path, or could deceive who reads it."""
    assert plain_name(name) == shown


def test_files_get_names_of_our_own_and_are_gone_afterwards(tmp_path, monkeypatch):
    """The order is kept, the loader is found by the suffix, and closing twice is harmless."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    box = Sandbox()
    box.save("../../b.md", io.BytesIO(b"# B\n\ntext"))
    box.save("a.csv", io.BytesIO(b"city,river\nBasel,Rhine\n"))
    box.save("odd.$(x)", io.BytesIO(b"plain"))
    (folder,) = tmp_path.iterdir()

    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)
    assert names == ["000000.md", "000001.csv", "000002"]
    assert [item.source for item in box.files()] == ["upload:b.md", "upload:a.csv", "upload:odd.$(x)"]
    box.close()
    box.close()
    assert list(tmp_path.iterdir()) == []


UNTITLED = {
    "pel.txt": b"Pelicans are large birds.",
    "pel.md": b"Pelicans are large birds.",
    "pel.html": b"<p>Pelicans are large birds.</p>",
    "pel.json": b'{"bird": "pelican"}',
    "pel.jsonl": b'{"text": "Pelicans are large birds."}',
    "pel.csv": b"bird,size\npelican,large\n",
    "pel.py": b"bird = 'pelican'",
    "pel.$(x)": b"Pelicans are large birds.",
    "Dockerfile": b"FROM pelican",
    "pelikan 鹈鹕.tar-list": b"Pelicans are large birds.",
}
"""Files that give themselves no title."""


@pytest.mark.parametrize("name", UNTITLED)
def test_an_uploaded_file_is_titled_as_a_file_of_that_name_is(tmp_path, name):
    """The name in the temporary folder has no effect on title and type."""
    (tmp_path / name).write_bytes(UNTITLED[name])
    (local,) = iter_documents([tmp_path / name], options=LoadOptions(), base=tmp_path)
    box = Sandbox()
    try:
        box.save(name, io.BytesIO(UNTITLED[name]))
        (file,) = box.files()
        (uploaded,) = load_file(file.path, source=file.source, options=LoadOptions())
    finally:
        box.close()

    assert uploaded == replace(local, source=uploaded.source)
    assert uploaded.source.startswith(f"upload:{name}")
