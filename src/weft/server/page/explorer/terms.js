/* Names of communities: the words and phrases that are typical of the names of their members, as written there. */

const MAX_TERMS = 3;
const MAX_NAME_CHARACTERS = 36;
/** Words of a phrase. */
const MAX_WORDS = 3;
/** A typical word occurs in this many names of the community, and in this share of them. */
const MIN_NAMES = 2;
const MIN_SHARE = 0.08;
const STOP = new Set("about and are as by can for from how in into is it its no of off on or the this to use using via what when with your".split(" "));
/** A number of a record, such as `INC-2083`. Its letters are no word either. */
const NUMBERED = /(^|-)\d/;
const CJK = /[\u2e80-\uffef]/;
const segmenter = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

/**
 * Return a name for each group of names: the words frequent in it and rare in the others, or else its first names.
 *
 * | names | name |
 * | --- | --- |
 * | `Rate Limiter`, `INC-2083 Blocked by the limiter` | `Rate Limiter`, a phrase around the word |
 * | `gen-itgc`, `Re-run gen-itgc` | `gen-itgc`, not `itgc`, which never stands alone |
 * | `Hub`, `dep-0766`, `dep-0803` | first names: the letters of a number are no word |
 */
export function nameGroups(groups) {
  const counted = groups.map(countPhrases);
  const total = new Map();
  for (const phrases of counted) for (const [key, { count }] of phrases) total.set(key, (total.get(key) ?? 0) + count);
  return groups.map((names, n) => {
    const phrases = counted[n];
    const rated = [...phrases]
      .filter(([key, { count }]) => !key.includes(" ") && count >= Math.max(MIN_NAMES, MIN_SHARE * names.length))
      .map(([key, { count }]) => ({ key, rate: (count * count) / total.get(key) }))
      .sort((a, b) => b.rate - a.rate || (a.key < b.key ? -1 : 1));
    const terms = [];
    for (const { key } of rated) {
      const { text, words } = phraseAround(key, phrases) ?? {};
      if (text && !terms.some((term) => term.words.some((word) => words.includes(word)))) terms.push({ text, words });
    }
    const known = new Set(terms.flatMap((term) => term.words));
    const others = names.filter((name) => !readWords(name).some(({ key }) => known.has(key)));
    const first = [...others.filter((name) => !NUMBERED.test(name)), ...others].slice(0, Math.max(0, 2 - terms.length));
    return join([...terms.map(({ text }) => text), ...first]);
  });
}

/** Return the first terms that make a short name. */
function join(terms) {
  const isShort = (n) => terms.slice(0, n).join(", ").length <= MAX_NAME_CHARACTERS;
  const size = [MAX_TERMS, 2].find((n) => isShort(n)) ?? 1;
  return terms.slice(0, size).join(", ");
}

/** Return the phrases of a group by their words: in how many names they occur, and how they are written most often. */
function countPhrases(names) {
  const found = new Map();
  for (const name of names) {
    for (const [key, { text, words, isName, isWhole }] of new Map(readPhrases(name).map((each) => [each.key, each]))) {
      const phrase = found.get(key) ?? found.set(key, { words, count: 0, first: name, texts: new Map() }).get(key);
      phrase.count += 1;
      phrase.name ??= isName ? name : undefined;
      if (isWhole) phrase.texts.set(text, (phrase.texts.get(text) ?? 0) + 1);
    }
  }
  return found;
}

/** Return the phrase around a word that half of its names have, else the word; undefined for a part of words. */
function phraseAround(word, phrases) {
  const { count, first, name, texts } = phrases.get(word);
  if (name) return { text: name, words: [word] };
  const around = [...phrases.values()]
    .filter((phrase) => phrase.words.length > 1 && phrase.words.includes(word) && phrase.texts.size)
    // A phrase of one name is general only if that short name is the most important one with the word.
    .filter((phrase) => phrase.count * 2 >= count)
    .filter((phrase) => phrase.count > 1 || (phrase.name === first && phrase.words.length < 3))
    .sort((a, b) => b.count - a.count || b.words.length - a.words.length);
  if (around.length) return { text: around[0].name ?? mostFrequent(around[0].texts), words: around[0].words };
  return texts.size ? { text: mostFrequent(texts), words: [word] } : undefined;
}

const mostFrequent = (texts) => [...texts].sort((a, b) => b[1] - a[1])[0][0];

/** Return the phrases of at most three words in a name, by a key that ignores case and the plural. */
function readPhrases(name) {
  const words = readWords(name);
  const phrases = [];
  for (let from = 0; from < words.length; from += 1) {
    for (let to = from; to < Math.min(words.length, from + MAX_WORDS); to += 1) {
      if (to > from && !isAdjacent(name, words[to - 1], words[to])) break;
      const text = name.slice(words[from].start, words[to].end);
      const keys = words.slice(from, to + 1).map((word) => word.key);
      const isWhole = name[words[from].start - 1] !== "-" && name[words[to].end] !== "-";
      phrases.push({ key: keys.join(" "), words: keys, text, isWhole, isName: text === name });
    }
  }
  return phrases;
}

/** Return true if only space, a hyphen or `of` is between two words, and nothing between two Chinese ones. */
const isAdjacent = (name, { end, key }, next) =>
  end < next.start ? /^[\s-]+(of )?$/.test(name.slice(end, next.start)) : CJK.test(key) && CJK.test(next.key);

/** Return the words of a name with their places, without stop words, short words and numbers of records. */
function readWords(name) {
  const found = [];
  for (const { 0: compound, index } of name.matchAll(/[^\s._:/()[\]"'`,;]+/g)) {
    if (NUMBERED.test(compound)) continue;
    for (const { 0: part, index: at } of compound.matchAll(/[^-\u2e80-\uffef]+|[\u2e80-\uffef]+/g)) {
      const pieces = CJK.test(part) && segmenter ? [...segmenter.segment(part)] : [{ segment: part, index: 0 }];
      for (const { segment, index: inside } of pieces) {
        const start = index + at + inside;
        const key = segment.toLowerCase().replace(/(?<=\w\w\w)s$/, "");
        if (segment.length > (CJK.test(segment) ? 1 : 2) && !STOP.has(key))
          found.push({ key, start, end: start + segment.length });
      }
    }
  }
  return found;
}
