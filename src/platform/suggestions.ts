import { closest, distance } from 'fastest-levenshtein';

/** Comparing takes time proportional to the product of both lengths. */
const maxWordLength = 100;

/** " Did you mean …?", or nothing if no word is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = closestWord(word, known);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

/**
 * Returns the most similar word, ignoring case.
 *
 * @param maxErrors characters that may differ, by length
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

const maxNames = 20;

/** "name, mobile, state"; shortens a long list and counts the rest. */
export function listNames(names: readonly string[]): string {
  const shown = names
    .slice(0, maxNames)
    .map((name) => (name.length > maxWordLength ? `${name.slice(0, maxWordLength)}…` : name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more.toLocaleString('en')} more` : shown.join(', ');
}

/** Fits lists of hundreds of names, in which some name is always similar. */
export const oneErrorInFive = (length: number): number => Math.round(length / 5);

/** "email, sms or fax". */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
