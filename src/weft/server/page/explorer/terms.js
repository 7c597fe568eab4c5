/* Names of communities: the words that are typical of the names of their members. */

const MAX_TERMS = 3;
/** A typical word occurs in this many names of the community. */
const MIN_NAMES = 2;
const STOP = new Set("about and are as by can for from how in into is it its no of off on or the this to use using via what when with your".split(" "));
const segmenter = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

/** Return a name for each group of names: the words frequent in it and rare in the others, or else its first names. */
export function nameGroups(groups) {
  const total = new Map();
  const counted = groups.map((names) => {
    const counts = new Map();
    for (const name of names) {
      for (const [key, word] of wordsOf(name)) {
        const found = counts.get(key) ?? counts.set(key, { word, count: 0 }).get(key);
        found.count += 1;
        total.set(key, (total.get(key) ?? 0) + 1);
      }
    }
    return counts;
  });
  return counted.map((counts, n) => {
    const rated = [...counts]
      .filter(([, { count }]) => count >= MIN_NAMES)
      .map(([key, { word, count }]) => ({ word, rate: (count * count) / total.get(key) }))
      .sort((a, b) => b.rate - a.rate || (a.word < b.word ? -1 : 1));
    const terms = rated.slice(0, MAX_TERMS).map(({ word }) => word);
    return (terms.length > 1 ? terms : groups[n].slice(0, 2)).join(", ");
  });
}

/** Return the words of a name by a key that ignores case and the plural. */
function wordsOf(name) {
  // A word may contain a dot, but the parts of a qualified name are words.
  const text = name.replace(/[._:/]/g, " ");
  const parts = segmenter
    ? [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment)
    : text.split(/[\s\p{P}]+/u);
  const kept = parts.filter((word) => word.length > (/[\u2e80-\uffef]/.test(word) ? 1 : 2) && !/^\d/.test(word));
  const keyed = kept.map((word) => [word.toLowerCase().replace(/(?<=\w\w\w)s$/, ""), word]);
  return new Map(keyed.filter(([key]) => !STOP.has(key)));
}
