/** In characters (interface.md, 2.1 and 8). */
export const maxMessageIdLength = 40;

/** Whether the text has the form of a MessageID, from any sender. */
export function canBeMessageId(text: string): boolean {
  return text.length <= maxMessageIdLength && /^[0-9A-Za-z]+$/.test(text);
}
