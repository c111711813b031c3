/** Longer than any stop word with what may stand around it; bounds the work on a text of any size. */
const maxCharacters = 200;

/**
 * Whether a message that came in says "no more", and nothing else: the whole message, in any case, without the white space
 * around it and the punctuation at its end; white space within counts as one blank.
 */
export function isStopWord(text: string, words: readonly string[]): boolean {
  const message = normalise(text);
  return message !== '' && words.some((word) => normalise(word) === message);
}

function normalise(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > maxCharacters) return '';
  return trimmed
    .replace(/[\p{P}\s]+$/u, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
