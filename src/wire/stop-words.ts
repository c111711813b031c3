/** Bounds the work on long texts. */
const maxCharacters = 200;

/**
 * Whether a message is a stop word and nothing else. Ignores case, surrounding white space and final
 * punctuation.
 */
export function isStopWord(text: string, words: readonly string[]): boolean {
  const message = normalise(text);
  return message !== '' && words.some((word) => normalise(word) === message);
}

function normalise(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > maxCharacters) return '';
  return trimmed
    .replace(/(?<![\p{P}\s])[\p{P}\s]+$/u, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
