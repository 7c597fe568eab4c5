"""Name keys, and known names in text."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.extract import names
from weft.extract.mentions import count_mentions, find_mentions, find_sentence, required_terms
from weft.extract.names import (
    LazyWords,
    NameSet,
    _stands_alone,
    candidate_keys,
    key_words,
    keys_at,
    long_keys,
    match_names,
    name_key,
    short_keys,
    singular,
    whole_key,
    words,
)
from weft.text.analyzer import count_terms

PLAIN = st.text(st.one_of(st.characters(max_codepoint=0x2FF), st.characters(max_codepoint=0x2100)), max_size=40)
NAMES = st.lists(st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True), min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize("line", [line for line in names.__doc__.splitlines() if line.startswith("| `")])
def test_the_examples_of_the_module_are_right(line):
    """A row has names and their keys."""
    written, keys, _ = line.strip("| ").split(" | ")

    assert [name_key(name) for name in re.findall("`([^`]+)`", written)] == re.findall("`([^`]+)`", keys)


@pytest.mark.parametrize(
    "name, key",
    [
        ("The Auth-Services", "auth service"),
        ("Auth Service (legacy)", "auth service legacy"),
        ("Session Store Failover (SSF)", "session store failover"),
        ("RBAC (Role-Based Access Control)", "rbac"),
        ("认证服务（Auth Service）", "认证服务"),
        ("auth service", "auth service"),
        ("Société Générale", "societe generale"),
        ("Schindler's List", "schindler list"),
        ("ERR_CONN_RESET", "err conn reset"),
        ("SR-052", "sr 052"),
        ("v1", "v1"),
        ("gen-itgc重跑手册", "gen itgc 重跑手册"),
        ("认证 服务", "认证服务"),
        ("The Who", "who"),
        ("The", "the"),
        ("A Team", "team"),
        ("An Apple", "apple"),
        ("A", "a"),
        ("(none)", "none"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("", ""),
        ("—", ""),
    ],
)
def test_what_writers_vary_is_folded(name, key):
    """Articles, case, accents, hyphens, plurals and suffixes in parentheses make no other name."""
    assert name_key(name) == key


@pytest.mark.parametrize(
    "name, key",
    [
        ("A-320", "a 320"),
        ("The A-320s", "a 320"),
        ("A. J. Cook", "a j cook"),
        ("A.I.", "a i"),
        ("Texas A&M", "texas a m"),
        ("A/B test", "a b test"),
    ],
)
def test_the_letter_a_before_a_number_or_an_initial_is_no_article(name, key):
    """`A-320` is not 320, nor is `A. J. Cook` another J. Cook; a key is its own key, and is found in text."""
    assert name_key(name) == name_key(key) == key
    assert match_names(words(f"It was the {name} in 1990"), {key, "320", "j cook"})[0][0] == key
    assert key in candidate_keys(words(name))
    short, pairs = short_keys(words(name))
    assert key in short | long_keys(words(name), pairs)


@pytest.mark.parametrize(
    "one, other", [("SR-052", "SR-053"), ("v1", "v2"), ("Apollo 1", "Apollo 11"), ("王明", "王名")]
)
def test_digits_and_characters_are_never_folded(one, other):
    """Two ids that differ in one digit are two things."""
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize(
    "name, key",
    [
        ("C", "c"),
        ("C,", "c"),
        ("C++", "c++"),
        ("C++,", "c++"),
        ("(C++)", "c++"),
        ("C# (programming language)", "c# programming language"),
        ("Ｃ＃", "c#"),
        ("Disney+", "disney+"),
        ("A+", "a+"),
        ("Galaxy S10+", "galaxy s10+"),
        ("Visual C++'s", "visual c++"),
        ("C++’s", "c++"),
        ("C/C++", "c c++"),
        ("C++/CLI", "c++ cli"),
        ("C++11", "c++ 11"),
        ("C++语言", "c++ 语言"),
        ("Prelude in C# minor", "prelude in c# minor"),
    ],
)
def test_a_sign_at_the_end_of_a_word_belongs_to_it(name, key):
    """`C`, `C++` and `C#` are three languages."""
    assert name_key(name) == key
    assert name_key(key) == key


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a+b = c + d", ["a", "b", "c", "d"]),
        ("1+1, 10+ years", ["1", "1", "10", "years"]),
        ("Python 3.8+", ["python", "3", "8"]),
        ("x+=1", ["x", "1"]),
        ("AI+医", ["ai", "医"]),
        ("issue #12 and PR#12", ["issue", "12", "and", "pr", "12"]),
        ("# C", ["c"]),
        ("## Scope ##", ["scope"]),
        ("Scope##, C+++", ["scope", "c"]),
        ("C++'x", ["c", "x"]),
        (".NET", ["net"]),
    ],
)
def test_sums_and_numbers_have_no_sign(text, expected):
    """Only the end of a word counts; `3.8+` means that number or more."""
    assert [word.text for word in words(text)] == expected
    assert [word.text for word in words(f"{text} 密")] == [*expected, "密"]


@pytest.mark.parametrize("key, others", [("c", {"c++", "c#"}), ("c++", {"c", "c#"}), ("disney", {"disney+"})])
def test_a_name_is_not_found_in_one_with_another_sign(key, others):
    """The reverse is true too."""
    for one, other in [(key, other) for other in others] + [(other, key) for other in others]:
        text = f"We saw {one.title()} there; {one.upper()}'s future, in ({one.upper()})."
        assert [found for found, _, _ in match_names(words(text), {key, *others})] == [one] * 3
        assert (count_mentions(text, one), count_mentions(text, other)) == (3, 0)
        assert find_sentence(f"We saw {other.title()}.\nWe saw {one.title()}.", {one}) == f"We saw {one.title()}."


def test_small_letters_with_a_sign_are_written_like_a_name():
    """`c++` has no other meaning."""
    assert [key for key, _, _ in match_names(words("written in c++ and c"), {"c++", "c"})] == ["c++"]


@pytest.mark.parametrize("text", ["C++", "C++11", "Objective-C++", "C#/F#", "C++'s", "Disney+", "Gtk#/x", "Ｃ＋＋"])
def test_chunks_with_a_sign_are_looked_through_for_it(text):
    """The terms of the key are among those of the text."""
    for word in words(text):
        assert all(spellings & count_terms(text).keys() for spellings in required_terms(word.text))
    assert required_terms("c++") == [{"c++", "c"}]


@pytest.mark.parametrize(
    "plural, word",
    [
        ("services", "service"),
        ("entries", "entry"),
        ("indexes", "index"),
        ("classes", "class"),
        ("branches", "branch"),
        ("caches", "cache"),
        ("movies", "movie"),
        ("series", "series"),
        ("status", "status"),
        ("basis", "basis"),
        ("bus", "bus"),
        ("класс", "класс"),
    ],
)
def test_plurals_become_singular(plural, word):
    """Common English plurals only; what is no plural stays."""
    assert singular(plural) == word


@given(st.text(max_size=60))
def test_a_singular_has_no_singular(text):
    """Folding twice is folding once, or a key would not be its own key."""
    assert singular(singular(text)) == singular(text)


@given(NAMES)
def test_a_key_is_its_own_key(name):
    """The key of a key is the key itself."""
    assert name_key(name_key(name)) == name_key(name)


@given(NAMES)
def test_a_name_is_found_in_a_sentence(name):
    """`match_names` finds every key of `name_key` in text."""
    key = name_key(name)
    found = words(f"yesterday {name} was seen")
    assert key in candidate_keys(found)
    short, pairs = short_keys(found)
    assert short | long_keys(found, pairs) == candidate_keys(found)
    assert key in [match for match, _, _ in match_names(found, {key})]


PARTS = """
Luther luther's LUTHERS King kings' Entries entry Boxes box O'Brien o’briens Mu\u0308ller müllers soft\u00adware
密 密钥 钥 服务 OAuth apis The a It it's IT Ones all All v1 25 Box™ 25㎏ Ò o² . , - ' ’s _
C C++ c# C++'s Box+ S8+ Ｃ＋＋ 11 + # =
"""


TEXTS = st.one_of(
    st.tuples(st.sampled_from(["", " "]), st.lists(st.sampled_from(PARTS.split()), max_size=12)).map(
        lambda drawn: drawn[0].join(drawn[1])
    ),
    st.text(st.sampled_from("aAsSoOyY eéÉ\u0301\u00ad1²½'’密钥_.-™ßİıŉſ++##＋＃="), max_size=14),
)


@given(TEXTS)
def test_a_text_may_hold_every_name_that_is_found_in_it(text):
    """The quick looks before a text is read are wrong only by saying yes."""
    found = words(text)
    short, pairs = short_keys(found)
    assert short | long_keys(found, pairs) >= candidate_keys(found)
    for key in candidate_keys(found):
        if match_names(found, {key}):
            assert count_mentions(text, key)


def match_one_by_one(found, known):
    """Return the longest known name at each position, without overlap, by trying all runs of words."""
    texts, matches, at = [word.text for word in found], [], 0
    while at < len(found):
        runs = [(size, key) for size, key in keys_at(texts, at) if key in known]
        runs = [(size, key) for size, key in runs if size > 1 or _stands_alone(found, at)]
        size, key = runs[0] if runs else (1, "")
        if runs:
            matches.append((key, at, size))
        at += size
    return matches


@given(TEXTS, st.data())
def test_many_names_are_found_in_many_texts_as_one_by_one(text, data):
    """Lazy words equal words."""
    found, lazy = words(text), LazyWords(text)
    assert list(lazy) == found
    assert lazy[:2] == found[:2]
    known = data.draw(st.sets(st.sampled_from(sorted(candidate_keys(found)) or ["none"])))
    matches = match_names(found, known)
    assert matches == match_one_by_one(found, known)
    assert match_names(lazy, NameSet(known)) == matches
    counts = {item.key: item.count for item in find_mentions(text, names=known, about=())}
    assert counts == Counter(key for key, _, _ in matches)


def test_a_text_is_not_read_for_names_that_it_does_not_hold():
    """Words that stand apart, or are not written like a name, are none."""
    text = "In construction the King's man met Müller; she was born at sea. His ship? The Who knew. 密码钥匙"
    assert not any(
        count_mentions(text, key) for key in ("construction", "man king", "manning", "mull", "密钥", "in", "his")
    )
    assert all(count_mentions(text, key) for key in ("king", "king man", "muller", "密码", "who"))


@given(st.lists(TEXTS.map(lambda text: text.replace(".", "")), min_size=1, max_size=6), st.data())
def test_the_first_sentence_with_most_of_the_names_is_found(sentences, data):
    """The quick look before a sentence is read, and the end at one that has them all, leave out no better one."""
    every = sorted({key for sentence in sentences for key in candidate_keys(words(sentence))} | {"king"})
    keys = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=3))
    named = [{key for key, _, _ in match_names(words(sentence), keys)} for sentence in sentences]
    ranks = [(len(found), keys[-1] in found) for found in named]  # on a tie, the last key decides
    best = sentences[ranks.index(max(ranks))]
    assert find_sentence("\n".join(sentences), keys) == " ".join(best.split())


def test_only_english_words_have_plurals():
    """A character with an `s` behind it would be held by every text that has a lone `s`."""
    assert required_terms("密钥") == [{"密"}, {"钥"}]
    assert required_terms("box") == [{"box"}]


def test_the_longest_name_wins():
    """`Session Store Failover` is not a mention of `Session Store`."""
    found = words("The Session Store Failover took long; the session store did not.")
    known = {"session store", "session store failover"}
    assert [key for key, _, _ in match_names(found, known)] == ["session store failover", "session store"]


def test_a_single_word_must_be_written_like_a_name():
    """The film `It` is not in every sentence."""
    assert match_names(words("when it rains"), {"it"}) == []
    assert [key for key, _, _ in match_names(words("we saw It twice"), {"it"})] == ["it"]


@pytest.mark.parametrize(
    "text, is_named",
    [
        ("It rains.", False),
        ("We wait. It rains. It's late.", False),
        ("We wait until IT comes.", True),
        ("IT comes.", True),
        ("We saw It twice.", True),
        ("The It of it all.", True),
    ],
)
def test_the_start_of_a_sentence_is_no_acronym(text, is_named):
    """`It` at the start of a sentence is not a mention of `IT`."""
    assert [key for key, _, _ in match_names(words(text), {"it"})] == ["it"] * is_named


@pytest.mark.parametrize("text", ["The Who played.", "Then the Who played.", "WHO says so.", "Ask the WHO."])
def test_a_name_that_is_a_small_word_is_found(text):
    """In capitals, or behind another word."""
    assert [key for key, _, _ in match_names(words(text), {"who"})] == ["who"]


def test_longer_names_may_begin_with_a_small_word():
    """`It Happened One Night` opens a sentence as it stands anywhere else."""
    assert match_names(words("It Happened One Night won."), {"it happened one night"}) == [
        ("it happened one night", 0, 4)
    ]


def test_a_name_begins_behind_its_article():
    """The article is not counted as part of the mention."""
    assert match_names(words("the Ledger grows"), {"ledger"}) == [("ledger", 1, 1)]


def test_chinese_names_are_found_in_running_text():
    """Chinese text has no spaces."""
    assert [key for key, _, _ in match_names(words("见会话存储的说明"), {"会话存储"})] == ["会话存储"]


def test_the_words_of_a_key_are_compared_in_the_singular():
    """`Fiennes` at the end of one name and in the middle of another is the same word."""
    assert key_words(name_key("Gregory Fiennes")) <= key_words(name_key("Gregory Fiennes, 10th Baron Dacre"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("e\u0301cole", ["ecole"]),
        ("काम की", ["काम", "की"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("rock’n’roll", ["rocknroll"]),
        ("l'été's", ["lete"]),
    ],
)
def test_marks_and_soft_hyphens_stay_inside_a_word(text, expected):
    """Accents written apart, vowel signs, soft hyphens and apostrophes do not tear a name into pieces."""
    assert [word.text for word in words(text)] == expected
    assert all(spellings & count_terms(text).keys() for word in words(text) for spellings in required_terms(word.text))


@given(PLAIN)
def test_words_of_plain_text_are_those_of_any_text(text):
    """Text without Chinese and marks is read by a pattern of its own, which finds the same words."""
    assert words(text) == words(f"{text} 密")[:-1]


def test_a_whole_key_keeps_what_stands_in_parentheses():
    """Two titles may differ in that alone."""
    assert whole_key("The Gamma Function (Algorithm 31)") == "gamma function algorithm 31"
    assert whole_key("Auth Services") == name_key("Auth Services")
    assert whole_key("…") == ""
