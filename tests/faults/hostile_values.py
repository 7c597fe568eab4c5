"""Hostile values for arguments and names."""

SURROGATES = ("\ud800", "a\udfffb", "\udc00\ud800")
"""Not valid in UTF-8; some clients cannot send them."""
TEXTS = (
    "",
    " ",
    "\x00",
    "a\x00b\x1b[31m",
    "x" * 20_000,
    "\n" * 500,
    "' OR 1=1 --",
    '"; DROP TABLE document; --',
    '" OR NEAR("a b", 5) AND title:*',
    "../../etc/passwd",
    "file:///etc/passwd",
    "{{7*7}} ${7*7} {0.__class__} %s %(x)s",
    "(a+)+$",
    "[" * 3_000,
    "\u202e\u2066\u200b\ufeff",
    "\U0010ffff\ufffe",
    "e\u0301" * 200,
    "部署" * 400,
    "<script>alert(1)</script>",
    "weft://document/%00%2e%2e",
)
NUMBERS = (0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 2**64, 10**30, 1e308, -1e308, 5e-324, 0.5)
OTHERS = (None, True, False, [], {}, [[]], [None], {"a": {"b": [1] * 50}}, ["x"] * 200)
EVERYTHING = (*TEXTS, *NUMBERS, *OTHERS)


def nested(depth):
    """Return a list of lists, so many levels deep."""
    value = []
    for _ in range(depth):
        value = [value]
    return value
