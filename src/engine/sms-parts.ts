import { SegmentedMessage } from 'sms-segments-calculator';
import { type Destination, destinationFields } from '../domain.ts';

/** An SMS text with the destination's fields merged in, as the service does it (interface.md, 2.5). */
export function mergedText(text: string, destination: Destination): string {
  let merged = text;
  for (const field of destinationFields)
    merged = merged.replaceAll(`[[${field}]]`, () => destination[field] ?? '');
  return merged;
}

/** How many parts a text is sent and billed in: 160/153 characters in GSM-7, 70/67 in UCS-2. */
export function countSmsParts(text: string): number {
  return new SegmentedMessage(text).segmentsCount;
}
