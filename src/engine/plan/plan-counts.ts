import type { CostTotal } from '../../campaign/cost.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Envelope } from '../../domain/message.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import { createEnvelopeCounts } from './envelope-counts.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';
import { createPayerTotals, type PayerTotal } from './payer-totals.ts';

export type CountedContact = {
  readonly envelope: Envelope;
  readonly address: string;
  /** Normalised for comparison. */
  readonly compared: string;
  /** Time zones separated by commas; only in a campaign with a window. */
  readonly zones?: string;
  /** Counted over all files. */
  readonly line: number;
};

export type PlanCounts = {
  /** @param parts SMS parts; null in other channels */
  readonly add: (contact: CountedContact, parts: number | null) => void;
  /** One that is sent in several windows counts several times. */
  readonly envelopes: () => number;
  readonly recipients: () => number;
  readonly requests: (chunkSize: number) => number;
  /** In the order in which their zones first occurred. */
  readonly windowTotals: (chunkSize: number) => readonly WindowTotals[];
  readonly totals: () => readonly CostTotal[];
  readonly bytes: () => number;
};

type KnownEnvelope = { readonly index: number; readonly payerTotal: PayerTotal };

type WindowCount = {
  readonly index: number;
  readonly zones: readonly string[];
  readonly envelopeOf: (envelope: Envelope) => KnownEnvelope;
  /** The recipients of the last requests, the last first. */
  last: readonly LastRecipient[];
};

/** `index` of its envelope. */
type LastRecipient = WindowTotals['lastRecipients'][number] & { readonly index: number };

const maxLastRecipients = 3;

/**
 * Counts recipients, requests and costs.
 *
 * @param separates whether equal addresses go into different requests
 */
export function createPlanCounts(tariffs: Pick<Tariffs, 'tariffIndexOf'>, separates: boolean): PlanCounts {
  const counts = createEnvelopeCounts();
  const payers = createPayerTotals(tariffs);
  const windows = new Map<string | undefined, WindowCount>();

  const windowOf = (zones: string | undefined): WindowCount => {
    const found = windows.get(zones);
    if (found) return found;
    const index = windows.size;
    const envelopeOf = memoizeByEnvelope((envelope) => ({
      index: counts.register(envelope, zones, index),
      payerTotal: payers.totalOf(envelope),
    }));
    const window = { index, zones: zones === undefined ? [] : zones.split(','), envelopeOf, last: [] };
    windows.set(zones, window);
    return window;
  };
  const sumByWindow = (chunkSize: number) => counts.sumByWindow(windows.size, chunkSize);
  return {
    add: ({ envelope, zones, address, compared, line }, parts) => {
      const window = windowOf(zones);
      const { index: first, payerTotal } = window.envelopeOf(envelope);
      const index = separates ? counts.separate(first, compared, window.index) : first;
      counts.addRecipient(index);
      window.last = withLast(window.last, { index, line, address });
      payers.add(payerTotal, envelope, address, parts);
    },
    envelopes: counts.envelopes,
    recipients: () => sumByWindow(1).reduce((sum, { recipients }) => sum + recipients, 0),
    requests: (chunkSize) => sumByWindow(chunkSize).reduce((sum, { requests }) => sum + requests, 0),
    windowTotals: (chunkSize) => {
      const sums = sumByWindow(chunkSize);
      return [...windows.values()].map(({ index, zones, last }) => ({
        zones,
        ...(sums[index] ?? { recipients: 0, requests: 0 }),
        lastRecipients: last.map(({ address, line }) => ({ address, line })),
      }));
    },
    totals: payers.list,
    bytes: counts.bytes,
  };
}

/** Lines arrive in ascending order, so most recipients of earlier envelopes change nothing. */
function withLast(last: readonly LastRecipient[], added: LastRecipient): readonly LastRecipient[] {
  const lowest = last[maxLastRecipients - 1];
  if (lowest !== undefined && lowest.index > added.index) return last;
  return [added, ...last]
    .sort((one, other) => other.index - one.index || other.line - one.line)
    .slice(0, maxLastRecipients);
}
