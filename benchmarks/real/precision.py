"""
Precision of extracted entities and typed relations on real corpora, judged by labels kept in `labels/`.

    python benchmarks/real/precision.py                          all corpora
    python benchmarks/real/precision.py --corpus k8s-concepts --list     also print the unlabelled items
    python benchmarks/real/precision.py --folder docs --name my-docs     another folder, with labels of its own
    python benchmarks/real/precision.py --recall                 share of the Kubernetes glossary among the entities

Each corpus is indexed without an embedder. One hundred entities and one hundred typed relations are drawn from the
store, or all if there are fewer. Relations of the types `mentions`, `co_occurs_with` and `links_to` are left out.
An item is drawn by a hash of its text, so that a change of the rules keeps the labels of all items that remain.

A right entity is something that a reader would look up by this name, with the right type if it has one.
A right relation is stated by the corpus. `labels/CORPUS.jsonl` contains one label with its reason per line.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, make_parser

from weft import Engine, open_engine
from weft.extract.mentions import DERIVED_TYPES
from weft.extract.names import name_key
from weft.records import Entity, Relation

PROJECT = Path(__file__).resolve().parents[2]
LABELS = Path(__file__).with_name("labels")
CORPORA = ("k8s-concepts", "vue-guide-zh", "notes-blue-book", "sample")
GLOSSARY = "content/en/docs/reference/glossary"
LEFT_OUT_TYPES = (*DERIVED_TYPES, "links_to")
DRAWN_ITEMS = 100
MIN_PAGES = 3
PAGE_SIZE = 1000
SEED = "20261117"


@dataclass(frozen=True, slots=True)
class Item:
    """An extracted entity or relation, with the text that helps to judge it."""

    kind: str
    text: str
    note: str


def corpus_folder(name: str) -> Path:
    """Return the folder of a corpus: the sample of the project, or a folder below $WEFT_DATA/real."""
    if name == "sample":
        return PROJECT / "examples" / "corpus"
    return data_folder() / "real" / name


def read_labels(name: str) -> dict[tuple[str, str], bool]:
    """Return the labels of a corpus by kind and item."""
    path = LABELS / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    labels = [json.loads(line) for line in lines]
    return {(label["kind"], label["item"]): label["right"] for label in labels}


def iter_entities(engine: Engine) -> Iterator[Entity]:
    """Yield all entities of a store by key."""
    page = engine.store.graph.entities_after("", limit=PAGE_SIZE)
    while page:
        yield from page
        page = engine.store.graph.entities_after(page[-1].key, limit=PAGE_SIZE)


def read_entities(engine: Engine) -> list[Item]:
    """Return the entities as items: `Name`, or `Name [type]`."""
    return [
        Item("entity", f"{entity.name} [{entity.type}]" if entity.type else entity.name, entity.description[:160])
        for entity in iter_entities(engine)
    ]


def read_relations(engine: Engine) -> list[Item]:
    """Return the typed relations as items: `Source | type | Target`."""
    names = {entity.id: entity.name for entity in iter_entities(engine)}
    graph = engine.store.graph
    found: dict[tuple[str, str, str], Relation] = {}
    for id in names:
        for relation in graph.relations_of([id], limit=100_000):
            if relation.type not in LEFT_OUT_TYPES:
                found[relation.source_id, relation.target_id, relation.type] = relation
    return [
        Item("relation", f"{names[r.source_id]} | {r.type} | {names[r.target_id]}", r.description)
        for r in graph.describe(list(found.values()))
    ]


def draw(items: Sequence[Item]) -> list[Item]:
    """Return `DRAWN_ITEMS` items with the smallest hashes."""
    distinct = {item.text: item for item in items}.values()
    return sorted(distinct, key=lambda item: hashlib.sha256(f"{SEED}{item.text}".encode()).digest())[:DRAWN_ITEMS]


def index(folder: Path, *, to: Path, exclude: Sequence[str] = ()) -> Engine:
    """Return an engine on a new store that contains the folder."""
    engine = open_engine(to, embedder="none", load_exclude=list(exclude))
    engine.index(folder)
    return engine


def judge(name: str, items: Sequence[Item], *, total: int, shows_unlabelled: bool) -> tuple[bool, bool]:
    """Print the precision of the drawn items; return True if it is at least 0.90, and True if all are labelled."""
    labels = read_labels(name)
    known = [labels[item.kind, item.text] for item in items if (item.kind, item.text) in labels]
    share = f"{sum(known) / len(known):.2f}" if known else "–"
    kind = items[0].kind if items else "item"
    print(f"{name:18} {kind:9} precision {share}, {len(known)} of {len(items)} drawn labelled, {total} in the store")
    for item in items if shows_unlabelled else ():
        if (item.kind, item.text) not in labels:
            print(json.dumps({"kind": item.kind, "item": item.text, "note": item.note}, ensure_ascii=False))
    return not known or sum(known) >= 0.9 * len(known), len(known) == len(items)


def measure_precision(name: str, folder: Path, *, shows_unlabelled: bool) -> bool:
    """Print the precision of entities and relations of a corpus; return True if both are at least 0.90."""
    with tempfile.TemporaryDirectory() as temporary, index(folder, to=Path(temporary) / "weft.db") as engine:
        results = []
        for items in (read_entities(engine), read_relations(engine)):
            passed, _ = judge(name, draw(items), total=len(items), shows_unlabelled=shows_unlabelled)
            results.append(passed)
    return all(results)


# ── recall of a glossary ────────────────────────────────────────────────────────────────────────


def read_glossary(folder: Path) -> list[str]:
    """Return the titles of the glossary pages."""
    titles = (re.search(r"^title:\s*(.+)$", page.read_text(encoding="utf-8"), re.M) for page in folder.glob("*.md"))
    return sorted({title[1].strip().strip("\"'") for title in titles if title})


def measure_recall() -> bool:
    """Print the share of glossary terms in at least `MIN_PAGES` concept pages that are entities of these pages."""
    folder = corpus_folder("k8s-concepts")
    pages = [
        f" {name_key_text(page.read_text(encoding='utf-8'))} "
        for page in folder.rglob("*.md")
        if GLOSSARY not in page.as_posix()
    ]
    keys = {term: name_key(term) for term in read_glossary(folder / GLOSSARY)}
    terms = [
        term
        for term, key in keys.items()
        if sum(f" {key} " in page or f" {key}s " in page for page in pages) >= MIN_PAGES
    ]
    with (
        tempfile.TemporaryDirectory() as temporary,
        index(folder, to=Path(temporary) / "weft.db", exclude=["glossary"]) as engine,
    ):
        known = engine.store.graph.find_entities([keys[term] for term in terms])
    missing = [term for term in terms if keys[term] not in known]
    recall = 1 - len(missing) / len(terms)
    print(
        f"{len(terms)} glossary terms in {MIN_PAGES} or more pages: recall {recall:.2f}; missing: {', '.join(missing)}"
    )
    return recall >= 0.85


def name_key_text(text: str) -> str:
    """Return a text as folded words with single spaces."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def main() -> int:
    """Run the benchmark; return 1 if a precision or recall is too low."""
    parser = make_parser(__doc__)
    parser.add_argument("--corpus", action="append", choices=CORPORA)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--name", default="other")
    parser.add_argument("--list", action="store_true", help="print the unlabelled items")
    parser.add_argument("--recall", action="store_true")
    arguments = parser.parse_args()
    if arguments.recall:
        return 0 if measure_recall() else 1
    if arguments.folder:
        corpora = {arguments.name: arguments.folder}
    else:
        corpora = {name: corpus_folder(name) for name in arguments.corpus or CORPORA}
    results = [measure_precision(name, folder, shows_unlabelled=arguments.list) for name, folder in corpora.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
