"""
Names in a text that are no entities: code words, labels, placeholders, variables of examples.

| text | no entity |
| --- | --- |
| `` Set `name` to `False`. `` | `name`, `False`: plain words of code; `storageClassName` is a name |
| `- **Easy to Learn:** Vue has …`, `Next Steps: …` | `Easy to Learn`, `Next Steps`: labels |
| `Status: [Draft or Final]`, `<Your Name>` | placeholders |
| `the so-called "happy path"` | a quoted text in lower case |
| `Bob`, `` `do_something` ``, `` `cityId` `` in a text with code | names of examples |
| `` `todoId` `` beside a code block with `const todoId = …` | a variable of an example |
| `Click **New password**, then **Done**.` | `New password`, `Done`: labels of a user interface |
| `Password`, `Failure Mode` in a page with `password`, `failure modes` | common words |
| `Existing` in `Existing JSON files` in a page with `existing` | the first word of a sentence |
| `the Reasoning section`, `Kelly, D. (2011)` | a section, the surname of a citation |
| `T_1`, `100Mi`, `a=b` | symbols, quantities, expressions |
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from weft.extract.entity_types import entity_type
from weft.extract.lexicon import CODE_WORDS, PARAMETERS, SMALL_WORDS, word_set
from weft.extract.links.addresses import is_file
from weft.extract.names import name_key
from weft.extract.phrases import Name, is_identifier
from weft.extract.sentences import Sentence
from weft.text.markdown.blocks import Page
from weft.text.normalise import CJK

MAX_DECLARED_CHARACTERS = 200_000
"""Maximum number of characters of the code of a document in which declarations are searched."""
MIN_QUOTED_CHINESE = 3
"""Minimum number of characters of a Chinese name in quotation marks; shorter ones are stressed words."""

_DECLARED = re.compile(
    r"\b(?:const|let|var|val|def|function|fn|func|class|interface|type|struct|enum)\s+(?:\{\s{0,4})?([A-Za-z_$][\w$]*)"
    r"|^[ \t]*([a-z_][\w]*)\s{0,4}=(?![=>])"
    r"|\bfor\s+([a-z_]\w*)\s+in\b",
    re.MULTILINE,
)
_INSTRUCTION = re.compile(
    r"\b(?:click|double-click|right-click|select|choose|tap|press|hit|toggle|scroll|drag|hover|check|uncheck|expand"
    r"|(?:go|navigate|switch) to|turn (?:on|off)|enable|disable|open|under)(?=[ \u00a0])"
    r"|\b(?:button|checkbox|dialog|drop-?down|menu|pane|panel|setting|sidebar|tab|toolbar)s?\b"
    r"|点击|单击|选择|打开|按钮|菜单|选项卡|勾选",
    re.IGNORECASE,
)
"""Words beside a bold text that make it the label of a control."""
_PRESS = re.compile(
    r"\b(?:click|tap|press|select|choose|hit)(?:ing|s)?(?: (?:on|the))?[ \u00a0][\"“‘'*]?$", re.IGNORECASE
)
_CONTROL = re.compile(
    r"[\"”’'*]?[ \u00a0](?:button|checkbox|dialog|drop-?down|icon|menu|option|pane|setting|tab|toggle)s?\b",
    re.IGNORECASE,
)
_ZH_CONTROL = re.compile(r"(?:按钮|开关|菜单|选项卡|复选框|下拉框) ?[（(「“]?$")
_SECTION_AFTER = re.compile(r"[\"”’'*]?[ \u00a0](?:sub)?(?:section|chapter|appendix|heading)s?\b")
_SECTION_BEFORE = re.compile(r"\b(?:section|chapter|appendix|heading) [\"“‘'*]?$")
_INITIALS = re.compile(r", (?:[A-Z]\.[ -]?){1,3}(?=[,&;(]| and | et )")
_SURNAME = r"[^\W\d_a-z][\w'’-]{0,30}"
_CITATION = re.compile(
    rf"(?:(?:see|cf\.|e\.g\.),? )?{_SURNAME}(?:(?:, and|,| and| &| et al\.,?) ?(?:{_SURNAME})?){{0,6}}"
    r",? ?(?:19|20)\d\d[a-z]?(?:[,:] ?(?:pp?\. ?)?[\d–-]{1,12})?"
)
_SURNAME_BEFORE = re.compile(r"(?:^|\band )[^\W\d_a-z][\w' -]{1,30}, $")
_SURNAME_AFTER = re.compile(r" and [^\W\d_a-z][\w' -]{1,30}, [^\W\d_a-z]")
_MENU_PATH = re.compile(r"[→›»▸>]")
_REPLACED = re.compile(
    r"\b(?:replac|substitut)\w{1,3} ?$|\b(?:replace|substitute) (?:the |each )?[\"“`]?$", re.IGNORECASE
)
_LOWER_WORD = re.compile(r"(?<![\w`./@#-])[a-z]{3,}(?![\w`])")
MAX_WORDS_CHARACTERS = 400_000
"""Characters of a page in which common words are looked for."""
_IMPORTANT = ("image", "link", "strong", "wikilink")
_NOISE = re.compile(r"[=<>{}|\\^~;*`∀∃∈∧∨∩∪≠≤≥⊂⊆⊢]|\[\[|\]\]|[(\[,]$|://")
_QUANTITY = re.compile(r"[\d.]+[A-Za-z%]{0,3}")
_EXAMPLE = re.compile(
    r"(?:[Mm]y|[Yy]our|[Ff]oo|[Bb]ar|[Bb]az|[Ee]xample|[Dd]emo|[Ss]ample|[Ss]ome)(?:[A-Z_.-]|$)"
    r"|[Dd]o_?(?:[Ss]omething|[Ss]tuff)|[a-z]{2,20}(?:Id|_id)s?$"
    r"|(?:demo|sample|test)(?:[-_][a-z]{1,20}){0,2}[-_]?\d{1,3}$|(?:another|other|some)_|[a-z]\.[a-z]{1,4}$|(?:data|file|input|log|out|output|test)\.(?:csv|dat|json|log|txt)$"
)
"""Name that examples use: `MyComponent`, `foo-bar`, `do_something`, `cityId`, `other_router`, `a.py`, `log.txt`."""
_EXAMPLE_PERSONS = word_set("alice bob carol charlie dave eve mallory foo bar baz qux acme")
_EXAMPLE_TITLES = word_set("example link name note page wikilink")
"""Titles that pages use to show how a wikilink is written: `[[Example]]`."""
_SYMBOL = re.compile(r"[A-Za-z]{1,2}_\{?\w{1,2}")
_LABEL_END = re.compile(r"\s?(?:[:：]|[–—](?=\s)|-\s)")
_CJK = re.compile(f"[{CJK}]")
_STRESS_MARKS = ('"', "“")
"""Quotation marks that may stress a word; `《》` and `「」` contain names."""
_EDGES = "/.$@:_-#?!&+"
_DATA_TYPES = word_set(
    "string number integer boolean value list array map dict dictionary object field parameter flag name path id text "
    "column key callback argument option variable property attribute function method type index identifier"
)
_VALUE_TYPES = word_set("string number integer boolean array object parameter argument flag")
_LICENCES = re.compile(
    r"(?:^|.*[/\\])(?:licen[cs]es?|copying)(?:[-.][\w-]*)?(?:\.(?:md|txt|rst|html))?$",
    re.IGNORECASE,
)


def is_excluded(name: Name, sentence: Sentence) -> bool:
    """Return True if a name in a sentence is no entity, by its spelling or position."""
    if name.kind == "link":
        word = name.text.lower()
        return word in PARAMETERS or word in CODE_WORDS or word in _EXAMPLE_TITLES or is_file(name.text)
    is_code = name.kind == "identifier" and (is_plain_code(name.text) or _EXAMPLE.match(name.text))
    if is_noise(name.text) or is_code:
        return True
    if (
        name.kind == "quoted"
        and sentence.text[name.start : name.start + 1] in _STRESS_MARKS
        and _is_stressed(name.text)
    ):
        return True
    if name.kind == "quoted" and name.text.startswith(("-", "/")):  # `the option "-k 1.3"`, a path
        return True
    if name.kind == "identifier" and _REPLACED.search(sentence.text, max(0, name.start - 20), name.start):
        return True  # `replace VERSION with the latest one`
    return name.kind in ("phrase", "quoted", "term") and (
        _is_label(name, sentence) or _is_placeholder(name, sentence) or _is_control(name, sentence)
    )


def is_example(name: Name) -> bool:
    """Return True if a single capitalised word of a technical text is a name that examples use: `Bob`, `Acme`."""
    return name.kind in ("phrase", "quoted") and name.text.lower() in _EXAMPLE_PERSONS


def common_words(page: Page) -> frozenset[str]:
    """Return the words in lower case in the text of a page, without code."""
    text = "\n".join(page.prose_lines())[:MAX_WORDS_CHARACTERS]
    return frozenset(_LOWER_WORD.findall(text))


def is_common_word(name: Name, words: Collection[str], page: str) -> bool:
    """
    Return True if a page also writes a name in lower case; `words` are its words in lower case.

    `Password`, `Alternative 1`, `Failure Mode` in a page with `password`, `alternative` and `failure modes`.
    """
    text = name.text
    if name.kind not in ("phrase", "quoted") or not text.istitle():
        return False
    if text.isalpha():
        return text.lower() in words
    *parts, last = text.lower().split()
    if last.isdigit():
        return len(parts) == 1 and parts[0] in words
    is_known = all(part in words or part in SMALL_WORDS for part in (*parts, last))
    return bool(parts) and is_known and text.lower() in page


def without_opener(name: Name, words: Collection[str], sentence: Sentence) -> Name:
    """Return a phrase without the common word at the start of its sentence: `Jobs` of `Existing Jobs run`."""
    first, space, rest = name.text.partition(" ")
    if name.kind != "phrase" or not space or name.start > 0 or not (first.istitle() and first.lower() in words):
        return name
    is_name = " " in rest or not rest.istitle()  # `JSON` of `New JSON`
    return replace(name, text=rest, start=name.start + len(first) + 1) if is_name and rest[:1].isupper() else name


def is_instruction(text: str) -> bool:
    """Return True if a sentence speaks of the controls of a program, whose labels are bold."""
    return _INSTRUCTION.search(text) is not None


def is_noise(name: str) -> bool:
    """Return True if a name is an expression, a quantity, a symbol or a literal: `a=b`, `100Mi`, `T_1`, `False`."""
    bare = name.strip(_EDGES)
    if _NOISE.search(name) or _QUANTITY.fullmatch(bare) or _SYMBOL.fullmatch(bare):
        return True
    return bare.lower() in CODE_WORDS


def is_plain_code(name: str) -> bool:
    """Return True if a piece of code is a plain word, with or without a path mark: `name`, `Never`, `/apis`."""
    bare = re.sub(r"^(?:this|self)\.", "", name).strip(_EDGES)
    return bare.isalpha() and (bare.islower() or bare.istitle())


def is_parameter(name: str, type: str) -> bool:
    """Return True if a definition describes a parameter: `identifier is a string …`."""
    kind = entity_type(type) if type else ""
    if is_identifier(name) and type in _VALUE_TYPES:  # `foldState is a boolean to …`
        return True
    return is_noise(name) or (is_plain_code(name) and name[:1].islower() and (not kind or kind in _DATA_TYPES))


def is_licence(source: str) -> bool:
    """Return True if a file is the text of a licence, which does not concern the subject of the corpus."""
    return _LICENCES.match(source[-200:]) is not None


def declared_keys(page: Page) -> frozenset[str]:
    """Return the keys of the variables and functions that the code of a page declares."""
    found: set[str] = set()
    rest = MAX_DECLARED_CHARACTERS
    for block in page.blocks:
        if block.kind == "code" and rest > 0:
            found |= {match.group(match.lastindex or 0) for match in _DECLARED.finditer(block.text[:rest])}
            rest -= len(block.text)
    return frozenset(map(name_key, found))


def heading_keys(page: Page) -> frozenset[str]:
    """
    Return the keys of the headings of a page. A text that repeats one refers to the section: `see Rejected Ideas`.

    A single word in Latin script may be a thing that is described below it: `Django`.
    """
    keys = (name_key(page.inline(block).text) for block in page.blocks if block.level)
    return frozenset(key for key in keys if " " in key or _CJK.search(key))


def marked_text(page: Page) -> str:
    """Return the headings, bold texts and link labels of a page, which contain its important terms."""
    parts: list[str] = []
    for block in page.blocks:
        if block.is_prose:
            inline = page.inline(block)
            parts += [inline.text] if block.level else []
            parts += [inline.text[span.start : span.end] for span in inline.spans if span.kind in _IMPORTANT]
    return "\n".join(parts)


def _is_stressed(text: str) -> bool:
    """Return True if a quoted text is a stressed word or a saying instead of a name."""
    if _CJK.search(text):
        return len(text) < MIN_QUOTED_CHINESE
    return text[:1].islower() and not any(map(str.isupper, text))


def _is_label(name: Name, sentence: Sentence) -> bool:
    """Return True if a name is the label of a list item or line: `**Easy to Learn:** …`, `Next Steps: …`."""
    if name.start > 4 and not any(mark.start == 0 and name.end <= mark.end for mark in sentence.marks):
        return False
    mark = next((mark for mark in sentence.marks if mark.kind == "strong" and mark.start == 0), None)
    if mark and name.end <= mark.end:
        return mark.name.rstrip().endswith((":", "：", ".")) or _LABEL_END.match(sentence.text, mark.end) is not None
    return name.start == 0 and sentence.text[name.end : name.end + 1] in (":", "：")


def _is_control(name: Name, sentence: Sentence) -> bool:
    """Return True if a name is the label of a control: `Click **Done**`, `the Save button`, `**File → Open**`."""
    text = sentence.text
    bold = next((m for m in sentence.marks if m.kind == "strong" and m.start < name.end and name.start < m.end), None)
    if bold and (_INSTRUCTION.search(text) or _MENU_PATH.search(bold.name)):
        return True
    if _ZH_CONTROL.search(text, max(0, name.start - 12), name.start):
        return True
    if _CONTROL.match(text, name.end) or _is_part_of_text(name, text):
        return True
    return _PRESS.search(text, max(0, name.start - 20), name.start) is not None


def _is_part_of_text(name: Name, text: str) -> bool:
    """Return True if a name is that of a section, `the Reasoning section`, or the surname of a citation."""
    if _SECTION_AFTER.match(text, name.end) or _SECTION_BEFORE.search(text, max(0, name.start - 20), name.start):
        return True
    is_first = _INITIALS.match(text, name.end) is not None
    return " " not in name.text and (is_first or _is_given_name(name, text) or _is_cited(name, text))


def _is_cited(name: Name, text: str) -> bool:
    """Return True for each surname of a citation in parentheses: `(Fung, Graham, and Weil 2007)`."""
    start = text.rfind("(", max(0, name.start - 100), name.start)
    end = text.find(")", name.end, name.end + 100)
    return start >= 0 and end >= 0 and _CITATION.fullmatch(text, start + 1, end) is not None


def _is_given_name(name: Name, text: str) -> bool:
    """Return True for `Álvaro` in a list of surnames with given names: `and Herrero, Álvaro and Sáez, José and`."""
    before = _SURNAME_BEFORE.search(text, max(0, name.start - 40), name.start)
    return before is not None and _SURNAME_AFTER.match(text, name.end) is not None


def _is_placeholder(name: Name, sentence: Sentence) -> bool:
    """Return True if a name stands in square or angle brackets: `[Date of Decision]`, `<Your Name>`."""
    text = sentence.text
    for opening, closing in ("[]", "<>", "{}"):
        start = text.rfind(opening, 0, name.start + 1)
        if start >= 0 and text.find(closing, start) >= name.end:
            return True
    return False
