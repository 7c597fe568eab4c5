"""Word lists for the recognition of names in English and Chinese text, all in lower case."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text` as a set."""
    return frozenset(text.split())


MONTHS = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec"
)
WEEKDAYS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays"
)
DATES = MONTHS | WEEKDAYS

PRONOUNS = word_set(
    "i me my mine we us our ours you your yours he him his she her hers it its they them their theirs this that "
    "these those who whom whose which what myself itself himself herself themselves one ones someone somebody "
    "anyone anybody everyone everybody nobody nothing something anything everything none"
)

OPENERS = PRONOUNS | word_set(
    "a an the and or but nor if as at by for from in of on to with not no all any both each is are was were do does "
    "did has have"
)
"""Small words that often start a sentence. In capitals they may be names: `IT`, `WHO`, `ALL`."""

STARTERS = (
    PRONOUNS
    | word_set(
        "a an the and or but nor so yet if then else when while where why how whether because since until unless "
        "although though however therefore thus hence moreover furthermore meanwhile otherwise instead besides also "
        "similarly likewise additionally consequently conversely alternatively accordingly specifically notably "
        "ideally unfortunately ultimately "
        "about above across after against along among amid around as at before behind below beneath beside between "
        "beyond by despite down during except for from in inside into like near of off on onto out outside over past "
        "per through throughout to toward towards under underneath up upon via with within without concerning all any "
        "both each either every few many more most much neither no not only other others another several some such "
        "same own last next first second third fourth fifth one two three four five six seven eight nine ten eleven "
        "twelve twenty thirty forty fifty hundred hundreds thousand thousands million millions half twice once never "
        "always often sometimes usually rarely seldom again already almost even ever just quite rather really soon "
        "still too very well there here now today yesterday tomorrow later earlier early late recently currently "
        "originally initially finally eventually formerly previously subsequently generally typically normally mostly "
        "unlike mainly nearly perhaps maybe indeed nevertheless nonetheless yes please according due given"
    )
    | word_set(
        "is are was were be been being am do does did has have had can could may might must shall should will would "
        "see read ask use run check note add set get go give keep let make take turn try put look open close call "
        "find follow write wait start stop move show send bring buy click create delete ensure remove update avoid "
        "consider remember imagine suppose say says said think know want need do don't doesn't can't won't born died "
        "directed written produced based located founded owned published released known named called starring "
        "featuring including following using built made set shot filmed recorded composed edited created ends started "
        "starts restored confirmed retried rolled added removed fixed accept alert page raise new old big small good "
        "bad long short high low great little own right left top best worst main full not there's it's that's he's "
        "she's we're they're you're i'm i've i'd i'll"
    )
)
"""Words that start a sentence and are not part of the name after them."""

CONNECTORS = word_set(
    "of de la von van der den du des di da del della dos das le el y e zu zum bin ibn al ten ter af av"
)
"""Small words inside a name, between two capitalised words."""

SMALL_WORDS = CONNECTORS | word_set("the and for in on at to a an or with und et")
"""Words that an abbreviation may skip, and that a title keeps in lower case."""

ORGANISATION_NOUNS = word_set(
    "academy agency alliance association award awards board bureau campaign center centers centre centres college "
    "commission committee council department foundation fund group initiative institute institution laboratory "
    "league ministry movement museum office organisation organization party prize programme program project "
    "school service society trust union university"
)
"""Nouns of organisations, which may contain `for`: `Institute for Advanced Study`, but not `Rome for Paris`."""

EPITHETS = word_set(
    "great elder younger terrible conqueror first second third fourth bold fat fair good wise pious lame bald "
    "magnificent younger confessor pooh baptist pretender strong rich proud brave red black lionheart small tall "
    "short long lame simple mad cruel just posthumous"
)

RANKS = word_set(
    "earl duke duchess count countess baron baroness prince princess king queen marquess marquis viscount "
    "landgrave elector lord lady margrave archduke grand emperor empress bishop lords khan sultan baronet"
)
"""Ranks after a comma inside the name of a noble: `John Boyle, 15th Earl of Cork`."""

TITLES = RANKS | word_set(
    "president vice prime minister sir dame general admiral captain colonel governor senator cardinal pope dr mr "
    "mrs ms professor lieutenant major sheikh chancellor director mayor judge justice rev reverend father sister "
    "brother saint queen-consort consort dowager"
)
"""Optional titles before the name of a person."""

HONORIFICS = word_set(
    "mr mrs ms dr prof st sr jr gen col capt lt sgt maj adm cmdr rev hon gov sen rep pres mt ft messrs fr msgr "
    "cpl pvt mme mlle"
)
"""Abbreviations after which a name continues."""

ABBREVIATIONS = HONORIFICS | word_set(
    "e.g i.e eg ie cf vs al ca c b d r m fl ed eds inc ltd co corp bros dept approx a.k.a lit translit transl trans"
)
"""Words whose full stop does not end a sentence."""

NUMBERED = ABBREVIATIONS | word_set(
    "no nos vol vols pp p fig figs eq sec ch est jan feb mar apr jun jul aug sep sept oct nov dec"
)
"""Words whose full stop does not end a sentence before a number."""

DEMONYMS = word_set(
    "african albanian algerian american arab arabic argentine argentinian armenian asian australian austrian "
    "bangladeshi belgian bengali bolivian bosnian brazilian british bulgarian burmese cambodian canadian catalan "
    "chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian ethiopian european "
    "filipino finnish flemish french georgian german germanic ghanaian greek hebrew hindi hindu hungarian "
    "icelandic indian indonesian iranian iraqi irish islamic israeli italian jamaican japanese jewish kannada "
    "kenyan korean latin latvian lebanese lithuanian malay malayalam malaysian marathi mexican mongolian moroccan "
    "muslim nepali nigerian norman norwegian ottoman pakistani persian peruvian philippine polish portuguese "
    "prussian punjabi roman romanian russian sanskrit scandinavian scottish serbian slovak slovene slovenian "
    "soviet spanish swedish swiss syrian taiwanese tamil telugu thai tibetan tunisian turkish ukrainian urdu "
    "uruguayan venezuelan vietnamese welsh yugoslav christian catholic protestant buddhist"
)
"""Capitalised adjectives that alone are not names."""

NO_ACRONYMS = word_set(
    "utc gmt cet est pst edt pdt am pm bc ad bce ce ok tv vs id ms kb mb gb tb usd eur gbp rmb cny jpy pdf csv "
    "todo fixme faq n/a tbd tba ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx no yes ny la "
    "inc ltd afaict afaik asap btw fwiw fyi iirc imho imo iow lgtm otoh phd wip wrt"
)
"""Words in capitals that are not names: units, time zones, Roman numerals, phrases of letters."""

LABELS = word_set(
    "overview introduction summary background context problem solution decision decisions consequences "
    "alternatives conclusion conclusions notes note references bibliography appendix contents history usage "
    "install installation requirements example examples steps limits numbers scope status license licence "
    "changelog contributing faq goals results method methods discussion abstract motivation purpose details "
    "description parameters returns raises timeline links ownership configuration setup todo date severity owner "
    "related started issues cause causes questions work reading codes fix fixes impact actions follow-ups "
    "follow-up terms edges cost costs tests root options outcome trade-offs trial error errors on-call also "
    "prerequisites prerequisite objectives assumptions constraints implications considerations pros cons positives "
    "negatives rationale caveats limitations troubleshooting next see tl;dr template title heading subheading "
    "proposed accepted rejected deprecated superseded draft pending approved placeholder 背景 决定 结果 "
    "步骤 影响 代价 后续 概述 总结 简介 说明 目录 参考 附录 联系 时间线 根本原因 备选方案 处理步骤 收尾 下一步 上一步"
)
"""Headings and labels that occur in many documents."""

PARAMETERS = word_set(
    "action args argument arguments array body buffer bytes callback class code content context count data default "
    "description dest destination dict directory element end entry error event file filename flag flags format func "
    "function handle handler header headers host id index input item items key kind label length level limit line list "
    "main message method mode module name node number object offset option options output package parameter path "
    "pattern port prefix process property request resource response result root size source start state status stream "
    "string suffix table target template test text time title token type url user value values version"
)
"""Common parameter names in code; in lower case they are not entities."""

CODE_WORDS = word_set(
    "true false null nil none undefined nan inf infinity void self this super async await yield return break continue "
    "if elif else switch case default for foreach while do try catch except finally throw throws raise import export "
    "from include require module package namespace using use class struct enum interface trait impl extends "
    "implements abstract final static public private protected internal const let var val def func function fn lambda "
    "new delete typeof instanceof is in not and or xor with as pass global nonlocal int integer float double string "
    "str bool boolean char byte bytes long short unsigned array list dict map set tuple object any never unknown "
    "number symbol bigint select insert update where join group order by get put post patch head options ok yes no "
    "on off arg args argv kwargs cls foo bar baz qux lorem ipsum todo fixme tbd xxx"
)
"""Keywords, literals and built-in types of programming languages, and names of examples; no entities."""

RELATIVES = word_set(
    "son sons daughter daughters wife husband mother father brother sister child mistress consort grandson "
    "granddaughter great-grandson nephew niece cousin uncle aunt widow"
)

ZH_STOPS = frozenset("的了是在把被这那它他她我你们就也都不没请将吗呢吧么若每各何谁只很更最再又还才却已因所而但")
"""Characters that do not occur in names; a run with one of them is a clause."""

ZH_FUNCTION_WORDS = tuple(
    """
    如果 假如 即使 虽然 尽管 因为 由于 所以 因此 但是 不过 而且 并且 或者 以及 无论 只要 只有
    除了 除非 可以 可能 能够 应该 需要 必须 想要 希望 建议 通过 使用 利用 基于 根据 按照 关于
    对于 作为 为了 随着 同时 然后 接着 最后 首先 其次 例如 比如 以下 以上 下面 上面 下列 上述
    前面 后面 其中 其他 其它 某个 某些 任何 所有 每个 每当 多个 几个 许多 大多数 一个 一些 这个
    那个 这些 那些 此外 另外 目前 现在 通常 一般 直接 已经 正在 仍然 开始 创建 添加 删除 修改
    支持 允许 称为 叫做 指定 给定 从一 与 本节 本章
    """.split()
)
"""Chinese conjunctions, modal verbs, prepositions and pronouns; a run that begins with one is a clause."""

ZH_GENERIC_ENDINGS = tuple(
    """
    时候 时间 地方 问题 情况 方面 原因 结果 作用 内容 方法 方式 过程 部分 人员 工作 活动 事情
    东西 意义 关系 特点 人们 名称 名字 数量 大量 主要 目前 当时 同时 其中 之间 以上 以下 章节
    小节 知识 事项 场景 顺序 用法 思想 成员 步骤 细节 效果 形式 示例 例子 课程 教程 指南 介绍
    总览 功能 能力 表现 效率 速度 开销 损失 差异 区别 优势 缺点 限制 需求 行为 状态 选项 规则
    建议 实践 技巧 经验 目标 目的 性能 命令 配置 格式 级别 数据 列表 类型 文档 链接 图片 封面图 讨论区 论坛
    """.split()
)
"""General Chinese nouns; a term that ends with one is no name."""
