"""Mentions of names in texts: those a chunk proposes, one name in any chunk, and names written like names."""

import pytest

from weft.extract.mentions import MAX_SENTENCE_NAMES, SENTENCE_BITS, count_mentions, find_mentions, required_terms
from weft.extract.names import MAX_WRITTEN_WORDS, LazyWords, match_names, name_key, words, written_keys
from weft.store.base import MIN_COMMON_TERM_CHUNKS
from weft.store.shared.name_search import (
    MAX_RARE_CHUNKS,
    MIN_STATED_CHUNKS,
    choose_terms,
    count_alone,
    find_written,
    is_searched,
)
from weft.text.analyzer import count_terms

# ── names that a chunk proposes ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The Ledgers are kept. Entries of the Ledger's keeper, of ledger.", {"ledger": (2, 0b11), "entry": (1, 0b10)}),
        ("O'Brien met OBrien. O’Brien's dog.", {"obrien": (3, 0b11)}),
        ("Schindler's List, Schindlers List.", {"schindler list": (1, 0b1), "schindlers list": (1, 0b1)}),
        ("密钥轮换由密钥服务负责。密钥服务。", {"密钥轮换": (1, 0b1), "密钥服务": (2, 0b11)}),
        ("In C++11, C++ and C. C# too; c++.", {"c++": (3, 0b11), "c": (1, 0b1), "c#": (1, 0b10)}),
        ("It runs. Who knew? The Who knew. We saw It.", {"who": (1, 0b100), "it": (1, 0b1000)}),
        ("Paris Hilton went to Paris. Paris.", {"paris hilton": (1, 0b1), "paris": (2, 0b11)}),
        ("Session-Store and SESSION STORE.", {"session store": (2, 0b1)}),
    ],
)
def test_mentions_are_counted_by_name_and_sentence(text, expected):
    """The longest name wins, a name that opens a sentence needs another sign, and bit n stands for sentence n."""
    names = {"ledger", "entry", "obrien", "schindler list", "schindlers list", "密钥", "密钥轮换", "密钥服务"}
    names |= {"c", "c++", "c#", "it", "who", "paris", "paris hilton", "session store"}
    found = find_mentions(text, names=names, about=())

    assert {item.key: (item.count, item.sentences) for item in found} == expected


def test_a_subject_is_mentioned_without_its_name():
    """It has one mention and no sentence, so that it occurs together with nothing."""
    found = find_mentions("Nothing of Rome.", names={"paris", "rome"}, about={"paris"})

    assert set(found) == {("paris", 1, True, 0), ("rome", 1, False, 1)}


def test_a_list_of_names_has_no_pairs_beyond_the_first():
    """Further names of a sentence are counted, and are in no sentence; the next sentence begins anew."""
    listed = [f"Port{letter}" for letter in "abcdefghij"]
    text = f"{', '.join(listed)}. Then Porta and Portj."
    found = {item.key: item for item in find_mentions(text, names={name.lower() for name in listed}, about=())}
    bits = [found[name.lower()].sentences for name in listed]

    assert [bit & 1 for bit in bits] == [1] * MAX_SENTENCE_NAMES + [0] * (len(listed) - MAX_SENTENCE_NAMES)
    assert [bit & 2 for bit in bits] == [2] + [0] * (len(listed) - 2) + [2]
    assert [found[name.lower()].count for name in listed] == [2] + [1] * (len(listed) - 2) + [2]


def test_the_bits_of_any_text_are_a_number_of_a_database():
    """The sentences after the last bit share the bits of the first."""
    (found,) = find_mentions(" ".join(f"So Paris {n}." for n in range(3 * SENTENCE_BITS)), names={"paris"}, about=())

    assert found == ("paris", 3 * SENTENCE_BITS, False, 2**SENTENCE_BITS - 1)
    assert 0 < found.sentences < 2**63


# ── one name in any text ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text, name, count",
    [
        ("The Ledgers are kept in a ledger, the Ledger's.", "Ledger", 2),
        ("Entries of an Entry", "Entry", 2),
        ("O'Brien, O’Brien's, OBRIEN and Brien", "O'Brien", 3),
        ("the Smiths' house", "Smith", 1),
        ("C++11, C++ and c++; C and C#", "C++", 3),
        ("C++11, C++ and c++; C and C#", "C", 1),
        ("Disney+ and Disney", "Disney", 1),
        ("Disney+ and Disney", "Disney+", 1),
        ("密钥轮换由密钥服务负责", "密钥", 2),
        ("the 密 钥", "密钥", 1),
        ("密码钥匙", "密钥", 0),
        ("It runs. We saw It.", "It", 1),
        ("Who knew? Who?", "The Who", 0),
        ("Comparison of a comparing party", "Paris", 0),
        ("Data Base, data-base, DATABASE", "Data Base", 2),
        ("Session\nStore Failover", "Session Store", 1),
        ("Café, CAFE, Cafés", "Café", 3),
        ("Straße", "Strasse", 1),
        ("ＡＢＣ and abc", "ABC", 1),
        ("Princess Anne, Princes and the Prince's dog", "Prince", 2),
        ("A Hostess and Hosts", "Host", 1),
        ("The Bus", "Bu", 0),
        ("Paris", "Pari", 0),
        ("", "Paris", 0),
    ],
)
def test_mentions_of_a_name_are_those_that_a_proposing_chunk_has(text, name, count):
    """Other words with the same letters are none: a longer word, a word with a sign, a word that opens a sentence."""
    key = name_key(name)

    assert len(match_names(words(text), {key})) == count
    assert count_mentions(text, key) == count


def test_a_part_of_a_longer_name_is_counted_unless_the_chunk_names_the_longer_one():
    """`count_alone` subtracts the longer names, and never more than there is."""
    assert count_mentions("Paris Hilton in Paris", "paris") == 2
    assert count_alone("Paris Hilton in Paris", "paris", longer=[]) == 2
    assert count_alone("Paris Hilton in Paris", "paris", longer=[("paris hilton", 1)]) == 1
    assert count_alone("Paris Hilton", "paris", longer=[("paris hilton", 2)]) == 0
    assert count_alone("Comparison of Paris", "paris", longer=[("comparison", 1)]) == 1
    assert count_alone("密钥服务用密钥", "密钥", longer=[("密钥服务", 1)]) == 1
    assert count_alone("C++ and C", "c", longer=[("c++", 1)]) == 1


# ── which names are searched, and where ─────────────────────────────────────────────────────────


def test_names_that_enough_chunks_state_are_not_searched():
    """Neither are names of code and pages, which no text contains."""
    assert is_searched("paris", stated=0, limit=20)
    assert is_searched("paris", stated=MIN_STATED_CHUNKS - 1, limit=20)
    assert not is_searched("paris", stated=MIN_STATED_CHUNKS, limit=20)
    assert not is_searched("paris", stated=1, limit=1)
    assert not is_searched("code:app.run", stated=0, limit=20)


def test_the_rarest_word_decides_whether_a_name_is_searched():
    """Common words are left to the text, and a name with a word that no chunk contains is nowhere."""
    hub, auth = required_terms("auth hub")[1], required_terms("auth hub")[0]
    counts = {**dict.fromkeys(hub, MIN_COMMON_TERM_CHUNKS), **dict.fromkeys(auth, 1)}

    assert choose_terms("auth hub", counts) == [auth]
    assert choose_terms("auth hub", {**counts, **dict.fromkeys(hub, 5)}) == [auth, hub]
    assert choose_terms("auth hub", dict.fromkeys(auth, 1)) == []
    assert choose_terms("auth hub", dict.fromkeys(auth | hub, MAX_RARE_CHUNKS + 1)) == []
    assert choose_terms("", counts) == []


@pytest.mark.parametrize("size", [MAX_RARE_CHUNKS, MAX_RARE_CHUNKS + 1])
def test_all_spellings_of_a_word_count_together(size):
    """A chunk with any of them may have a mention."""
    (spellings,) = required_terms("c++")
    assert len(spellings) == 2
    counts = dict(zip(sorted(spellings), (size - 1, 1), strict=True))

    assert choose_terms("c++", counts) == ([spellings] if size == MAX_RARE_CHUNKS else [])


@pytest.mark.parametrize(
    "text", ["Services", "Entries", "Classes", "C++11", "密钥轮换", "O'Brien's", "the Smiths'", "Ｃ＋＋"]
)
def test_the_terms_of_a_text_contain_those_of_its_names(text):
    """Otherwise the search would miss the chunk."""
    for key in (word.text for word in words(text)):
        if match_names(words(text), {key}):
            assert choose_terms(key, count_terms(text)) == required_terms(key)


# ── names that are written like names ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text, expected, others",
    [
        ("We met Paris Hilton's dog.", {"paris", "hilton", "paris hilton"}, {"dog", "met", "met pari"}),
        ("the old ledger", set(), {"ledger", "old ledger"}),
        ("Entries of SR-052", {"entry", "sr 052", "052"}, {"entries"}),
        ("O’Brien's List", {"obrien", "list", "obrien list"}, {"brien"}),
        ("iPhone, c# and C++", {"iphone", "c#", "c++"}, {"c", "and"}),
        ("the 密钥 of Kubernetes", {name_key("Kubernetes")}, {"密钥"}),
        ("Ｂase and Ünder", {"base", "under"}, set()),
        ("", set(), set()),
    ],
)
def test_short_runs_of_words_that_begin_like_a_name_are_looked_up(text, expected, others):
    """Also at the start of a sentence, where `match_names` decides; CJK characters have no capitals."""
    keys = written_keys(LazyWords(text))

    assert expected <= keys
    assert not others & keys


def test_the_keys_of_a_text_grow_with_its_length_alone():
    """At most four keys for each word, however many names there are."""
    text = " ".join(f"Item{number}" for number in range(1000))
    keys = written_keys(LazyWords(text))

    assert max(len(key.split()) for key in keys) == MAX_WRITTEN_WORDS
    assert len(keys) <= MAX_WRITTEN_WORDS * 1000


def test_names_that_the_chunk_states_are_not_written_ones_and_take_their_words():
    """The longest name wins among both."""
    text = LazyWords("Paris Hilton met Rome. It was the Who. Paris.")
    known = {"paris", "rome", "it", "who"}

    assert find_written(text, known=known, stated={"paris hilton", "rome"}) == {"paris": 1, "who": 1}
    assert find_written(text, known=known, stated=set()) == {"paris": 2, "rome": 1, "who": 1}
