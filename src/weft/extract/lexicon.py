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
    "inc ltd"
)
"""Words in capitals that are not names: units, time zones, Roman numerals."""

LABELS = word_set(
    "overview introduction summary background context problem solution decision decisions consequences "
    "alternatives conclusion conclusions notes note references bibliography appendix contents history usage "
    "install installation requirements example examples steps limits numbers scope status license licence "
    "changelog contributing faq goals results method methods discussion abstract motivation purpose details "
    "description parameters returns raises timeline links ownership configuration setup todo date severity owner "
    "related started issues cause causes questions work reading codes fix fixes impact actions follow-ups "
    "follow-up terms edges cost costs tests root options outcome trade-offs trial error errors on-call 背景 决定 结果 "
    "步骤 影响 代价 后续 概述 总结 简介 说明 目录 参考 附录 联系 时间线 根本原因 备选方案 处理步骤 收尾"
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

RELATIVES = word_set(
    "son sons daughter daughters wife husband mother father brother sister child mistress consort grandson "
    "granddaughter great-grandson nephew niece cousin uncle aunt widow"
)

ZH_STOPS = frozenset("的了是在把被这那它他她我你们就也都不没请将吗呢吧么若每各何谁只很更最再又还才却已因所而但")
"""Characters that do not occur in names; a run with one of them is a clause."""
