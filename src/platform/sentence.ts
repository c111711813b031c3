/** Puts a capital at the start and a mark at the end. */
export function asSentence(words: string): string {
  const text = words.replace(/^./, (first) => first.toUpperCase());
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** "1 run", "2 runs". */
export function count(number: number, word: string): string {
  return `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`;
}
