"""
Questions about relations: are the lists complete, exact and first?

    python benchmarks/real/relations.py [--show]

60 questions: 20 on links of two documentation trees below `$WEFT_DATA/real`, 20 on two installed packages, and 20 on
two packages that were not looked at while the feature was built. The expected answers come from the link reader of
`links.py` and from `ast`; nothing of `weft.extract` is used. A list is complete if it holds every expected thing.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, make_parser
from links import ROOTS, ConstantEmbedder, expected_pairs

from weft import Engine
from weft.config import Settings, StoreOptions

PACKAGES = {"click": "built with", "jinja2": "built with", "starlette": "held out", "requests": "held out"}
QUESTIONS = {"k8s-concepts": 14, "notes-blue-book": 6}
"""Number of questions on links; a package has ten."""


class Case(NamedTuple):
    """A question with the names or sources of all related things."""

    question: str
    expected: frozenset[str]


# ── source code ─────────────────────────────────────────────────────────────────────────────────


class Package:
    """Modules, definitions, imports, base classes and calls of a package, by `ast`."""

    def __init__(self, folder: Path) -> None:
        self.modules: dict[str, ast.Module] = {}
        self.is_package: set[str] = set()
        for path in sorted(folder.rglob("*.py")):
            parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.modules[name] = ast.parse(path.read_text("utf-8"))
            self.is_package |= {name} if parts[-1] == "__init__" else set()
        self.bindings = {module: dict(self._bindings(module)) for module in self.modules}
        self.defined = {module: dict(self._defined(tree.body, module)) for module, tree in self.modules.items()}

    def _bindings(self, module: str) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.modules[module]):
            if isinstance(node, ast.Import):
                for item in node.names:
                    yield (
                        item.asname or item.name.partition(".")[0],
                        item.name if item.asname else item.name.partition(".")[0],
                    )
            elif isinstance(node, ast.ImportFrom):
                for item in node.names:
                    yield item.asname or item.name, f"{self._origin(node, module)}.{item.name}"

    def _origin(self, node: ast.ImportFrom, module: str) -> str:
        if not node.level:
            return node.module or ""
        parts = module.split(".")
        kept = parts[: len(parts) - node.level + (module in self.is_package)]
        return ".".join([*kept, *([node.module] if node.module else [])])

    def _defined(self, body: Sequence[ast.stmt], owner: str) -> Iterator[tuple[str, ast.AST]]:
        for node in body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node
            elif isinstance(node, (ast.If, ast.Try)):
                yield from self._defined(node.body, owner)
                yield from self._defined(node.orelse, owner)

    def resolve(self, name: str, *, depth: int = 5) -> str:
        """Return the module or definition that a dotted name stands for, through re-exports; empty if it is foreign."""
        if name in self.modules:
            return name
        module, _, last = name.rpartition(".")
        if module not in self.modules or not depth:
            return ""
        if last in self.defined[module]:
            return name
        target = self.bindings[module].get(last, "")
        return self.resolve(target, depth=depth - 1) if target and target != name else ""

    def target(self, node: ast.expr, module: str) -> str:
        """Return what a name or attribute in a module stands for."""
        if isinstance(node, ast.Name):
            return self.resolve(f"{module}.{node.id}")
        if isinstance(node, ast.Attribute) and (owner := self.target(node.value, module)) in self.modules:
            return self.resolve(f"{owner}.{node.attr}")
        return ""

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield (module, imported module)."""
        for module, tree in self.modules.items():
            for node in ast.walk(tree):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [item.name for item in node.names]
                elif isinstance(node, ast.ImportFrom):
                    origin = self._origin(node, module)
                    names = [origin, *(f"{origin}.{item.name}" for item in node.names)]
                yield from ((module, name) for name in names if name in self.modules and name != module)

    def bases(self) -> Iterator[tuple[str, str]]:
        """Yield (class, base class)."""
        for module, defined in self.defined.items():
            for name, node in defined.items():
                for base in node.bases if isinstance(node, ast.ClassDef) else ():
                    if target := self.target(base, module):
                        yield f"{module}.{name}", target

    def calls(self) -> Iterator[tuple[str, str]]:
        """Yield (function, method or module; called function) of calls by name."""
        for module, tree in self.modules.items():
            yield from self._calls(tree, module, module, frozenset())

    def _calls(self, node: ast.AST, owner: str, module: str, local: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Yield the calls below a node. A nested function belongs to the function or method around it."""
        for child in ast.iter_child_nodes(node):
            inner, names = owner, local
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for decorator in child.decorator_list:
                    yield from self._calls(ast.Expr(decorator), owner, module, local)
                child.decorator_list = []
                if isinstance(node, (ast.Module, ast.ClassDef, ast.If, ast.Try)):
                    inner = f"{owner}.{child.name}"
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = local | {each.arg for each in ast.walk(child.args) if isinstance(each, ast.arg)}
            if isinstance(child, ast.Call) and not (isinstance(child.func, ast.Name) and child.func.id in local):
                target = self.target(child.func, module)
                if target and target not in self.modules and target != owner:
                    yield owner, target
            yield from self._calls(child, inner, module, names)


def code_cases(folder: Path) -> list[Case]:
    """Return ten questions on a package: those with the longest answers of each kind."""
    package = Package(folder)
    kinds = (
        ("Which modules import `{}`?", _by_target(package.imports()), 3),
        ("Which classes inherit from `{}`?", _by_target(package.bases()), 3),
        ("Who calls `{}`?", _by_target(package.calls()), 4),
    )
    cases = []
    for form, answers, number in kinds:
        longest = sorted(answers.items(), key=lambda item: (-len(item[1]), item[0]))
        cases += [Case(form.format(name), frozenset(found)) for name, found in longest[:number]]
    return cases


def _by_target(pairs: Iterator[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for source, target in pairs:
        found[target].add(source)
    return found


# ── links ───────────────────────────────────────────────────────────────────────────────────────


def link_cases(folder: Path, engine: Engine) -> list[Case]:
    """Return questions on pages with a title of their own, evenly spread from the most linked one on."""
    found = _by_target(iter(expected_pairs(folder, ROOTS[folder.name])))
    titles: dict[str, list[str]] = defaultdict(list)
    for document in engine.documents():
        titles[document.title].append(document.source)
    own = [(title, sources[0]) for title, sources in titles.items() if len(sources) == 1]
    linked = [(title, expected) for title, source in own if (expected := _at(source, found)) and len(expected) > 1]
    linked.sort(key=lambda item: (-len(item[1]), item[0]))
    number = QUESTIONS[folder.name]
    step = max(1, len(linked) // number)
    return [Case(f"Which pages link to {title}?", frozenset(found)) for title, found in linked[::step][:number]]


def _at(source: str, found: dict[str, set[str]]) -> set[str]:
    return next((pages for page, pages in found.items() if source.endswith(f"/{page}") or source == page), set())


# ── measures ────────────────────────────────────────────────────────────────────────────────────


def measure(folder: Path, *, shows: bool) -> tuple[int, float, float, float]:
    """Return the number of questions, the share of complete lists, the mean precision and hit@1."""
    complete = first = 0
    precision = 0.0
    with tempfile.TemporaryDirectory() as temporary:
        settings = Settings(store=StoreOptions(db=f"{temporary}/relations.db"))
        with Engine(settings, embedder=ConstantEmbedder()) as engine:
            engine.index(folder)
            is_code = folder.name in PACKAGES
            cases = code_cases(folder) if is_code else link_cases(folder, engine)
            for case in cases:
                answer = engine.query(case.question).relations
                items = answer.items if answer else ()
                shown = [item.name if is_code else item.citation.rpartition(":")[0] for item in items]
                right = [name for name in shown if _is_expected(name, case.expected)]
                missing = [name for name in case.expected if not any(_is_expected(n, {name}) for n in shown)]
                complete += not missing
                first += bool(shown) and shown[0] in right
                precision += len(right) / max(1, len(shown))
                if shows and (missing or len(right) < len(shown)):
                    print(case.question, "missing", sorted(missing), "extra", sorted(set(shown) - set(right)))
    count = len(cases)
    return count, complete / count, precision / count, first / count


def _is_expected(name: str, expected: frozenset[str] | set[str]) -> bool:
    return any(name == other or name.endswith((f".{other}", f"/{other}")) for other in expected)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--show", action="store_true", help="list missing and extra things")
    options = parser.parse_args()
    trees = [data_folder() / "real" / name for name in ("k8s-concepts", "notes-blue-book")]
    packages = [Path(str(importlib.util.find_spec(name).origin)).parent for name in PACKAGES]  # type: ignore[union-attr]
    print(f"{'corpus':16} {'':10} {'questions':>9} {'complete':>8} {'precision':>9} {'hit@1':>6}")
    for folder in (*trees, *packages):
        count, complete, precision, first = measure(folder, shows=options.show)
        role = PACKAGES.get(folder.name, "links")
        print(f"{folder.name:16} {role:10} {count:9} {complete:8.2f} {precision:9.2f} {first:6.2f}", flush=True)


if __name__ == "__main__":
    main()
