"""What Chinese questions are made of, and what they are about. All texts are folded, so simplified."""

from __future__ import annotations

import re

_WORDS = "目的地?|标的|的士|的确|的黎波里|几何|几乎|几内亚|任何|是非"
"""Words that only look as if they held one of those below."""

_ASKING = (
    "为什么|什么样?|甚么|哪[些个里儿位种年]?|谁|多少|几[个年次位种]?|如何|怎么样?|怎样|为何|何[时地处人]"
    "|是否|吗|呢|的|是"
)
_CUT = re.compile(f"(?P<word>{_WORDS})|{_ASKING}")


def asked_parts(run: str) -> list[str]:
    """
    Return what is left of a run of characters without the words a question is made of; the run itself if nothing is.

    Pairs of characters across such a word (`蝉的`, `是谁`) say nothing of what is looked for.
    """
    return _CUT.sub(lambda match: match["word"] or " ", run).split() or [run]
