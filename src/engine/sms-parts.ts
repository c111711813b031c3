import { count, GSM_7BIT_EXT_REGEXP, GSM_7BIT_REGEXP } from 'sms-length';
import { SegmentedMessage } from 'sms-segments-calculator';

/** Characters that are one part in whatever alphabet. */
const shortest = 70;

/**
 * How many parts a text is sent and billed in: 160/153 characters in GSM-7, 70/67 in UCS-2.
 *
 * The exact library takes a tenth of a millisecond a text, too much for a million of them, so it is only asked where
 * the quick one cannot know: a character of two places must not be cut in two by the end of a part, and which
 * characters `CharacterConversion` (interface.md, 2.5) makes one of GSM-7.
 */
export function countSmsParts(text: string, characterConversion = false): number {
  if (text.length <= shortest) return 1;
  const isGsm = GSM_7BIT_EXT_REGEXP.test(text);
  if (!isGsm && characterConversion) return new SegmentedMessage(text, 'auto', true).segmentsCount;
  const { messages } = count(text);
  const hasWideCharacter = isGsm ? !GSM_7BIT_REGEXP.test(text) : /[\ud800-\udfff]/.test(text);
  return messages > 1 && hasWideCharacter ? new SegmentedMessage(text).segmentsCount : Math.max(1, messages);
}
