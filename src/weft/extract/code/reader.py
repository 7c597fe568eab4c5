"""
Entities and relations of a source file, by its parsed syntax.

    click/core.py
    class Command(BaseCommand):   class click.core.Command           `inherits` click.core.BaseCommand
        def invoke(self, ctx):    method click.core.Command.invoke   `overrides` click.core.BaseCommand.invoke
            return ctx.invoke(…)                                     `calls` click.core.Context.invoke

Each entity has short names: `Command.invoke` and `invoke`. Each relation has the source line that states it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath

from weft.extract.code.code_keys import MAX_KEY_CHARACTERS, code_key
from weft.extract.code.code_relations import WEIGHTS, find_relations, is_test_file
from weft.extract.code.imports import Import, read_imports
from weft.extract.code.public_names import PUBLIC_REASON, public_names, read_all
from weft.extract.code.scopes import GLOBAL_NAMES, Scopes
from weft.extract.sentences import shorten
from weft.records import EXPORT_REASON, Candidate, Chunk, Document, Extraction, StatedRelation
from weft.text.code.module_names import module_name
from weft.text.code.project_paths import PATHS
from weft.text.code.syntax import MODULE_SCOPE, Definition, Syntax, has_parser, read_syntax

ALIAS_REASON = "short name in source code"
_PACKAGE_STEMS = frozenset({"__init__", "index", "mod", "lib"})
_QUOTES = "\"'/*!#- \t"


def _paths(document: Document) -> list[str]:
    """Return the import paths of the project of a file, as the loader found them."""
    entries = document.metadata.get(PATHS)
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []


def read_code(document: Document, chunks: Sequence[Chunk]) -> list[Extraction] | None:
    """
    Return one extraction per chunk of a source file.

    None without a grammar. A file that was refused, such as a minified one, has empty extractions.
    """
    if not has_parser(document):
        return None
    syntax = read_syntax(document)
    if syntax is None or not chunks:
        return [Extraction()] * len(chunks)
    return _Reader(document, syntax, chunks).read()


def _suffixes(module: str) -> list[str]:
    """Return the last two and three parts of a path."""
    parts = module.split("/")
    return ["/".join(parts[-size:]) for size in (2, 3) if size < len(parts)]


class _Reader:
    """State of the extraction of one source file."""

    def __init__(self, document: Document, syntax: Syntax, chunks: Sequence[Chunk]) -> None:
        self._syntax = syntax
        self._source = document.source
        self._is_test = is_test_file(document.source)
        self._lines = document.text.split("\n")
        self._starts = [chunk.start_line for chunk in chunks]
        package = next((item.text for item in syntax.captures if item.kind == "package"), "")
        self._module = "".join(package.split()) or module_name(document)
        stem = PurePosixPath(document.source).stem.removesuffix(".d")
        is_package = stem in _PACKAGE_STEMS and self._short_module() != stem
        self._exported = read_all(document.text) if syntax.grammar == "python" else None
        self._imports = read_imports(
            syntax, module=self._module, is_package=is_package, exported=self._exported, paths=_paths(document)
        )
        self._scopes = Scopes(
            syntax, module=self._module, is_package=is_package, imports=self._imports, is_test=self._is_test
        )
        self._candidates: list[dict[tuple[str, str], Candidate]] = [{} for _ in chunks]
        self._stated_relations: list[dict[tuple[str, str, str], StatedRelation]] = [{} for _ in chunks]
        self._docs = {item.scope: item.line for item in reversed(syntax.captures) if item.kind == "doc"}

    def read(self) -> list[Extraction]:
        """Return the extractions of the chunks."""
        if self._module:
            description = self._doc_line(self._docs[MODULE_SCOPE]) if MODULE_SCOPE in self._docs else ""
            self._propose(0, self._module, "module", description)
            self._alias(0, self._short_module(), self._module, ALIAS_REASON)
            if self._syntax.grammar in GLOBAL_NAMES:  # the path of a header below an include path
                for suffix in _suffixes(self._module):
                    self._alias(0, suffix, self._module, ALIAS_REASON)
        for index, definition in enumerate(self._syntax.definitions):
            if self._scopes.qualified[index] and definition.kind != "namespace" and not definition.is_continued:
                self._propose_definition(index, definition)
        for item in self._imports:
            if item.is_exported and item.name:
                exported = f"{self._module}.{item.name}"
                self._alias(self._chunk_at(item.line), exported, item.target, EXPORT_REASON)
            self._propose_package(item)
        self._read_default_exports()
        for relation in find_relations(
            self._syntax, self._scopes, self._imports, module=self._module, source=self._source
        ):
            self._stated_relation(relation.source, relation.target, relation.type, relation.line)
        return [
            Extraction(candidates=tuple(candidates.values()), stated_relations=tuple(stated_relations.values()))
            for candidates, stated_relations in zip(self._candidates, self._stated_relations, strict=True)
        ]

    def _propose_definition(self, index: int, definition: Definition) -> None:
        name = self._scopes.qualified[index]
        type = "method" if definition.kind == "method" else definition.kind
        first = self._chunk_at(definition.line)
        last = self._chunk_at(definition.last_line) if definition.kind != "class" else first
        description = self._describe(index, definition)
        for chunk in range(first, last + 1):
            self._propose(chunk, name, type, description if chunk == first else "")
        path = ".".join(definition.path)
        for short in dict.fromkeys((path, definition.name)):
            if not (short.startswith("__") and short.endswith("__")):
                self._alias(first, short, name, ALIAS_REASON)
        if not self._is_test:
            for public in public_names(
                definition, module=self._module, grammar=self._syntax.grammar, exported=self._exported
            ):
                self._alias(first, public, name, PUBLIC_REASON)

    def _propose_package(self, item: Import) -> None:
        """
        Propose the imported Python package of others, such as `requests`, as a link does.

        So it is an entity without a definition. If the corpus has a module of this name, the module is meant.
        """
        root = item.module.partition(".")[0]
        if self._syntax.grammar == "python" and root and root != self._module.partition(".")[0]:
            candidate = Candidate(key=code_key(root), name=root, kind="link", type="module")
            self._candidates[self._chunk_at(item.line)].setdefault((candidate.key, root), candidate)
            self._stated_relation(self._module, root, "imports", item.line)

    def _describe(self, index: int, definition: Definition) -> str:
        """Return the first line of the docstring or of the comment above a definition, else the definition's line."""
        if index in self._docs:
            return self._doc_line(self._docs[index])
        if definition.first_line < definition.line:
            comment = self._lines[definition.first_line - 1].strip()
            if comment.startswith(("#", "/", "*", "--")) and not comment.startswith("#["):
                return self._doc_line(definition.first_line)
        return self._lines[definition.line - 1].strip()

    def _doc_line(self, line: int) -> str:
        """Return the first line with words of a docstring or comment that begins on a line."""
        for text in self._lines[line - 1 : line + 2]:
            text = text.strip().removeprefix("r").removeprefix("f") if text.strip()[1:2] in "\"'" else text
            if plain := text.strip(_QUOTES):
                return plain
        return ""

    def _read_default_exports(self) -> None:
        for item in self._syntax.captures:
            if item.kind == "export" and "from" not in item.fields:
                name = item.fields.get("name")
                target = self._scopes.resolve(name, MODULE_SCOPE) if name else self._module  # without a name
                if target:
                    self._alias(self._chunk_at(item.line), f"{self._module}.default", target, EXPORT_REASON)

    def _short_module(self) -> str:
        return self._module.replace("/", ".").rpartition(".")[2]

    def _chunk_at(self, line: int) -> int:
        """Return the index of the chunk with a line."""
        return max(0, bisect_right(self._starts, line) - 1)

    def _propose(self, chunk: int, name: str, type: str, description: str) -> None:
        if len(name) > MAX_KEY_CHARACTERS:
            return
        key = code_key(name)
        candidate = Candidate(
            key=key, name=name, kind="definition", type=type, description=shorten(description), about=True
        )
        self._candidates[chunk].setdefault((key, name), candidate)

    def _alias(self, chunk: int, short: str, name: str, reason: str) -> None:
        if short and short != name and len(short) <= MAX_KEY_CHARACTERS >= len(name):
            key = code_key(short)
            self._candidates[chunk].setdefault(
                (key, name),
                Candidate(key=key, name=short, kind="abbreviation", alias_of=code_key(name), reason=reason),
            )

    def _stated_relation(self, source: str, target: str, type: str, line: int) -> None:
        if max(len(source), len(target)) > MAX_KEY_CHARACTERS or source == target:
            return
        stated = StatedRelation(
            source=code_key(source),
            target=code_key(target),
            type=type,
            weight=WEIGHTS[type],
            description=shorten(self._lines[line - 1].strip()),
        )
        self._stated_relations[self._chunk_at(line)].setdefault((source, target, type), stated)
