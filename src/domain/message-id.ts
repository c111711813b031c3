/** Characters of a MessageID (interface.md, 2.1 and 8). */
export const maxMessageIdLength = 40;

/** Whether a text can be a MessageID, of ours or of another sender: letters and digits. */
export function canBeMessageId(text: string): boolean {
  return text.length <= maxMessageIdLength && /^[0-9A-Za-z]+$/.test(text);
}
