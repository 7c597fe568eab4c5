"""
Links between pages: recall and precision against an independent reading of the files.

    python benchmarks/real/links.py [--root DIR=PREFIX …] [FOLDER …]

The expected links come from `markdown-it-py`, or regular expressions (AsciiDoc, Org), and from paths tried on
the disk. Nothing of `weft.extract` is used. The content root of each folder (`content/en`, `src`, `docs`) is given
here, while Weft has to find it. Without folders, the corpora below `$WEFT_DATA/real` are measured.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import yaml
from harness import data_folder, make_parser
from markdown_it import MarkdownIt

from weft import Engine
from weft.config import Settings, StoreOptions
from weft.models.base import TextKind
from weft.records import Vectors
from weft.testing import FakeEmbedder

ROOTS = {"k8s-concepts": "content/en", "vue-guide-zh": "src", "notes-blue-book": "docs"}
"""Folder at which root-absolute addresses begin, by corpus."""
INDEXES = ("index.md", "_index.md", "README.md")
WIKILINK = re.compile(r"!?\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]")
HREF = re.compile(r"<a\s[^>]*?href=[\"']([^\"']+)[\"']", re.IGNORECASE)
BLOCK = re.compile(
    r"^(-{4,}|\.{4,}|/{4,})\n.*?^\1$|^[ \t]*#\+begin_(?:src|example)\b.*?#\+end_(?:src|example)|^[ \t]*(?://|# ).*?$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Listings and comments of AsciiDoc and Org, whose links are no links."""
ASCIIDOC_LINK = re.compile(r"(?:xref|link):([^\s\[\]#]+\.adoc)(?:#[^\s\[\]]*)?\[|<<([^\s<>#,]+\.adoc)(?:#[^<>]*)?>>")
ORG_LINK = re.compile(r"\[\[(?:file:)?([^\[\]:]+\.org|id:[^\[\]:]+)(?:::[^\[\]]*)?\](?:\[[^\[\]]*\])?\]")
ORG_ID = re.compile(r"^[ \t]*:ID:[ \t]+(\S+)", re.MULTILINE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class ConstantEmbedder(FakeEmbedder):
    """An embedder that reads no text: links do not depend on vectors."""

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return the same unit vector for each text."""
        rows: Vectors = np.zeros((len(texts), self.card.dimension), np.float32)
        rows[:, 0] = 1.0
        return rows


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """Return the front matter and the body of a Markdown file."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if not match:
        return {}, text
    try:
        fields = yaml.safe_load(match[1])
    except yaml.YAMLError:
        fields = {}
    return (fields if isinstance(fields, dict) else {}), text[match.end() :]


def read_addresses(body: str) -> Iterator[tuple[str, bool]]:
    """Yield (address, True for a wikilink) of all links, with a CommonMark parser."""
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(body):
        if token.type == "html_block":
            yield from ((address, False) for address in HREF.findall(token.content))
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrs.get("href", "")), False
            elif child.type == "html_inline":
                yield from ((address, False) for address in HREF.findall(child.content))
            elif child.type == "text":
                yield from ((page.strip(), True) for page in WIKILINK.findall(child.content))


def find_file(path: str, files: set[str]) -> str:
    """Return the file that a path without or with extension stands for; empty if there is none."""
    path = os.path.normpath(path).replace("\\", "/").removeprefix("./")
    bare = re.sub(r"\.(md|html)$", "", path)
    names = [f"{bare}.md", *(f"{bare}/{name}" for name in INDEXES), *(f"{path}/{name}" for name in INDEXES)]
    if bare.rpartition("/")[2] in ("index", "_index", "README"):
        names += [f"{bare.rpartition('/')[0]}/{name}" for name in INDEXES] + [f"{bare.rpartition('/')[0]}.md"]
    return next((name for name in names if name in files), "")


def expected_pairs(folder: Path, root: str) -> set[tuple[str, str]]:
    """Return (source, target) of all internal links between different files."""
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    bodies, redirects = {}, {}
    for name in sorted(files):
        fields, bodies[name] = split_front_matter((folder / name).read_text("utf-8", errors="replace"))
        aliases = fields.get("aliases") or []
        for alias in aliases if isinstance(aliases, list) else [aliases]:
            redirects[f"{root}{str(alias).rstrip('/')}"] = name
    stems = {Path(name).stem.casefold(): name for name in sorted(files, reverse=True)}
    pairs = set()
    for name, body in bodies.items():
        here = name.rpartition("/")[0]
        for address, is_wiki in read_addresses(body):
            path = unquote(re.split(r"[#?]", address)[0])
            if not path or SCHEME.match(path) or "{{" in path:
                continue
            if is_wiki:
                target = find_file(f"{here}/{path}", files) or stems.get(path.rpartition("/")[2].casefold(), "")
            elif path.startswith("/"):
                target = find_file(f"{root}{path}", files) or redirects.get(f"{root}{path.rstrip('/')}", "")
            else:
                target = find_file(f"{here}/{path}", files) or find_file(f"{name.removesuffix('.md')}/{path}", files)
            if target and target != name:
                pairs.add((name, target))
    return pairs


def expected_outline_pairs(folder: Path) -> set[tuple[str, str]]:
    """Return (source, target) of all links between AsciiDoc and Org files; `module:page.adoc` is one of Antora."""
    files = {
        p.relative_to(folder).as_posix(): p
        for suffix in ("adoc", "org")
        for p in folder.rglob(f"*.{suffix}")
        if p.is_file()
    }
    texts = {name: BLOCK.sub("", path.read_text("utf-8", errors="replace")) for name, path in files.items()}
    ids = {f"id:{id}": name for name, text in texts.items() for id in ORG_ID.findall(text)}
    pairs = set()
    for name, text in texts.items():
        here, antora = name.rpartition("/")[0], re.match(r"(.*?modules)/([^/]+)/", name)
        for found in (ASCIIDOC_LINK if name.endswith(".adoc") else ORG_LINK).finditer(text):
            address = next(group for group in found.groups() if group)
            module, colon, page = address.rpartition(":")
            tried = [f"{antora[1]}/{module or antora[2]}/pages/{page}"] if antora and page[:1] != "." else []
            tried = [os.path.normpath(item) for item in (*tried, *(() if colon else ((Path(here) / page).as_posix(),)))]
            target = next((item for item in tried if item in files), ids.get(address, ""))
            if target and target != name:
                pairs.add((name, target))
    return pairs


def path_parts(source: str) -> tuple[str, ...]:
    """Return the folders and the name of a page as a store writes them."""
    path = Path(source)
    parts = [*path.parent.parts, *([path.stem] if path.name not in INDEXES else [])]
    return tuple(part.casefold().replace(" ", "-").lstrip("_") for part in parts if part != "/")


def found_pairs(engine: Engine) -> set[tuple[str, str]]:
    """Return (source, target) of all relations `links_to`, by the documents of their evidence and their titles."""
    store, by_title, by_path = engine.store, defaultdict(set), {}
    documents = {document.id: document for document in engine.documents()}
    for document in documents.values():
        by_title[document.title].add(document.source)
        by_path[path_parts(document.source)] = document.source
    entities, key = {}, ""
    while page := store.graph.entities_after(key, limit=1000):
        entities |= {entity.id: entity for entity in page}
        key = page[-1].key
    pairs = set()
    relations = store.graph.relations_of(sorted(entities), limit=100_000, types=["links_to"])
    for relation in store.graph.describe(relations):
        entity = entities[relation.target_id]
        if entity.key.startswith("/"):
            parts = tuple(entity.key.lstrip("/#").partition("/|")[0].split("/")[::-1])
            targets = {by_path.get(parts, entity.name)}
        else:
            targets = by_title[entity.name] or {entity.name}
        sources = {documents[chunk.document_id].source for chunk in store.chunks(relation.chunks)}
        pairs |= {(source, target) for source in sources for target in targets if source != target}
    return pairs


def measure(folder: Path, root: str, *, shows: bool) -> tuple[int, int, float, float]:
    """Return the numbers of expected and found links, recall and precision."""
    expected = expected_pairs(folder, root) | expected_outline_pairs(folder)
    with tempfile.TemporaryDirectory() as temporary:
        settings = Settings(store=StoreOptions(db=f"{temporary}/links.db"))
        with Engine(settings, embedder=ConstantEmbedder()) as engine:
            engine.index(folder)
            prefix = f"{folder.resolve().as_posix()}/".lstrip("/")
            found = {
                tuple(name.lstrip("/").removeprefix(prefix) for name in pair) for pair in found_pairs(engine)
            }  # fmt: skip
    if shows:
        for pair in sorted(expected - found):
            print("missing", *pair)
        for pair in sorted(found - expected):
            print("extra", *pair)
    hits = len(expected & found)
    return len(expected), len(found), hits / max(1, len(expected)), hits / max(1, len(found))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--root", action="append", default=[], metavar="FOLDER=PREFIX")
    parser.add_argument("--show", action="store_true", help="list missing and extra links")
    options = parser.parse_args()
    roots = ROOTS | dict(item.split("=", 1) for item in options.root)
    folders = options.folders or [data_folder() / "real" / name for name in ROOTS]
    print(f"{'corpus':20} {'expected':>8} {'found':>8} {'recall':>7} {'precision':>9}")
    for folder in folders:
        expected, found, recall, precision = measure(folder, roots.get(folder.name, ""), shows=options.show)
        print(f"{folder.name:20} {expected:8,} {found:8,} {recall:7.3f} {precision:9.3f}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
