import { SegmentedMessage } from 'sms-segments-calculator';

/** How many parts a text is sent and billed in: 160/153 characters in GSM-7, 70/67 in UCS-2. */
export function countSmsParts(text: string): number {
  return new SegmentedMessage(text).segmentsCount;
}
