import { closest, distance } from 'fastest-levenshtein';

/** Comparing takes as long as one word has characters for each of the other's; longer ones are no words. */
const maxWordLength = 100;

/** " Did you mean …?" for a word that is not in a closed list; empty when nothing in the list is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = closestWord(word, known);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

/**
 * The word of a list that another was probably meant to be, whatever its capitals.
 *
 * @param maxErrors characters that may be wrong in a word of so many
 */
export function closestWord(
  word: string,
  known: readonly string[],
  maxErrors = (length: number): number => Math.ceil(length / 3),
): string | undefined {
  if (word.length > maxWordLength) return undefined;
  const wanted = word.toLowerCase();
  const short = known.filter(({ length }) => length <= maxWordLength);
  const byLowerCase = new Map(short.map((candidate) => [candidate.toLowerCase(), candidate]));
  const candidate = closest(wanted, [...byLowerCase.keys()]) ?? '';
  const near = distance(wanted, candidate) <= maxErrors(Math.max(wanted.length, candidate.length));
  return near ? byLowerCase.get(candidate) : undefined;
}

/** So many names of a list are shown. */
const maxNames = 20;

/** "name, mobile, state", of a long list the first names and how many more there are. */
export function listNames(names: readonly string[]): string {
  const shown = names
    .slice(0, maxNames)
    .map((name) => (name.length > maxWordLength ? `${name.slice(0, maxWordLength)}…` : name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more.toLocaleString('en')} more` : shown.join(', ');
}

/** Of lists of hundreds of names, in which something is always near: one wrong character of five. */
export const oneErrorInFive = (length: number): number => Math.round(length / 5);

/** "email, sms or fax". */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
