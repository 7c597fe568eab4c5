"""Typo detection between names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.extract.names import name_key
from weft.extract.typos import MAX_SIMILAR_KEYS, Typo, WrittenKey, describe_typo, find_typos, to_written_key


def tell(first, second):
    return describe_typo(*(to_written_key(name_key(name), name) for name in (first, second)))


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        ("Kubernetes", "Kubernets", "one letter is missing"),
        ("Kubernetes (k8s)", "The Kubernets", "one letter is missing"),
        ("trademarks", "tranemark", "one letter differs"),
        ("Kubernetes", "Kuberneetes", "one letter is missing"),
        ("Kubernetes", "Kubarnetes", "one letter differs"),
        ("Kubernetes", "Kuberentes", "two letters are swapped"),
        ("Rutishauser, H.", "Rutishausr, H.", "one letter is missing"),
        ("multiple myeloma", "multiple myleoma", "two letters are swapped"),
        ("Postgre SQL", "PostgreSQL", "only spaces differ"),
        ("Kubernetes 1.28", "Kubernets 1.28", "one letter is missing"),
        ("Wislawa Szymborska", "Wisława Szymborska", "one letter differs"),
        ("Санкт-Петербург", "Санкт-Петебург", "one letter is missing"),
    ],
)
def test_a_slip_is_told(first, second, how):
    """A typo is one letter inside a long word, or a difference in spaces."""
    assert tell(first, second) == tell(second, first) == how


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # numbers, versions and signs
        ("SR-052", "SR-053"),
        ("Incident SR-052", "Incident SR-053"),
        ("Release v1", "Release v2"),
        ("GPT-4", "GPT-4o"),
        ("Windows2000", "Windows2003"),
        ("v1 2", "v12"),
        ("Production٣", "Production٤"),
        ("Production ٣", "Production ٤"),
        ("Production①", "Production②"),
        ("C", "C++"),
        ("C++", "C#"),
        ("Paramount+", "Paramounts+"),
        ("Visual Studio C", "Visual Studio C#"),
        # numerals
        ("World War I", "World War II"),
        ("Henry IV", "Henry VI"),
        ("Super Bowl XXXVIII", "Super Bowl XXXXIII"),
        ("Louis XVIII", "Louis XXIII"),
        ("Philip II", "Philipp II"),
        # other things
        ("Iran", "Iraq"),
        ("Austria", "Australia"),
        ("Johann", "Johanna"),
        ("Johann Strauss", "Johanna Strauss"),
        ("Stephen Fisher", "Steven Fisher"),
        ("North America", "North American"),
        ("South Korea", "North Korea"),
        ("Federalism", "Federalist"),
        ("Kubernete", "Kubernet"),
        ("Kubernetes", "Kubernet"),
        ("height-balanced trees", "weight-balanced trees"),
        ("Herman", "Hermann"),
        ("Smith, J. L.", "Smith, J. M."),
        ("Kubernetes Cluster", "Kubernets Klusters"),
        ("Kubernetes Cluster", "Kubernetes"),
        # characters that are words
        ("北京师范大学", "南京师范大学"),
        ("中国人民大学", "中国人民大"),
        ("东京都立病院研究所", "东京市立病院研究所"),
        ("サーバーサイドレンダリング", "サーバサイドレンダリング"),
        ("김대중컨벤션센터", "김대정컨벤션센터"),
    ],
)
def test_what_tells_two_things_apart_is_no_slip(first, second):
    """Numbers in any script, numerals, signs, endings, short words, first letters, and Chinese."""
    assert name_key(first) != name_key(second)
    assert tell(first, second) == tell(second, first) == ""


def test_case_accents_and_hyphens_are_no_slip_for_the_key_is_one():
    """They are the same name already."""
    assert name_key("Jean-Luc Picard") == name_key("jean luc picard") == name_key("Jéan Luc Picard")
    assert tell("Jean-Luc Picard", "jean luc picard") == ""


LETTERS = st.text("abci d", min_size=6, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)


@given(st.dictionaries(LETTERS, st.booleans(), max_size=40))
def test_all_slips_are_found_and_no_others(keys):
    """Blocks by first letter and shape find what comparing all with all would."""
    every = [WrittenKey(*item) for item in sorted(keys.items())]
    pairs = [Typo(one.key, two.key, describe_typo(one, two)) for at, one in enumerate(every) for two in every[at + 1 :]]

    assert list(find_typos(every)) == [pair for pair in pairs if pair.how]


def test_where_one_letter_makes_many_names_it_tells_them_apart():
    """More than a few dozen names alike but for one letter are a scheme of names."""
    scheme = [WrittenKey(f"station{chr(0x430 + at)}name") for at in range(MAX_SIMILAR_KEYS + 1)]

    assert list(find_typos(scheme)) == []
    assert len(list(find_typos(scheme[:3]))) == 3
