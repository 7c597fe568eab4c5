"""Renaming of rare words in a store, so that its graph stays the same."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator

import apsw

from weft.extract.names import iter_words, singular
from weft.graph.entity_resolution import letters
from weft.store.relational.graph.graph_write import GraphChanges
from weft.store.sqlite.session import SqliteSession
from weft.text.analyzer import terms

RARE = 8
"""Chunks that hold a word up to which it is taken for one of somebody's name, and changed."""

WORD = re.compile(r"([A-Za-z]+)")
_LETTERS = "bcdfghjklm"
_POSSESSIVE = ("", "'s", "’s", "'", "’")


class Renaming:
    """
    Replaces the ending of rare words in names.

    A word is kept if it also occurs in the plural, inside another word (`O'Brien`), shares a term with another word, or
    is part of a key with several spellings. A renamed name would otherwise be recognised differently.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self.rare = self._find()

    def suffix(self, copy: int) -> str:
        """Return the ending of rare words in a variant."""
        return "x" + _LETTERS[copy // 10 % 10] + _LETTERS[copy % 10] + _LETTERS[copy // 100] * (copy >= 100)

    def key(self, of: str, suffix: str) -> str:
        """Return a key with the endings of its rare words replaced."""
        return " ".join(word + suffix if word in self.rare else word for word in of.split(" "))

    def text(self, said: str, suffix: str) -> str:
        """Return a text with the endings of its rare words replaced."""
        return WORD.sub(lambda m: m[0] + suffix if m[0].lower() in self.rare else m[0], said)

    def changes(self, key: str) -> bool:
        """Return True if a key contains a rare word."""
        return not self.rare.isdisjoint(key.split(" "))

    def _find(self) -> set[str]:
        held = dict(self._db.execute("SELECT term, chunks FROM term"))
        keys = [key for (key,) in self._db.execute("SELECT key FROM name")]
        groups: dict[str, list[str]] = defaultdict(list)
        for key in keys:
            groups[letters(key)].append(key)
        several = {word for group in groups.values() if len(group) > 1 for key in group for word in key.split(" ")}
        rare = {word for key in keys for word in key.split(" ") if _is_plain(word)}
        rare = {word for word in rare if held.get(terms(word)[0], RARE + 1) <= RARE}
        return rare - several - self._find_ambiguous()

    def _find_ambiguous(self) -> set[str]:
        """Return the words that occur inside other words, in the plural, or share a term with other words."""
        found: set[str] = set()
        by_term: dict[str, set[str]] = defaultdict(set)
        seen: set[str] = set()
        for said in self._texts():
            for word in iter_words(said):
                raw = said[word.start : word.end]
                if raw in seen:
                    continue
                seen.add(raw)
                is_plain = word.text.isascii() and word.text.isalpha() and raw.lower().startswith(word.text)
                if not is_plain or raw[len(word.text) :] not in _POSSESSIVE:
                    found |= {word.text, singular(word.text), *(part.lower() for part in WORD.findall(raw))}
                if singular(word.text) != word.text:
                    found.add(singular(word.text))
                for term in terms(word.text):
                    by_term[term].add(word.text)
        return found.union(*(words for words in by_term.values() if len(words) > 1))

    def _texts(self) -> Iterator[str]:
        for title, heading, text in self._db.execute(
            "SELECT d.title, c.heading, unpack_text(c.text) FROM chunk AS c JOIN document AS d ON d.number = c.document"
        ):
            yield from (title, *json.loads(heading), text)


def _is_plain(word: str) -> bool:
    return len(word) > 3 and word.isascii() and word.isalpha() and singular(word) == word


def expect_variants(db: apsw.Connection, renaming: Renaming) -> None:
    """Set the counts of names that all variants share to their values after all variants are written."""
    suffix = renaming.suffix(1)
    beyond = db.execute("SELECT max(document) + 1 FROM candidate").get
    votes = [
        (chunk, document + beyond, number, place + beyond, code, vote, rank, renaming.key(alias, suffix), reason)
        for chunk, document, number, place, code, vote, rank, alias, reason, key in db.execute(
            "SELECT chunk, document, n.key, place, code, vote, rank, alias_of, reason, w.key FROM candidate AS n"
            " JOIN name AS w ON w.number = n.key"
        )
        if not renaming.changes(key)
    ]
    db.pragma("foreign_keys", True)
    with db:
        db.executemany(
            "INSERT INTO candidate (namespace, chunk, document, origin, key, place, name, code, vote, rank, type,"
            " description, about, alias_of, reason, extractor)"
            " VALUES (1, ?, ?, '~', ?, ?, '', ?, ?, ?, '', '', 0, ?, ?, '')",
            votes,
        )
        changes = GraphChanges(SqliteSession(db, indexes=None), namespace=1, name="default")
        changes.touch(key for (key,) in db.execute("SELECT key FROM name") if not renaming.changes(key))
        changes.settle()
        db.execute("DELETE FROM candidate WHERE origin = '~'")
    db.pragma("foreign_keys", False)
