r"""
Text and links of the inline markup of reStructuredText.

| written | text | address, kind |
| --- | --- | --- |
| ``:doc:`Pods <../pods>` ``, ``:doc:`/api/pods` `` | Pods, api/pods | `../pods.rst`, `/api/pods.rst` |
| ``:ref:`the limits <limits>` ``, ``:ref:`limits` `` | the limits, limits | `limits`, label |
| ``:meth:`~flask.Flask.run` `` | `` `run` `` | `py:flask.Flask.run`, name |
| ``:setting:`DEBUG` `` and any other role | `` `DEBUG` `` | `setting:DEBUG`, name |
| ``:pep:`8` ``, ``:rfc:`2616` `` | PEP 8, RFC 2616 | `record:pep-8`, name |
| `` `Pods <pods.html>`_ ``, `Pods_` | Pods | `pods.html`, the address of its target |
| ``` ``x`` ```, `**x**`, `\|version\|` | `` `x` ``, `**x**`, the replacement | |

Line breaks stay, so that each line of the text has a line of the source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from docutils import nodes

from weft.load.restructuredtext.tree import Role
from weft.records import PageLink
from weft.text.links import as_document_address

MAX_LINKS = 5000
"""Links kept of one page."""
MAX_ADDRESS_CHARACTERS = 1000
MAX_LABEL_CHARACTERS = 300
MAX_DEPTH = 3
"""Replacements within each other."""
MAX_REPLACED = 8
"""Nodes kept of one replacement."""

CODE_ROLES = frozenset(
    "attr attribute class concept const data decorator deco enum enumerator exc exception expr func function macro "
    "member meth method mod module namespace obj property struct type types union var".split()
)
_LABELS = frozenset({"ref", "numref", "any"})
_RECORDS = frozenset({"pep", "rfc"})
_STYLES = {"emphasis": "*", "em": "*", "strong": "**", "literal": "`", "code": "`", "math": "$"}
_PLAIN = frozenset(
    "sub subscript sup superscript title title-reference t abbr abbreviation acronym dfn small raw".split()
)
_SHOWN_AS_CODE = frozenset("command file program samp envvar option setting kbd mimetype regexp makevar dict".split())
_IDENTIFIER = re.compile(r"[\w./:@*#+$-]*[\w/)*](?:\(\))?")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_SHORTCUT = re.compile(r"^@-?(?=[A-Za-z_])")
"""Mark before a name of the documented application: ``:attr:`@-Task.name` ``."""


class Inline:
    """Renders the children of text elements; collects the links of the page."""

    def __init__(
        self, addresses: Mapping[str, str], replacements: Mapping[str, Sequence[nodes.Node]], *, suffix: str
    ) -> None:
        self._addresses = addresses
        """Addresses of named targets: `.. _Pods: pods.html`."""
        self._replacements = replacements
        self.suffix = suffix
        """Extension of the documents of the tree, which links to documents leave out."""
        self.links: list[PageLink] = []
        self._parts: list[str] = []
        self._line = 1
        self._depth = 0
        self._is_plain = False

    def render(self, element: nodes.Element, *, line: int, is_plain: bool = False) -> str:
        """Return the text of an element that begins on a line; `is_plain` leaves out marks of code and emphasis."""
        self._parts, self._line, self._is_plain = [], line, is_plain
        for child in element.children:
            self._add(child)
        return "".join(self._parts)

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._line += text.count("\n")

    def _add(self, node: nodes.Node) -> None:
        match node:
            case nodes.Text():
                self._write(node.astext())
            case Role():
                self._role(node["name"], node["content"])
            case nodes.reference():
                self._reference(node)
            case nodes.literal():
                self._write(self._marked(node.astext(), "`"))
            case nodes.strong() | nodes.emphasis():
                self._write(self._marked(node.astext(), "**" if isinstance(node, nodes.strong) else "*"))
            case nodes.substitution_reference():
                self._replace(node)
            case nodes.footnote_reference() | nodes.citation_reference():
                label = node.astext()
                self._write(f"[{label}]" if label else "")
            case nodes.image() | nodes.system_message():
                pass
            case nodes.Element():
                self._write(node.astext())

    def _marked(self, text: str, mark: str) -> str:
        if self._is_plain or not text.strip():
            return text
        if mark == "`" and "`" in text:
            return f"`` {text} ``" if "``" not in text else text
        return f"{mark}{text}{mark}"

    def _link(self, address: str, label: str, kind: str = "") -> None:
        if address and len(address) <= MAX_ADDRESS_CHARACTERS and len(self.links) < MAX_LINKS:
            shown = " ".join(label.split())[:MAX_LABEL_CHARACTERS]
            self.links.append(PageLink(self._line, address, shown, kind))

    # ── roles ───────────────────────────────────────────────────────────────────────────────────

    def _role(self, written: str, content: str) -> None:
        role = written.rpartition(":")[2]
        if role in _STYLES or role in _PLAIN:
            self._write(content if role in _PLAIN else self._marked(content, _STYLES[role]))
            return
        title, bracket, inner = content.rpartition("<")
        title = title.rstrip() if bracket and content.rstrip().endswith(">") else ""
        target = inner.rstrip()[:-1] if title else content.strip("<> ")
        shown = content.count("\n") - title.count("\n") if title else 0
        bare = " ".join(target.split())
        bare = _SHORTCUT.sub("", bare)
        if bare.startswith("!"):  # no link
            bare, role = bare[1:], f"!{role}"
        text = title or self._role_text(role, bare, content)
        self._role_link(role, bare, text)
        self._write(text + "\n" * max(0, shown))

    def _role_text(self, role: str, target: str, content: str) -> str:
        if role in _RECORDS:
            return f"{role.upper()} {target.partition('#')[0]}"
        if role == "doc":
            return target.strip("/")
        if role in CODE_ROLES or role.removeprefix("!") in CODE_ROLES:
            name = target.lstrip(".")
            return self._marked(name[1:].rpartition(".")[2] if name.startswith("~") else name, "`")
        if role in ("", "term", *_LABELS) or not (role in _SHOWN_AS_CODE or _IDENTIFIER.fullmatch(target)):
            name = content.lstrip("~!.") if role == "" else content
            is_code = role == "" and ("." in name or "(" in name or "_" in name) and _IDENTIFIER.fullmatch(name)
            return self._marked(name, "`") if is_code else name
        return self._marked(target.lstrip("~"), "`")

    def _role_link(self, role: str, target: str, text: str) -> None:
        label = text.strip("`")
        if role.startswith("!") or not target:
            return
        if role == "doc":
            self._link(as_document_address(target, suffix=self.suffix), label)
        elif role == "download":
            self._link(target, label)
        elif role in _LABELS:
            self._link(target, label, "label")
        elif role in _RECORDS:
            number = target.partition("#")[0].strip()
            self._link(f"record:{role}-{int(number)}" if number.isdecimal() else "", label, "name")
        elif role in CODE_ROLES or role == "":
            name = target.lstrip("~.").removesuffix("()").replace("::", ".")
            if _NAME.fullmatch(name) and (role or "." in name or target[:1] in "~."):
                self._link(f"py:{name}", label, "name")
        else:
            self._link(f"{role}:{target.lstrip('~')}", label, "name")

    # ── references ──────────────────────────────────────────────────────────────────────────────

    def _reference(self, node: nodes.reference) -> None:
        address = node.get("refuri", "")
        if not address and (name := node.get("refname", "")):
            address = self._addresses.get(name, "")
        text = node.astext()
        label = "" if text == address else text
        if address and not address.startswith("mailto:"):
            self._link("".join(address.split()), label)
        for child in node.children:
            self._add(child)
        self._write("\n" * max(0, node.rawsource.count("\n") - text.count("\n")))

    def _replace(self, node: nodes.substitution_reference) -> None:
        name = node.astext()
        found = self._replacements.get(name)
        if found is None or self._depth >= MAX_DEPTH:
            self._write(name)
            return
        self._depth += 1
        for child in found[:MAX_REPLACED]:
            self._add(child)
        self._depth -= 1
