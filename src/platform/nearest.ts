import { closest, distance } from 'fastest-levenshtein';

/** " Did you mean …?" for a word that is not in a closed list; empty when nothing in the list is near. */
export function nearest(word: string, known: readonly string[]): string {
  const wanted = word.toLowerCase();
  const byLowerCase = new Map(known.map((candidate) => [candidate.toLowerCase(), candidate]));
  const candidate = closest(wanted, [...byLowerCase.keys()]) ?? '';
  const near = distance(wanted, candidate) <= Math.ceil(Math.max(wanted.length, candidate.length) / 3);
  return near && byLowerCase.has(candidate) ? ` Did you mean "${byLowerCase.get(candidate)}"?` : '';
}

/** "email, sms or fax". */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
