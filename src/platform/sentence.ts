/** With a capital at its start and a mark at its end. */
export function asSentence(words: string): string {
  const text = words.replace(/^./, (first) => first.toUpperCase());
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
