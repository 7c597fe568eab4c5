"""
Content of prompts: whether there is enough to search for, and what a passage adds to it.

| prompt | recalls |
| --- | --- |
| `yes`, `go on`, `thanks, looks good` | nothing |
| `Fix the bug`, `please commit`, `run the tests again`, `修复这个错误` | nothing: such words are in every session |
| `fix the login bug`, `which port does the broker use?` | passages about the login, the broker |
"""

from __future__ import annotations

import re
from collections.abc import Collection

from weft.extract.lexicon import word_set
from weft.search.question.content_terms import content_terms
from weft.text.analyzer import terms

MIN_LONG_TERMS = 12
"""A prompt with so many content terms is long: it brings its own context."""
MIN_TELLING_TERMS = 6
"""A prompt with so many content terms shares one of them with many facts."""
MIN_SHARED_TERMS = 0.5
"""Share of the content terms of a long prompt that a passage needs; chosen on half of `injections.py`."""
MAX_SHORT_TERMS = 2
"""A prompt of so few content terms, such as `add error handling`, is too vague for a passage with none of them."""
MIN_NEW_TERMS = 3
"""A passage with fewer content terms that the prompt lacks only repeats it."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
"""Between sentences: `port 5672. It is` and `好的。现在`, but not within `deploy/blue.sh` or `1.2.3`."""
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？]|\n")
MAX_SENTENCES = 400

_COMMAND_WORDS = word_set(
    "yes yeah yep no nope ok okay sure fine great good nice cool perfect awesome thanks thank thx right correct done "
    "wrong better worse bad agreed exactly indeed maybe hello hi hey bye lgtm well again once still yet now next first "
    "last back further later soon instead "
    "go continue proceed keep carry start begin stop wait cancel abort undo redo revert retry try repeat finish resume "
    "skip ignore fix repair solve resolve debug correct change edit update modify adjust improve clean cleanup tidy "
    "simplify refactor rewrite rename remove delete add create make write implement build compile run rerun execute "
    "test check verify validate review look see show print list display explain describe summarize summarise clarify "
    "elaborate help do use apply save open close commit push pull merge rebase stage stash deploy release publish ship "
    "install format lint typecheck let get put give take need want work think read finalize approve accept reject "
    "bug bugs error errors issue issues problem problems failure failures fail fails failing failed warning warnings "
    "test tests code file files function functions method line lines change changes diff commit branch pr thing things "
    "stuff it part step steps task todo result results output answer question solution approach way plan version "
    "session sessions "
    "option idea example examples comment comments docs documentation project repo repository app program script "
    "everything nothing anything something all any each both more less little bit lot new old different "
    "detail details shorter longer faster quick quickly carefully properly "
    "ahead away instead sound sounds seem seems feel guess hope mind never always still already almost really actually "
    "probably definitely absolutely course sorry oops hmm hm uh um ah oh wow lol damn hell "
    "one two three four five six seven eight nine ten zero half single double twice third second fourth fifth "
    "doesn't don't didn't isn't wasn't aren't won't can't couldn't wouldn't haven't hasn't "
    "doesn don didn isn wasn aren won can couldn shouldn wouldn haven hasn hadn ain t s re ve ll d m "
    "way ways time times minute moment case cases type types name names value values input output part parts piece "
    "command commands setting settings config style formatting spacing indentation syntax logic naming structure "
    "does doing done did made making makes getting got goes went gone came come comes coming said says saying seen "
    "looking looks worked working works needed needs wanted wants tried using used uses gave given ran running runs "
    "fixed fixing added adding removed removing changed changing updated updating broke broken break breaks"
)
"""Words of commands and replies that occur in sessions on any subject."""
_COMMAND_TERMS = frozenset(term for word in _COMMAND_WORDS for term in terms(word))
_CHINESE_WORDS = tuple(
    "下一步 继续 好的 可以 是的 不是 不对 没错 谢谢 帮我 一下 修复 修改 改正 解决 运行 执行 测试 提交 "
    "推送 合并 部署 代码 文件 错误 问题 这个 那个 这些 上面 下面 所有 重试 再试 再来 一次 解释 说明 总结 "
    "优化 重构 删除 添加 检查 看看 函数 程序 项目 然后 现在 步骤 开始 停止 撤销 保存 全部 更新 构建 编译 "
    "报告 结果 请 吧 呢 了 把 给 我 你 它 行 对 好 嗯".split()
)
"""The same in Chinese, the longest first, because they are cut out of the text."""


def has_content(prompt: str) -> bool:
    """Return True if a prompt has a word that tells it from prompts on other subjects."""
    return bool(_specific(prompt))


def adds_content(passage: str, prompt: str) -> bool:
    """
    Return True if a passage has content words that the prompt lacks.

    It also needs most of those of a long prompt, and one of those of a short prompt.
    """
    wanted, said = set(_specific(prompt)), set(terms(passage))
    if len(wanted) >= MIN_LONG_TERMS and len(wanted & said) < MIN_SHARED_TERMS * len(wanted):
        return False
    if len(wanted) <= MAX_SHORT_TERMS and not wanted & said:
        return False
    return len(set(content_terms(terms(passage))) - set(terms(prompt))) >= MIN_NEW_TERMS


def concerns_prompt(fact: str, prompt: str) -> bool:
    """
    Return True if a prompt says a content word of a fact.

    One that tells more than a single question has to say two of them, and a long one at least half.
    """
    wanted, said = set(_specific(prompt)), set(content_terms(terms(fact)))
    least = 1.0 if _is_short(prompt, wanted) else 2.0
    if len(wanted) >= MIN_LONG_TERMS:
        least = max(2, MIN_SHARED_TERMS * len(said))
    return len(wanted & said) >= least


def touches_topic(topic: str, prompt: str) -> bool:
    """
    Return True if a prompt says a word of the topic of a rule.

    One that tells more than a single question has to say half of them. Single Chinese characters do not count.
    """
    told, said = set(_specific(prompt)), {term for term in _specific(topic) if term.isascii() or len(term) > 1}
    return len(told & said) >= (1 if _is_short(prompt, told) else max(1, MIN_SHARED_TERMS * len(said)))


def is_single_question(prompt: str) -> bool:
    """Return True if a prompt is one question: it asks for something, and brings no context of its own."""
    text = prompt.strip()
    return text.endswith(("?", "？")) and _SENTENCE_END.search(text[:-1]) is None


def _is_short(prompt: str, told: Collection[str]) -> bool:
    """Return True for a single question, and for few words. Two Chinese characters count as a word, numbers as none."""
    words = sum(term.isascii() and any(map(str.isalpha, term)) for term in told)
    characters = sum(len(term) == 1 and not term.isascii() for term in told)
    return is_single_question(prompt) or words + characters / 2 < MIN_TELLING_TERMS


def pick_excerpt(passage: str, prompt: str, *, size: int) -> str:
    """Return the part of a passage, in whole sentences, that has the most words of the prompt; the first of equals."""
    text = passage.strip()
    if len(text) <= size:
        return text
    wanted = set(_specific(prompt)) or set(terms(prompt))
    sentences = [piece.strip() for piece in _SENTENCE.split(text)[:MAX_SENTENCES] if piece and piece.strip()]
    shared = [wanted & set(terms(sentence)) for sentence in sentences]
    best, best_score = text[: size - 2].rstrip() + " …", -1
    for first in range(len(sentences)):
        length, found, last = 0, set[str](), first
        while last < len(sentences) and (last == first or length + len(sentences[last]) + 1 <= size):
            length += len(sentences[last]) + 1
            found |= shared[last]
            last += 1
        if len(found) > best_score:
            part = " ".join(sentences[first:last])
            part = part if len(part) <= size else part[: size - 2].rstrip() + " …"
            best, best_score = ("… " if first else "") + part, len(found)
    return best


def _specific(prompt: str) -> list[str]:
    """Return the content terms of a prompt that are no words of commands."""
    text = prompt
    for word in _CHINESE_WORDS:
        text = text.replace(word, " ")
    said = (term for term in terms(text) if term not in _COMMAND_TERMS and any(map(str.isalnum, term)))
    return list(content_terms(said))
