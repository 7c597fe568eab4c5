"""Texts of chunks in compressed form."""

import pytest

from weft.store.shared.packed_text import pack_text, unpack_text

PROSE = "The kiln was fired in March. The kiln was fired again in April, and the glaze of the second firing was better."


@pytest.mark.parametrize("text", ["", "a", "plum pie", PROSE, PROSE * 100, "窑在三月点火。" * 40, "null \0 byte " * 9])
def test_a_text_is_read_as_it_was_written(text):
    """Short or long, in any script."""
    assert unpack_text(pack_text(text)) == text


def test_only_a_text_that_shrinks_is_packed():
    """A short text stays readable in the file; a packed text is not packed again."""
    packed = pack_text(PROSE * 3)

    assert pack_text("plum pie") == "plum pie"
    assert len(packed) < len(PROSE) * 1.5
    assert pack_text(packed) == packed


def test_a_damaged_text_is_empty():
    """The checksum notices a changed byte."""
    packed = pack_text(PROSE * 3)

    assert unpack_text(packed[:-1] + bytes([packed[-1] ^ 1])) == ""
