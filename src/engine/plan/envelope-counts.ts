import type { Envelope } from '../../domain/message.ts';
import { createFingerprintMap } from '../../platform/fingerprints.ts';
import { createNumberList } from '../../platform/number-list.ts';

export type EnvelopeCounts = {
  /** @returns the envelope's index, in order of first occurrence */
  readonly register: (envelope: Envelope, zones: string | undefined, windowIndex: number) => number;
  /** @returns another index for a repeated address */
  readonly separate: (index: number, compared: string, windowIndex: number) => number;
  readonly addRecipient: (index: number) => void;
  readonly envelopes: () => number;
  readonly sumByWindow: (windows: number, chunkSize: number) => WindowSums[];
  readonly bytes: () => number;
};

type WindowSums = { recipients: number; requests: number };

/** Each envelope costs only a few numbers, because there may be millions. */
export function createEnvelopeCounts(): EnvelopeCounts {
  const indexes = createFingerprintMap();
  /** By envelope index. */
  const recipientCounts = createNumberList();
  const windowIndexes = createNumberList();
  /** How often an address has occurred in an envelope. */
  const occurrences = createFingerprintMap();
  /** Envelopes of the second occurrence, the third, …, by the index of the first. */
  const copies = new Map<number, number[]>();

  const addEnvelope = (windowIndex: number): number => {
    windowIndexes.push(windowIndex);
    return recipientCounts.push(0);
  };
  return {
    register(envelope, zones, windowIndex) {
      const next = recipientCounts.length();
      const found = indexes.add(`${zones ?? ''} ${JSON.stringify(envelope)}`, next + 1, 0);
      return found ? found[0] - 1 : addEnvelope(windowIndex);
    },
    separate(index, compared, windowIndex) {
      const earlier = occurrences.increment(`${index} ${compared}`);
      if (earlier === 0) return index;
      const known = copies.get(index) ?? [];
      const copy = known[earlier - 1] ?? addEnvelope(windowIndex);
      known[earlier - 1] = copy;
      copies.set(index, known);
      return copy;
    },
    addRecipient: (index) => recipientCounts.set(index, recipientCounts.at(index) + 1),
    envelopes: recipientCounts.length,
    sumByWindow(windows, chunkSize) {
      const sums = Array.from({ length: windows }, (): WindowSums => ({ recipients: 0, requests: 0 }));
      for (let index = 0; index < recipientCounts.length(); index++) {
        const sum = sums[windowIndexes.at(index)];
        const recipients = recipientCounts.at(index);
        if (!sum) continue;
        sum.recipients += recipients;
        sum.requests += Math.ceil(recipients / chunkSize);
      }
      return sums;
    },
    bytes: () => indexes.bytes() + occurrences.bytes() + 8 * recipientCounts.length(),
  };
}
