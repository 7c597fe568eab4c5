"""Loaders of other packages, found by their entry points."""

import sys
from importlib.metadata import EntryPoints

import pytest

from weft.config import LoadOptions
from weft.load import entry_points
from weft.load.run import find_loader, iter_documents, load_file
from weft.records import Document, Skipped

MODULE = """
from weft.records import Document

def load(path, *, source, options):
    yield Document(source=source, title=path.stem, text=path.read_text().upper())

def fail(path, *, source, options):
    raise KeyError("no such part")

def tell(path, *, source, options):
    yield path.read_text()
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install packages with entry points in a folder of the import path."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    entry_points.packaged_loaders.cache_clear()

    def run(package, **loaders):
        metadata = site / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "\n".join(f".{suffix} = {value}" for suffix, value in loaders.items())
        (metadata / "entry_points.txt").write_text(f"[weft.loaders]\n{lines}\n")
        (site / "notation_loaders.py").write_text(MODULE)

    yield run
    sys.modules.pop("notation_loaders", None)
    entry_points.packaged_loaders.cache_clear()


def write(tmp_path, name, text="la la"):
    folder = tmp_path / "tunes"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def read(folder):
    return list(iter_documents([folder], options=LoadOptions(), base=folder))


def test_a_package_loads_files_of_its_extension(install, tmp_path):
    """Also of one that Weft would skip as binary; letter case of the name does not matter."""
    install("notation", abc="notation_loaders:load", iso="notation_loaders:load")
    folder = write(tmp_path, "reel.ABC")
    write(tmp_path, "disc.iso")

    found = read(folder)

    assert [(item.source, item.text) for item in found] == [("disc.iso", "LA LA"), ("reel.ABC", "LA LA")]
    assert all(isinstance(item, Document) for item in load_file(folder / "disc.iso", source="x", options=LoadOptions()))


def test_a_package_replaces_no_loader_of_weft(install, tmp_path):
    """Markdown stays Markdown."""
    install("notation", md="notation_loaders:load", txt="notation_loaders:load")
    folder = write(tmp_path, "a.md", "# Title\n\nla la")

    assert read(folder)[0].text != "# TITLE\n\nLA LA"
    assert "notation" not in repr(find_loader(folder / "a.txt"))


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ("notation_loaders:gone", "notation_loaders:gone of notation: AttributeError"),
        ("no_such_module:load", "no_such_module:load of notation: ModuleNotFoundError"),
        ("notation_loaders:fail", "notation_loaders:fail of notation: KeyError: 'no such part'"),
        ("notation_loaders:tell", "notation_loaders:tell of notation yields str, not Document"),
        ("notation_loaders:Document", "notation_loaders:Document of notation: TypeError"),
    ],
)
def test_a_broken_loader_skips_its_files(install, tmp_path, value, detail):
    """The reason names the package, and the run goes on."""
    install("notation", abc=value)
    folder = write(tmp_path, "reel.abc")
    write(tmp_path, "z.txt", "other text")

    skipped, other = read(folder)

    assert isinstance(skipped, Skipped) and skipped.reason == "broken loader"
    assert detail in skipped.detail
    assert other.text == "other text"


def test_two_packages_for_one_extension_are_an_error(install, tmp_path):
    """The order of installation must not decide."""
    install("notation", abc="notation_loaders:load")
    install("tunes", abc="notation_loaders:load")

    (skipped,) = read(write(tmp_path, "reel.abc"))

    assert skipped.detail in {f"two packages load .abc: {both}" for both in ("notation, tunes", "tunes, notation")}


def test_without_packages_there_is_no_loader(monkeypatch):
    """The usual case."""
    monkeypatch.setattr(entry_points, "entry_points", lambda group: EntryPoints())
    entry_points.packaged_loaders.cache_clear()

    assert entry_points.find_packaged_loader(".abc") is None
    entry_points.packaged_loaders.cache_clear()
