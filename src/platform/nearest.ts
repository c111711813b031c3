import { closest, distance } from 'fastest-levenshtein';

/** Comparing takes as long as one word has characters for each of the other's; longer ones are no words. */
const longestWord = 100;

/** " Did you mean …?" for a word that is not in a closed list; empty when nothing in the list is near. */
export function nearest(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

/**
 * The word of a list that another was probably meant to be, whatever its capitals.
 *
 * @param most characters that may be wrong in a word of so many
 */
export function nearestWord(
  word: string,
  known: readonly string[],
  most = (length: number): number => Math.ceil(length / 3),
): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  const short = known.filter(({ length }) => length <= longestWord);
  const byLowerCase = new Map(short.map((candidate) => [candidate.toLowerCase(), candidate]));
  const candidate = closest(wanted, [...byLowerCase.keys()]) ?? '';
  const near = distance(wanted, candidate) <= most(Math.max(wanted.length, candidate.length));
  return near ? byLowerCase.get(candidate) : undefined;
}

/** So many names of a list are shown. */
const mostNames = 20;

/** "name, mobile, state", of a long list the first names and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names
    .slice(0, mostNames)
    .map((name) => (name.length > longestWord ? `${name.slice(0, longestWord)}…` : name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more.toLocaleString('en')} more` : shown.join(', ');
}

/** Of lists of hundreds of names, in which something is always near: one wrong character of five. */
export const nearly = (length: number): number => Math.round(length / 5);

/** "email, sms or fax". */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
